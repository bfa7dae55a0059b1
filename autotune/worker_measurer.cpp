#include "autotune/worker_measurer.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "core/dtype.h"

namespace einkern::autotune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int reference_number = -1, flush_number = -2;  // candidates count from 0
constexpr double start_seconds = 60;                     // opening a device, on a machine that is busy
constexpr double least_patience = 1;                     // with a kernel, in seconds
constexpr double patience_factor = 50;                   // times what the model or an earlier run says
constexpr double slowest_bytes_a_second = 50e6;          // of filling, moving and comparing tensors
constexpr int most_spilled_bytes = 1024;  // of a thread; such a kernel is not worth its measuring

double problem_bytes(const Problem& problem) {
  double bytes = 0;
  for (const ProblemTensor& tensor : problem.tensors) {
    double elements = 1;
    for (const std::int64_t extent : tensor.shape) elements *= static_cast<double>(extent);
    bytes += elements * core::size_bytes(tensor.dtype);
  }
  return bytes;
}

std::string spilling(const core::Artifact& artifact) {
  for (const auto& [name, used] : artifact.entries)
    if (used.spill_store_bytes + used.spill_load_bytes > most_spilled_bytes)
      return fmt::format("compile: spills {} bytes of registers a thread",
                         used.spill_store_bytes + used.spill_load_bytes);
  return "";
}

core::Error worker_error(const std::string& failure) {
  return {core::ErrorKind::device, fmt::format("the tuner's worker cannot measure: {}", failure)};
}

}  // namespace

WorkerMeasurer::WorkerMeasurer(WorkerSetting setting, std::vector<MeasuredKernel> kernels,
                               std::string program)
    : setting_(std::move(setting)),
      kernels_(std::move(kernels)),
      seen_seconds_(kernels_.size(), 0),
      program_(std::move(program)),
      transfer_seconds_(least_patience + problem_bytes(setting_.problem) / slowest_bytes_a_second) {}

core::Result<std::unique_ptr<WorkerMeasurer>> WorkerMeasurer::start(WorkerSetting setting,
                                                                    std::vector<MeasuredKernel> kernels) {
  EINKERN_TRY(std::string program, runtime::find_program("einkern-worker", "EINKERN_WORKER"));
  std::unique_ptr<WorkerMeasurer> measurer(
      new WorkerMeasurer(std::move(setting), std::move(kernels), std::move(program)));
  EINKERN_CHECK_OK(measurer->start_worker());
  return measurer;
}

core::Result<void> WorkerMeasurer::start_worker() {
  EINKERN_TRY(worker_, runtime::ChildProcess::start(program_, {}));
  loaded_.clear();
  const auto load_request = [](int number, const runtime::CompiledKernel& kernel) {
    return Load{number, kernel.launch, kernel.artifact};
  };
  struct Asked {
    Request request;
    double seconds;
  };
  std::vector<Asked> steps = {{OpenDevice{setting_.device, build_identity()}, start_seconds}};
  if (setting_.checks) steps.push_back({UseChecks{setting_.checks->artifact}, start_seconds});
  steps.push_back({SetProblem{setting_.problem}, start_seconds + transfer_seconds_});
  if (setting_.flush) {
    steps.push_back({load_request(flush_number, *setting_.flush), start_seconds});
    steps.push_back({UseFlush{flush_number}, start_seconds});
  }
  steps.push_back({load_request(reference_number, *setting_.reference), start_seconds});
  steps.push_back({RunReference{reference_number}, setting_.reference_seconds + transfer_seconds_});
  for (const Asked& step : steps) {
    const Reply reply = ask(step.request, step.seconds);
    if (reply.failure.empty()) continue;
    worker_.reset();
    const bool reference = std::holds_alternative<RunReference>(step.request);
    return worker_error(reference ? "the reference kernel failed: " + reply.failure : reply.failure);
  }
  return {};
}

core::Result<void> WorkerMeasurer::ensure_worker() {
  if (worker_) return {};
  ++restarts_;
  return start_worker();
}

Reply WorkerMeasurer::lose_worker(std::string failure) {
  worker_.reset();
  return {.failure = std::move(failure), .broken = true};
}

Reply WorkerMeasurer::wait_for_reply(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::min(seconds, 1e6)));
  // Waiting goes in small steps, so that an interruption is heard.
  for (;;) {
    if (setting_.interrupted && setting_.interrupted()) return lose_worker("interrupted");
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left <= 0) return lose_worker(fmt::format("hang: no answer in {:.1f} s", seconds));
    pollfd readable = {worker_->channel().descriptor(), POLLIN, 0};
    const int ready = ::poll(&readable, 1, std::clamp(static_cast<int>(left * 1000) + 1, 1, 100));
    if (ready > 0 || (ready < 0 && errno != EINTR)) break;
  }
  const auto received = worker_->channel().receive(std::chrono::seconds(10));
  if (received.state != runtime::MessageChannel::State::message) {
    const auto status = worker_->wait(std::chrono::seconds(10));
    return lose_worker(
        fmt::format("fault: the worker ended with {}", status ? status->text() : std::string("no answer")));
  }
  auto reply = decode_reply(received.message);
  if (!reply) return lose_worker("fault: " + reply.error().message);
  if (reply->broken) worker_.reset();
  return std::move(*reply);
}

