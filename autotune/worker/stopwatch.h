// Timing of loaded kernels on random data in memory of its own.
#pragma once

#include <memory>
#include <vector>

#include "autotune/messages.h"
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

class Stopwatch {
 public:
  Stopwatch(runtime::Device& device, runtime::Stream stream) : device_(device), stream_(stream) {}
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Allocates the tensors and fills them with random floats, once.
  core::Result<void> fill(const Problem& problem);
  /// Seconds of every kernel in every round, each round in a new random order; `flush`, if any, runs before
  /// each launch, and hides the time that the host takes to launch.
  core::Result<std::vector<std::vector<double>>> time(const std::vector<const LoadedKernel*>& kernels,
                                                      const LoadedKernel* flush, const Time& request);

 private:
  core::Result<void> make_room(const LoadedKernel& kernel, runtime::Address& workspace, std::int64_t& held);
  core::Result<double> time_once(const LoadedKernel& kernel, const LoadedKernel* flush, int repetitions);

  runtime::Device& device_;
  runtime::Stream stream_;
  std::vector<runtime::Address> allocations_, addresses_;  // addresses_: of element 0, by tensor
  runtime::Address workspace_ = 0, flush_workspace_ = 0;
  std::int64_t workspace_bytes_ = 0, flush_workspace_bytes_ = 0;
  std::unique_ptr<runtime::Event> begin_, end_;
};

}  // namespace einkern::autotune::worker
