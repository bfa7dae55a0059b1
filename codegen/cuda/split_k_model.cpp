#include "codegen/cuda/split_k_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "codegen/cuda/roofline.h"

namespace einkern::codegen::cuda {

namespace {

using Violation = std::optional<std::string>;

/// What the rules need of a problem, worked out once.
struct SpaceFacts {
  bool a_transposed = false, b_transposed = false;
  core::DeviceFacts device;
};

constexpr int least_stages = 3;

Violation shared_rule(const SpaceFacts& facts, const SplitKTile& tile) {
  if (tile.stages >= least_stages) return std::nullopt;
  SplitKTile least = tile;
  least.stages = least_stages;
  return fmt::format("shared memory {} > {} bytes", least.shared_bytes(),
                     std::min(facts.device.shared_bytes_per_multiprocessor / tile.resident - 1024,
                              facts.device.shared_bytes_per_block));
}

/// Accumulators and what addresses and the loop need; a warp gets registers in units of 256.
Violation registers_rule(const SpaceFacts& facts, const SplitKTile& tile) {
  const int needed = tile.accumulators() + (tile.split > 1 ? tile.share_registers() : 0) + 32;
  const int warps = tile.resident * tile.threads() / 32;
  const int limit = std::min(facts.device.registers_per_multiprocessor / warps / 256 * 8,
                             facts.device.max_registers_per_thread);
  if (needed <= limit) return std::nullopt;
  return fmt::format("registers {} > {}", needed, limit);
}

/// Operands whose rows are contiguous come in boxes of 64 of them.
Violation boxes_rule(const SpaceFacts& facts, const SplitKTile& tile) {
  constexpr int box = WgmmaTile::slab_columns;
  const bool transposed = tile.swapped ? facts.a_transposed : facts.b_transposed;
  if (!transposed || tile.columns % box == 0) return std::nullopt;
  return fmt::format("columns {} is no multiple of a box's {}", tile.columns, box);
}

/// The launch in numbers.
struct Work {
  double streamed_bytes = 0;
  double tiles = 0, tiles_across = 0, steps = 0;  // of the result; of the kept operand; stages of one sum
  double blocks = 0;
  double busy_share = 0;               // of the multiprocessors
  double tiles_of_multiprocessor = 0;  // that the busiest one computes
  double steps_of_multiprocessor = 0;  // stages that it multiplies
};

Work work_of(const core::DeviceFacts& device, const ProductExtents& extents, const SplitKTile& tile) {
  const auto [batch, m, n, sum] = extents;
  const double streamed = tile.swapped ? n : m, kept = tile.swapped ? m : n;
  Work work;
  work.streamed_bytes = batch * streamed * sum * WgmmaTile::element_bytes;
  work.steps = std::ceil(sum / tile.tile_k());
  work.tiles_across = std::ceil(kept / tile.columns);
  work.tiles = std::ceil(streamed / tile.rows) * work.tiles_across * batch;
  const double multiprocessors = std::max(device.multiprocessors, 1);
  const auto slots = tile.resident_clusters(std::max(device.multiprocessors, 1)).evaluate({});
  const double turns = std::ceil(work.tiles / static_cast<double>(slots.ok() ? *slots : 1));
  work.blocks = std::ceil(work.tiles / turns) * tile.split;
  const double of_the_busiest = std::ceil(work.blocks / multiprocessors);
  work.busy_share = work.blocks / (of_the_busiest * multiprocessors);
  work.tiles_of_multiprocessor = of_the_busiest * turns;
  work.steps_of_multiprocessor = work.tiles_of_multiprocessor * std::ceil(work.steps / tile.split);
  return work;
}

/// Cycles of a multiprocessor's tensor cores for one 64-element slice of a tile: m64nNk16 takes N / 2, or as
/// long as shared memory delivers both operands at 128 bytes a cycle. Nothing hides the waits between stages
/// where a block is alone.
double slice_cycles(const SplitKTile& tile) {
  const double instructions = static_cast<double>(WgmmaTile::tile_k) / WgmmaTile::step * tile.consumers();
  const double of_shared_memory = (64.0 + tile.columns) * WgmmaTile::step * WgmmaTile::element_bytes / 128;
  return 1.35 * instructions * std::max(tile.columns / 2.0, of_shared_memory);
}

/// Cycles in which a tile's results are written: 16 bytes of a line at a time, and twice as many lines at
/// once where rows of the tile are rows of the result.
double result_cycles(const SplitKTile& tile) {
  const double results = tile.rows * tile.share_columns() / 32768.0;
  return 1000 + (tile.swapped ? 6000 : 9000) * results;
}

}  // namespace

ConfigurationSpace split_k_space(const KernelContext& context, const WgmmaProblem& problem) {
  const SpaceFacts facts{.a_transposed = !problem.a.columns_contiguous(),
                         .b_transposed = !problem.b.columns_contiguous(),
                         .device = context.device};
  const auto rule = [facts](Violation (*check)(const SpaceFacts&, const SplitKTile&)) {
    return [facts, check](const Configuration& c) { return check(facts, split_k_tile(c, facts.device)); };
  };
  return {.parameters =
              {{.name = "rows", .domain = {64, 128}, .documentation = "rows of the streamed operand a tile"},
               {.name = "columns",
                .domain = {16, 8, 32, 64, 128},
                .documentation = "rows of the other operand a tile"},
               {.name = "split",
                .domain = {2, 1, 4, 8},
                .documentation = "blocks of a cluster, each with a part of the sum"},
               {.name = "slices", .domain = {2, 1}, .documentation = "64-element slices of the sum a stage"},
               {.name = "resident", .domain = {2, 1, 3, 4}, .documentation = "blocks a multiprocessor"},
               {.name = "swapped",
                .domain = {1, 0},
                .documentation = "1: the second factor is streamed, 0: the first"}},
          .constraints = {{"boxes of a transposed operand fill the tile", rule(boxes_rule)},
                          {"accumulators and shares fit the registers", rule(registers_rule)},
                          {"stages fit shared memory", rule(shared_rule)}}};
}

Estimate estimate_split_k(const KernelContext& context, const WgmmaProblem& problem,
                          const Configuration& configuration) {
  const core::DeviceFacts& device = context.device;
  const SplitKTile tile = split_k_tile(configuration, device);
  const ProductExtents extents = product_extents(context);
  const Work work = work_of(device, extents, tile);
  Estimate estimate = roofline(context, {.blocks = static_cast<std::int64_t>(work.blocks),
                                         .threads = tile.threads(),
                                         .registers = tile.accumulators() + 32,
                                         .shared_bytes = tile.shared_bytes()});
  const double bandwidth = device.copy_bytes_per_second > 0 ? device.copy_bytes_per_second : 3e12;
  const double rate = device.tensor16_flops > 0 ? device.tensor16_flops : 800e12;
  const double launch = device.launch_seconds > 0 ? device.launch_seconds : 4e-6;
  estimate.limit_seconds = std::max(estimate.bytes / bandwidth, estimate.operations / rate);

  // Device memory: enough bytes must be on their way (Little's law), and few multiprocessors do not get all
  // of its bandwidth. Tiles side by side read the same rows of the streamed operand, mostly from L2.
  constexpr double loaded_latency = 1.5e-6, read_again = 0.3;
  const double in_flight = work.blocks * tile.stages * tile.slices * tile.streamed_bytes();
  const double reachable = std::min(bandwidth, in_flight / loaded_latency) * (0.8 + 0.2 * work.busy_share);
  const double memory =
      (estimate.bytes + read_again * (work.tiles_across - 1) * work.streamed_bytes) / reachable;
  // L2 to shared memory, and the tensor cores behind it.
  constexpr double l2_bandwidth = 12.5e12, clock = 1.65e9, stage_cycles = 60;
  const double l2 = work.tiles * work.steps * tile.stage_bytes() / l2_bandwidth;
  const double cycles = work.steps_of_multiprocessor * (tile.slices * slice_cycles(tile) + stage_cycles) +
                        work.tiles_of_multiprocessor * result_cycles(tile);
  const double multiply = cycles / clock;
  // A cluster starts later than a block alone, and its partial sums are on their way once more.
  const double exchange = tile.split == 1 ? 0 : 0.2e-6 * tile.split + 0.3e-6 * (tile.resident - 1);
  // Neither hides behind the longest entirely where they are near.
  const double together = std::pow(std::pow(memory, 6) + std::pow(l2, 6) + std::pow(multiply, 6), 1.0 / 6);
  estimate.seconds = together + exchange + launch;
  estimate.seconds += packing_seconds(problem, extents, bandwidth, launch);
  return estimate;
}

}  // namespace einkern::codegen::cuda
