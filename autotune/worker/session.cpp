#include "autotune/worker/session.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <new>

#include "autotune/worker/sample.h"
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
  try {
    return std::visit([this](const auto& one) { return perform(one); }, request);
  } catch (const std::bad_alloc&) {
    return {.failure = "memory: this machine has no memory left for tensors of these sizes"};
  }
}

Reply Session::perform(const OpenDevice& request) {
  if (request.build != build_identity())
    return {.failure = fmt::format("einkern-worker is of build \"{}\", the tuner of \"{}\": install both "
                                   "from one build",
                                   build_identity(), request.build)};
  auto device = opener_(request.device);
  if (!device) return failed("device", device.error());
  auto stream = (*device)->create_stream();
  if (!stream) return failed("device", stream.error());
  device_ = std::move(*device);
  stream_ = *stream;
  return {};
}

Reply Session::perform(const UseChecks& request) {
  auto checks = DeviceChecks::load(request.artifact, *device_, stream_);
  if (!checks) return failed("device", checks.error());
  tensors_.clear();  // they use the old ones
  stopwatch_.reset();
  checks_ = std::move(*checks);
  return {};
}

Reply Session::perform(const SetProblem& request) {
  problem_ = request.problem;
  tensors_.clear();
  reference_ready_ = false;
  kernels_.clear();
  flush_ = nullptr;
  for (const ProblemTensor& tensor : problem_.tensors) {
    auto made = make_checked_tensor(tensor, *device_, stream_, checks_.get());
    if (!made) return failed("memory", made.error());
    tensors_.push_back(std::move(*made));
  }
  if (const auto sampled = make_sample(); !sampled) return failed("memory", sampled.error());
  stopwatch_ = std::make_unique<Stopwatch>(*device_, stream_, checks_.get());
  return {};
}

core::Result<void> Session::make_sample() {
  sample_ = DeviceMemory();
  if (problem_.sampling.extents.empty()) return {};
  const std::vector<std::int64_t> points = sampled_points(problem_.sampling);
  const auto bytes = static_cast<std::int64_t>(points.size() * sizeof points[0]);
  EINKERN_TRY(sample_, DeviceMemory::allocate(*device_, bytes));
  problem_.symbols[problem_.sampling.name] = static_cast<std::int64_t>(points.size());
  return device_->copy_to_device(sample_.address(), points.data(), bytes, stream_);
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
    if (sample_.address() != 0 && buffer.name == problem_.sampling.name) {
      tensor = static_cast<int>(problem_.tensors.size());  // beside the tensors: see `run`
      buffer.kind = core::BufferKind::input;
    }
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
  for (const auto& tensor : tensors_) {
    addresses.push_back(tensor->address());
    if (const auto prepared = tensor->prepare(); !prepared) return faulted(prepared.error());
  }
  addresses.push_back(sample_.address());
  runtime::Workspace workspace;
  DeviceMemory scratch;
  const std::int64_t workspace_bytes = kernel.launch->workspace_bytes();
  if (workspace_bytes > 0) {
    auto memory = DeviceMemory::allocate(*device_, workspace_bytes);
    if (!memory) return failed("memory", memory.error());
    scratch = std::move(*memory);
    workspace.address = scratch.address();
    if (const auto filled = device_->fill(workspace.address, poison, workspace_bytes, stream_); !filled)
      return faulted(filled.error());
  }
  if (const auto ready = device_->synchronize(stream_); !ready) return faulted(ready.error());
  const auto begin = std::chrono::steady_clock::now();
  const auto launched = launch_kernel(kernel, addresses, workspace, stream_);
  const auto done = device_->synchronize(stream_);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!done) return faulted(done.error());
  if (!launched) return failed("launch", launched.error());
  return {.seconds = seconds.count()};
}

Session::Verdict Session::judge() {
  Verdict verdict;
  std::string trespass, difference_found;
  for (const auto& tensor : tensors_) {
    const auto findings = tensor->judge();
    if (!findings) return {.reply = faulted(findings.error())};
    const std::string& name = tensor->tensor().name;
    verdict.fingerprints.push_back(findings->fingerprint);
    if (findings->changed && trespass.empty()) trespass = fmt::format("changes the input {}", name);
    if (findings->written_beside && trespass.empty()) trespass = fmt::format("writes outside {}", name);
    if (difference_found.empty()) difference_found = difference(tensor->tensor(), *findings);
    const double scale = findings->largest_magnitude > 0 ? findings->largest_magnitude : 1;
    verdict.reply.error = std::fmax(verdict.reply.error, findings->elements.largest_error / scale);
  }
  if (!trespass.empty())
    verdict.reply.failure = "wrong: the kernel " + trespass;
  else if (!difference_found.empty())
    verdict.reply.failure = "wrong: " + difference_found;
  return verdict;
}

Reply Session::perform(const RunReference& request) {
  const LoadedKernel* kernel = find(request.kernel);
  if (kernel == nullptr) return unknown_kernel(request.kernel);
  Reply reply = run(*kernel);
  if (!reply.failure.empty()) return reply;
  for (const auto& tensor : tensors_) {
    if (tensor->is_input()) continue;
    if (const auto kept = tensor->keep_as_reference(sample_.address() != 0); !kept)
      return faulted(kept.error());
  }
  // Of a sampled reference most elements are still poison, so only what it trespasses on counts.
  for (const auto& tensor : tensors_) {
    const auto findings = tensor->judge();
    if (!findings) return faulted(findings.error());
    if (findings->changed || findings->written_beside)
      return {.failure = fmt::format("wrong: the reference {} {}",
                                     findings->changed ? "changes the input" : "writes outside",
                                     tensor->tensor().name)};
  }
  reference_ready_ = true;
  return reply;
}

Reply Session::perform(const Check& request) {
  const LoadedKernel* kernel = find(request.kernel);
  if (kernel == nullptr) return unknown_kernel(request.kernel);
  if (!reference_ready_) return {.failure = "no reference has been run"};
  Verdict first;
  for (int run_number = 0; run_number < request.runs; ++run_number) {
    const Reply ran = run(*kernel);
    if (!ran.failure.empty()) return ran;
    Verdict verdict = judge();
    verdict.reply.seconds = ran.seconds;
    if (!verdict.reply.failure.empty()) return verdict.reply;
    if (run_number == 0)
      first = std::move(verdict);
    else
      for (std::size_t i = 0; i < tensors_.size(); ++i)
        if (verdict.fingerprints[i] != first.fingerprints[i])
          return {.failure =
                      fmt::format("wrong: two runs give different bits in {}", problem_.tensors[i].name)};
  }
  return first.reply;
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
