#include "autotune/worker/session.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "autotune/worker/compare.h"
#include "autotune/worker/devices.h"
#include "autotune/worker/elements.h"
#include "autotune/worker/values.h"

namespace einkern::autotune::worker {
namespace {

Reply failed(std::string_view kind, const core::Error& error, bool broken = false) {
  return {.failure = fmt::format("{}: {}", kind, error.message), .broken = broken};
}

/// A faulted GPU context gives its error to every later call.
Reply faulted(const core::Error& error) { return failed("fault", error, true); }

Reply unknown_kernel(int kernel) {
  return {.failure = fmt::format("launch: no kernel {} is loaded", kernel)};
}

}  // namespace

Reply Session::answer(const Request& request) {
  if (!device_ && !std::holds_alternative<OpenDevice>(request)) return {.failure = "no device is open"};
  return std::visit([this](const auto& one) { return perform(one); }, request);
}

Reply Session::perform(const OpenDevice& request) {
  if (request.build != build_identity())
    return {.failure = fmt::format("einkern-worker is of build \"{}\", the tuner of \"{}\": install both "
                                   "from one build",
                                   build_identity(), request.build)};
  auto device = open_device(request.device);
  if (!device) return failed("device", device.error());
  auto stream = (*device)->create_stream();
  if (!stream) return failed("device", stream.error());
  device_ = std::move(*device);
  stream_ = *stream;
  return {};
}

Reply Session::perform(const SetProblem& request) {
  problem_ = request.problem;
  tensors_.clear();
  reference_.clear();
  kernels_.clear();
  flush_ = nullptr;
  for (const ProblemTensor& tensor : problem_.tensors) {
    auto made = GuardedTensor::make(tensor, *device_, stream_);
    if (!made) return failed("memory", made.error());
    tensors_.push_back(std::move(*made));
  }
  stopwatch_ = std::make_unique<Stopwatch>(*device_, stream_);
  return {};
}

core::Result<LoadedKernel> Session::load(const Load& request) {
  core::LaunchPlan plan = request.launch;
  LoadedKernel kernel;
  for (core::BufferSpec& buffer : plan.buffers) {
    int tensor = -1;
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i)
      if (problem_.tensors[i].name == buffer.name) tensor = static_cast<int>(i);
    // A temporary between kernels is a tensor of the problem here, not the launch's own memory.
    if (tensor >= 0) buffer.kind = problem_.tensors[static_cast<std::size_t>(tensor)].kind;
    kernel.tensors.push_back(tensor);
  }
  for (const core::ScalarSpec& scalar : plan.scalars) {
    const auto bits = problem_.scalars.find(scalar.name);
    kernel.scalars.push_back(bits == problem_.scalars.end() ? 0 : bits->second);
  }
  EINKERN_TRY(const auto module, device_->load(request.artifact));
  const std::vector<std::shared_ptr<const runtime::Module>> modules = {module};
  EINKERN_TRY(kernel.launch, device_->prepare(plan, modules, problem_.symbols));
  return kernel;
}

Reply Session::perform(const Load& request) {
  auto kernel = load(request);
  if (!kernel) return failed("launch", kernel.error());
  kernels_[request.kernel] = std::move(*kernel);
  return {};
}

const LoadedKernel* Session::find(int kernel) const {
  const auto found = kernels_.find(kernel);
  return found == kernels_.end() ? nullptr : &found->second;
}

Reply Session::perform(const UseFlush& request) {
  flush_ = find(request.kernel);
  return flush_ != nullptr ? Reply{} : unknown_kernel(request.kernel);
}

