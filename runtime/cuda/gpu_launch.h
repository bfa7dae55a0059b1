// Launches on a GPU: one kernel given by hand, or a whole launch plan prepared once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "runtime/cuda/gpu_module.h"
#include "runtime/device.h"
#include "runtime/resolved_plan.h"

namespace einkern::runtime::cuda {

class GpuDevice;

struct LaunchGeometry {
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  std::int64_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
};

/// The value of one kernel parameter, in host memory.
struct ParameterValue {
  const void* value = nullptr;
  std::size_t bytes = 0;

  template <typename Value>
  static ParameterValue of(const Value& value) {
    return {&value, sizeof value};
  }
};

/// A kernel with its geometry checked against the device and its attributes set.
class KernelLaunch {
 public:
  static core::Result<KernelLaunch> prepare(const GpuModule& module, const core::DeviceFacts& facts,
                                            const std::string& entry, const LaunchGeometry& geometry);
  /// Queues the kernel. `parameters` points to each parameter's value. A context of the device must be
  /// current.
  core::Result<void> launch(const Driver& driver, void** parameters, Stream stream) const;

 private:
  std::string entry_;
  FunctionHandle function_ = nullptr;
  LaunchConfiguration configuration_{};
  std::array<LaunchAttribute, 2> attributes_{};
};

/// The steps of a plan for one device.
core::Result<std::shared_ptr<const PreparedLaunch>> prepare_launch(
    std::shared_ptr<GpuDevice> device, ResolvedPlan plan,
    std::span<const std::shared_ptr<const Module>> modules);

}  // namespace einkern::runtime::cuda
