#include "codegen/cpu/cost.h"

#include <algorithm>

#include "codegen/cpu/kernel_module.h"

namespace einkern::codegen::cpu {
namespace {

// Of a present-day core, until the device has been measured: bytes a second from memory for all threads,
// cycles a second.
constexpr double usual_bandwidth = 20e9, usual_clock = 3e9;

}  // namespace

int natural_lanes(const KernelContext& context) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  int widest = 4;
  for (const Store& store : context.kernel.stores)
    dsl::visit_nodes(arena, store.value, [&](ExpressionId id) {
      if (arena[id].type == DType::f64) widest = 8;
    });
  return std::max(1, context.device.vector_bytes / widest);
}

std::int64_t operations_of_point(const KernelContext& context) {
  constexpr std::int64_t loop_guess = 16;
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  std::int64_t operations = 0;
  for (const Store& store : context.kernel.stores)
    dsl::visit_nodes(arena, store.value, [&](ExpressionId id) {
      dsl::Op op = arena[id].op;
      operations += op == dsl::Op::reduce ? loop_guess : op >= dsl::first_scalar_op ? dsl::facts(op).cost : 1;
    });
  return std::max<std::int64_t>(1, operations);
}

Estimate roofline(const KernelContext& context, const KernelCost& cost, double lanes) {
  const core::DeviceFacts& device = context.device;
  double threads = std::max(1, device.multiprocessors);
  double bandwidth = device.copy_bytes_per_second > 0 ? device.copy_bytes_per_second : usual_bandwidth;
  // A multiply-add of a full vector counts 2 operations a lane, and a core starts one or two of them a cycle.
  double widest = device.vector_bytes / 4.0;
  double peak = device.f32_flops > 0 ? device.f32_flops : 2 * widest * usual_clock * threads;
  Estimate estimate;
  estimate.bytes = cost.bytes;
  estimate.operations = cost.operations;
  estimate.limit_seconds = std::max(cost.bytes / bandwidth, cost.operations / peak);
  double reached = peak * std::min(1.0, lanes / widest) / 2;
  estimate.seconds = std::max(cost.bytes / bandwidth, cost.operations / reached) + device.launch_seconds;
  return estimate;
}

}  // namespace einkern::codegen::cpu