Reply Session::run(const LoadedKernel& kernel) {
  std::vector<runtime::Address> addresses;
  for (GuardedTensor& tensor : tensors_) {
    addresses.push_back(tensor.address());
    if (tensor.is_input() && !inputs_changed_) continue;
    if (const auto reset = tensor.reset(stream_); !reset) return faulted(reset.error());
  }
  inputs_changed_ = true;  // until proven otherwise
  runtime::Workspace workspace;
  const std::int64_t workspace_bytes = kernel.launch->workspace_bytes();
  if (workspace_bytes > 0) {
    const auto memory = device_->allocate(workspace_bytes);
    if (!memory) return failed("memory", memory.error());
    workspace.address = *memory;
    if (const auto filled = device_->fill(*memory, poison, workspace_bytes, stream_); !filled)
      return faulted(filled.error());
  }
  if (const auto ready = device_->synchronize(stream_); !ready) return faulted(ready.error());
  const auto begin = std::chrono::steady_clock::now();
  const auto launched = launch_kernel(kernel, addresses, workspace, stream_);
  const auto done = device_->synchronize(stream_);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!done) return faulted(done.error());
  if (workspace.address != 0) device_->free(workspace.address);
  if (!launched) return failed("launch", launched.error());
  for (GuardedTensor& tensor : tensors_)
    if (const auto fetched = tensor.fetch(stream_); !fetched) return faulted(fetched.error());
  return {.seconds = seconds.count()};
}

Reply Session::judge() const {
  Reply reply;
  for (const GuardedTensor& tensor : tensors_)
    if (const std::string what = tensor.trespass(); !what.empty())
      return {.failure = fmt::format("wrong: the kernel {}", what)};
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].is_input()) continue;
    const ProblemTensor& tensor = tensors_[i].tensor();
    const Agreement agreement = compare_elements(tensor, reference_[i].data(), tensors_[i].elements());
    reply.error = std::fmax(reply.error, agreement.error);
    if (agreement.difference.empty()) continue;
    if (tensors_[i].untouched())
      return {.failure = fmt::format("wrong: the kernel writes nothing to {}", tensor.name)};
    return {.failure = "wrong: " + agreement.difference};
  }
  return reply;
}

Reply Session::perform(const RunReference& request) {
  const LoadedKernel* kernel = find(request.kernel);
  if (kernel == nullptr) return unknown_kernel(request.kernel);
  Reply reply = run(*kernel);
  if (!reply.failure.empty()) return reply;
  reference_.clear();
  for (const GuardedTensor& tensor : tensors_) {
    if (const std::string what = tensor.trespass(); !what.empty())
      return {.failure = fmt::format("wrong: the reference {}", what)};
    const char* first = tensor.elements();
    reference_.emplace_back(first, tensor.is_input() ? first : first + span_bytes(tensor.tensor()));
  }
  inputs_changed_ = false;
  return reply;
}

Reply Session::perform(const Check& request) {
  const LoadedKernel* kernel = find(request.kernel);
  if (kernel == nullptr) return unknown_kernel(request.kernel);
  if (reference_.size() != tensors_.size()) return {.failure = "no reference has been run"};
  Reply reply;
  std::vector<std::vector<char>> first_results;
  for (int run_number = 0; run_number < request.runs; ++run_number) {
    const Reply ran = run(*kernel);
    if (!ran.failure.empty()) return ran;
    reply = judge();
    reply.seconds = ran.seconds;
    if (!reply.failure.empty()) return reply;
    inputs_changed_ = false;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const char* first = tensors_[i].elements();
      const auto bytes = static_cast<std::size_t>(span_bytes(tensors_[i].tensor()));
      if (run_number == 0)
        first_results.emplace_back(first, first + (request.runs > 1 ? bytes : 0));
      else if (std::memcmp(first_results[i].data(), first, bytes) != 0)
        return {.failure =
                    fmt::format("wrong: two runs give different bits in {}", problem_.tensors[i].name)};
    }
  }
  return reply;
}

Reply Session::perform(const Time& request) {
  std::vector<const LoadedKernel*> kernels;
  for (const int kernel : request.kernels) {
    kernels.push_back(find(kernel));
    if (kernels.back() == nullptr) return unknown_kernel(kernel);
  }
  if (const auto filled = stopwatch_->fill(problem_); !filled) return failed("memory", filled.error());
  auto samples = stopwatch_->time(kernels, flush_, request);
  if (!samples) return faulted(samples.error());
  return {.samples = std::move(*samples)};
}

}  // namespace einkern::autotune::worker