Reply WorkerMeasurer::ask(const Request& request, double seconds) {
  if (!worker_->channel().send(encode(request))) {
    const auto status = worker_->wait(std::chrono::seconds(10));
    return lose_worker(
        fmt::format("fault: the worker ended with {}", status ? status->text() : std::string("no answer")));
  }
  return wait_for_reply(seconds);
}

double WorkerMeasurer::patience(int candidate) const {
  const auto i = static_cast<std::size_t>(candidate);
  return std::max(least_patience, patience_factor * std::max(kernels_[i].estimate_seconds, seen_seconds_[i]));
}

std::string WorkerMeasurer::load(int candidate) {
  if (const auto ready = ensure_worker(); !ready) return "fault: " + ready.error().message;
  if (loaded_.contains(candidate)) return "";
  const runtime::BuiltKernel& built = kernels_[static_cast<std::size_t>(candidate)].built.get();
  const Reply reply = ask(Load{candidate, (*built)->launch, (*built)->artifact}, start_seconds);
  if (reply.failure.empty()) loaded_.insert(candidate);
  return reply.failure;
}

Reply WorkerMeasurer::check(int candidate, int runs) {
  if (std::string failure = load(candidate); !failure.empty()) return {.failure = std::move(failure)};
  return ask(Check{candidate, runs}, runs * (patience(candidate) + transfer_seconds_));
}

Admission WorkerMeasurer::admit(int candidate) {
  const auto& built_future = kernels_[static_cast<std::size_t>(candidate)].built;
  while (built_future.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
    if (setting_.interrupted && setting_.interrupted()) return {.outcome = "interrupted"};
  const runtime::BuiltKernel& built = built_future.get();
  if (!built && runtime::was_cancelled(built.error())) return {.untried = true};
  if (!built) return {.outcome = "compile: " + built.error().message};
  if (std::string spills = spilling((*built)->artifact); !spills.empty()) return {.outcome = spills};
  if (!codes_.insert((*built)->artifact.code + (*built)->launch.to_json()).second)
    return {.outcome = "compile: the same code as another candidate"};
  const Reply reply = check(candidate, 1);
  seen_seconds_[static_cast<std::size_t>(candidate)] = reply.seconds;
  return {.outcome = reply.failure, .seconds = reply.seconds, .error = reply.error};
}

Timing WorkerMeasurer::time_alone(int candidate, int rounds) {
  if (std::string failure = load(candidate); !failure.empty()) return {.outcome = std::move(failure)};
  // Rounds, warm-up, and the repetitions of short kernels, which are bounded in time.
  const double seconds = (rounds + 3) * patience(candidate) + transfer_seconds_;
  Reply reply = ask(Time{{candidate}, rounds, setting_.seed + timings_++}, seconds);
  if (reply.failure.empty() && reply.samples.size() == 1) return {.samples = std::move(reply.samples[0])};
  return {.outcome = reply.failure.empty() ? "fault: a malformed answer" : reply.failure};
}

std::vector<Timing> WorkerMeasurer::time(const std::vector<int>& candidates, int rounds) {
  std::vector<Timing> timings(candidates.size());
  double seconds = transfer_seconds_;
  bool all_loaded = candidates.size() > 1;
  for (const int candidate : candidates) {
    seconds += (rounds + 3) * patience(candidate);
    all_loaded = all_loaded && load(candidate).empty();
  }
  if (all_loaded) {
    Reply reply = ask(Time{candidates, rounds, setting_.seed + timings_++}, seconds);
    if (reply.failure == "interrupted") return timings;
    if (reply.failure.empty() && reply.samples.size() == candidates.size()) {
      for (std::size_t i = 0; i < candidates.size(); ++i) timings[i].samples = std::move(reply.samples[i]);
      return timings;
    }
  }
  // One of them spoils it for all: alone, each answers for itself.
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    timings[i] = time_alone(candidates[i], rounds);
    if (timings[i].outcome == "interrupted") return std::vector<Timing>(candidates.size());
  }
  return timings;
}

std::string WorkerMeasurer::confirm(int candidate) { return check(candidate, 2).failure; }

double WorkerMeasurer::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

}  // namespace einkern::autotune
