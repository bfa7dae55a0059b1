#include "codegen/cuda/roofline.h"

#include <algorithm>
#include <cmath>

#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

constexpr double fallback_bandwidth = 300e9;
constexpr double fallback_flops = 5e12;
constexpr double fallback_launch_seconds = 4e-6;
/// From request to data on the way from device memory; Little's law with it says how many bytes must be in
/// flight.
constexpr double memory_latency_seconds = 0.7e-6;

double or_else(double value, double otherwise) { return value > 0 ? value : otherwise; }

/// Registers are handed out to warps in units of 256.
int registers_of_block(const BlockUse& use) {
  const int warps = (use.threads + 31) / 32;
  const int of_warp = (use.registers * 32 + 255) / 256 * 256;
  return warps * of_warp;
}

}  // namespace

int resident_blocks(const core::DeviceFacts& device, const BlockUse& use) {
  if (use.threads > device.max_threads_per_block || use.shared_bytes > device.shared_bytes_per_block)
    return 0;
  std::int64_t blocks = device.max_blocks_per_multiprocessor;
  blocks = std::min<std::int64_t>(blocks, device.max_threads_per_multiprocessor / std::max(use.threads, 1));
  blocks = std::min<std::int64_t>(blocks,
                                  device.registers_per_multiprocessor / std::max(registers_of_block(use), 1));
  if (use.shared_bytes > 0)  // the driver keeps 1 KiB of every block's shared memory
    blocks =
        std::min<std::int64_t>(blocks, device.shared_bytes_per_multiprocessor / (use.shared_bytes + 1024));
  return static_cast<int>(blocks);
}

Estimate roofline(const KernelContext& context, const BlockUse& use) {
  const core::DeviceFacts& device = context.device;
  const KernelCost cost = kernel_cost(context.plan, context.kernel, context.binding);
  const double bandwidth = or_else(device.copy_bytes_per_second, fallback_bandwidth);
  const double flops = or_else(device.f32_flops, fallback_flops);
  Estimate estimate{.bytes = cost.bytes, .operations = cost.operations};
  estimate.limit_seconds = std::max(cost.bytes / bandwidth, cost.operations / flops);

  const int resident = std::max(resident_blocks(device, use), 1);
  const double slots = static_cast<double>(resident) * std::max(device.multiprocessors, 1);
  const double blocks = static_cast<double>(std::max<std::int64_t>(use.blocks, 1));
  const double filled = std::min(blocks, slots);
  estimate.occupancy =
      static_cast<double>(resident) * use.threads / std::max(device.max_threads_per_multiprocessor, 1);

  const double in_flight = filled * use.threads * use.bytes_in_flight;
  const double reachable = std::min(bandwidth, in_flight / memory_latency_seconds);
  const double busy =
      std::min(blocks, static_cast<double>(device.multiprocessors)) / std::max(device.multiprocessors, 1);
  const double waves = blocks / slots;
  const double tail = waves > 1 ? std::ceil(waves) / waves : 1;
  const double seconds =
      std::max(cost.bytes * use.traffic_factor / reachable, cost.operations / (flops * busy));
  estimate.seconds =
      seconds * (1 + (tail - 1) * 0.5) +  // blocks end at different times: a wave's tail is half as bad
      use.launches * or_else(device.launch_seconds, fallback_launch_seconds);
  return estimate;
}

}  // namespace einkern::codegen::cuda
