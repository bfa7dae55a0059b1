#include "autotune/worker/stopwatch.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "autotune/worker/device_tensor.h"
#include "autotune/worker/elements.h"
#include "autotune/worker/values.h"

namespace einkern::autotune::worker {
namespace {

/// On a CPU, whose caches nobody flushes, short kernels run back to back until a sample lasts this long.
constexpr double least_sample_seconds = 50e-6;
constexpr int most_repetitions = 256;
/// Once a kernel of a problem was short, its rivals are timed in the same way up to so many times that.
constexpr double rival_factor = 5;

/// Fisher and Yates: std::shuffle gives other orders in other libraries.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace

core::Result<void> launch_kernel(const LoadedKernel& kernel, const std::vector<runtime::Address>& addresses,
                                 runtime::Workspace workspace, runtime::Stream stream) {
  std::vector<runtime::Address> buffers;
  for (const int tensor : kernel.tensors)
    buffers.push_back(tensor < 0 ? 0 : addresses[static_cast<std::size_t>(tensor)]);
  return kernel.launch->launch({.buffers = buffers, .scalars = kernel.scalars, .workspace = workspace},
                               stream);
}

core::Result<void> Stopwatch::fill(const Problem& problem) {
  if (begin_) return {};
  problem_ = problem;
  EINKERN_CHECK_OK(add_copy());
  EINKERN_TRY(begin_, device_.create_event());
  EINKERN_TRY(end_, device_.create_event());
  return {};
}

core::Result<void> Stopwatch::add_copy() {
  Tensors tensors;
  for (ProblemTensor tensor : problem_.tensors) {
    tensor.seed += copies_.size();
    const std::int64_t below = -reach_of(tensor).lowest * core::size_bytes(tensor.dtype);
    const std::int64_t first = (below + 255) / 256 * 256 + tensor.first_byte;
    const std::int64_t bytes = first - below + span_bytes(tensor);
    EINKERN_TRY(DeviceMemory memory, DeviceMemory::allocate(device_, bytes));
    tensors.push_back(memory.address() + word(first));
    if (checks_ != nullptr) {
      EINKERN_TRY(const auto places,
                  ElementPlaces::make(tensor, Filling::uniform, device_, stream_, *checks_));
      EINKERN_CHECK_OK(places->fill(tensors.back()));
      EINKERN_CHECK_OK(device_.synchronize(stream_));  // the places go
    } else {
      std::vector<char> image(static_cast<std::size_t>(bytes));
      fill_elements(tensor, Filling::uniform, image.data() + first);
      EINKERN_CHECK_OK(device_.copy_to_device(memory.address(), image.data(), bytes, stream_));
    }
    memory_.push_back(std::move(memory));
  }
  copies_.push_back(std::move(tensors));
  return {};
}

core::Result<void> Stopwatch::make_room(const LoadedKernel& kernel, DeviceMemory& workspace) {
  const std::int64_t bytes = kernel.launch->workspace_bytes();
  if (bytes <= workspace.bytes()) return {};
  workspace = DeviceMemory();
  EINKERN_TRY(workspace, DeviceMemory::allocate(device_, bytes));
  return device_.fill(workspace.address(), 0, bytes, stream_);
}

core::Result<double> Stopwatch::time_once(const Run& run, const LoadedKernel* flush) {
  if (flush != nullptr)
    EINKERN_CHECK_OK(
        launch_kernel(*flush, {}, {.address = flush_workspace_.address(), .prepared = true}, stream_));
  EINKERN_CHECK_OK(begin_->record(stream_));
  if (run.graph) {
    EINKERN_CHECK_OK(run.graph->launch(stream_));
  } else {
    for (int i = 0; i < run.launches; ++i)
      EINKERN_CHECK_OK(
          launch_kernel(*run.kernel, copies_.front(), {.address = workspace_.address()}, stream_));
  }
  EINKERN_CHECK_OK(end_->record(stream_));
  EINKERN_CHECK_OK(end_->synchronize());
  EINKERN_TRY(const double seconds, end_->seconds_since(*begin_));
  return seconds / run.launches;
}

core::Result<Stopwatch::Run> Stopwatch::warm_up(const LoadedKernel& kernel) {
  Run once{&kernel, 1, nullptr};
  // The first launch of a kernel loads its code.
  EINKERN_TRY(double seconds, time_once(once, nullptr));
  if (device_.facts().backend == core::Backend::cpu) {
    if (seconds < least_sample_seconds) {
      EINKERN_TRY(seconds, time_once(once, nullptr));
    }
    const double fitting = least_sample_seconds / std::max(seconds, 1e-9);
    once.launches = static_cast<int>(std::clamp<double>(fitting, 1, most_repetitions));
    return once;
  }
  EINKERN_TRY(seconds, time_once(once, nullptr));
  short_problem_ = short_problem_ || seconds < short_launch_seconds;
  if (!short_problem_ || seconds >= rival_factor * short_launch_seconds) return once;
  return recorded(kernel);
}

core::Result<Stopwatch::Run> Stopwatch::recorded(const LoadedKernel& kernel) {
  while (copies_.size() < graph_launches) EINKERN_CHECK_OK(add_copy());
  Run run{&kernel, graph_launches, nullptr};
  EINKERN_TRY(run.graph, device_.record(stream_, [&]() -> core::Result<void> {
    for (const Tensors& tensors : copies_)
      EINKERN_CHECK_OK(launch_kernel(kernel, tensors, {.address = workspace_.address()}, stream_));
    return {};
  }));
  EINKERN_CHECK_OK(time_once(run, nullptr));  // a graph's first launch moves it to the device
  return run;
}

core::Result<std::vector<std::vector<double>>> Stopwatch::time(
    const std::vector<const LoadedKernel*>& kernels, const LoadedKernel* flush, const Time& request) {
  if (flush != nullptr) EINKERN_CHECK_OK(make_room(*flush, flush_workspace_));
  // Before any graph is made, since a graph holds the workspace's address.
  for (const LoadedKernel* kernel : kernels) EINKERN_CHECK_OK(make_room(*kernel, workspace_));
  std::vector<Run> runs;
  for (const LoadedKernel* kernel : kernels) {
    EINKERN_TRY(Run run, warm_up(*kernel));
    runs.push_back(std::move(run));
  }
  std::vector<std::vector<double>> samples(kernels.size());
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(request.seed);
  for (int round = 0; round < request.rounds; ++round) {
    shuffle(order, random);
    for (const std::size_t i : order) {
      EINKERN_TRY(const double seconds, time_once(runs[i], flush));
      samples[i].push_back(seconds);
    }
  }
  return samples;
}

}  // namespace einkern::autotune::worker
