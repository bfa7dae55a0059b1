// Timing of loaded kernels on random data in memory of its own.
#pragma once

#include <memory>
#include <vector>

#include "autotune/messages.h"
#include "autotune/worker/device_checks.h"
#include "autotune/worker/device_memory.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

/// A kernel ready to launch. `tensors`: for each of the plan's buffers the problem's tensor, or -1.
struct LoadedKernel {
  std::shared_ptr<const runtime::PreparedLaunch> launch;
  std::vector<int> tensors;
  std::vector<std::uint64_t> scalars;
};

/// Launches a kernel with tensors at `addresses`.
core::Result<void> launch_kernel(const LoadedKernel& kernel, const std::vector<runtime::Address>& addresses,
                                 runtime::Workspace workspace, runtime::Stream stream);

/// A launch on a GPU that takes less than this is timed as a graph of so many, each on tensors of its own: an
/// event resolves half a microsecond, and the caches would hold what the launch before has read.
inline constexpr double short_launch_seconds = 20e-6;
inline constexpr int graph_launches = 20;

class Stopwatch {
 public:
  /// `checks`: fills tensors on the device; null: they are filled on the host and copied.
  Stopwatch(runtime::Device& device, runtime::Stream stream, const DeviceChecks* checks)
      : device_(device), stream_(stream), checks_(checks) {}

  /// Allocates the tensors and fills them with random floats, once.
  core::Result<void> fill(const Problem& problem);
  /// Seconds of every kernel in every round, each round in a new random order; `flush`, if any, runs before
  /// each measurement, empties the caches, and hides the time that the host takes to launch.
  core::Result<std::vector<std::vector<double>>> time(const std::vector<const LoadedKernel*>& kernels,
                                                      const LoadedKernel* flush, const Time& request);

 private:
  /// What is queued between the two events, and how many launches that is.
  struct Run {
    const LoadedKernel* kernel;
    int launches;
    std::unique_ptr<runtime::Graph> graph;  // null: one by one
  };
  using Tensors = std::vector<runtime::Address>;  // of element 0, by tensor

  core::Result<void> add_copy();
  core::Result<void> make_room(const LoadedKernel& kernel, DeviceMemory& workspace);
  core::Result<Run> warm_up(const LoadedKernel& kernel);
  core::Result<Run> recorded(const LoadedKernel& kernel);
  /// Seconds of one launch.
  core::Result<double> time_once(const Run& run, const LoadedKernel* flush);

  runtime::Device& device_;
  runtime::Stream stream_;
  const DeviceChecks* checks_;
  Problem problem_;
  std::vector<DeviceMemory> memory_;
  std::vector<Tensors> copies_;  // of all tensors; one until a short kernel asks for more
  DeviceMemory workspace_, flush_workspace_;
  std::unique_ptr<runtime::Event> begin_, end_;
  bool short_problem_ = false;  // some kernel was short
};

}  // namespace einkern::autotune::worker
