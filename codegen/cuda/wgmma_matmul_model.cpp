#include "codegen/cuda/wgmma_matmul_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "codegen/cuda/epilogue.h"
#include "codegen/cuda/roofline.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

using Violation = std::optional<std::string>;

/// What the rules need of a problem, worked out once.
struct SpaceFacts {
  bool a_transposed = false, b_transposed = false, can_stage = false;
  std::int64_t shared_bytes = 0;
};

Violation shared_rule(const SpaceFacts& facts, const WgmmaTile& tile) {
  if (tile.shared_bytes() <= facts.shared_bytes) return std::nullopt;
  return fmt::format("shared memory {} > {} bytes", tile.shared_bytes(), facts.shared_bytes);
}

/// Accumulators, the pairs that wait beside them, and what addresses and the loop need.
Violation registers_rule(const SpaceFacts&, const WgmmaTile& tile) {
  const int waiting = tile.staged && tile.deferred ? tile.accumulators() / 2 : 0;
  const int needed = tile.accumulators() + waiting + 30;
  const int limit = tile.moves_registers() ? tile.multiplying_registers() : tile.registers();
  if (needed <= limit) return std::nullopt;
  return fmt::format("registers {} > {}", needed, limit);
}

Violation staging_rule(const SpaceFacts& facts, const WgmmaTile& tile) {
  if (!tile.staged) return std::nullopt;
  if (!facts.can_stage) return "staged > 0, but the result cannot leave through the copy engine";
  if (tile.tile_n % WgmmaTile::slab_columns == 0) return std::nullopt;
  return fmt::format("tile_n {} is no multiple of a slab's {} columns", tile.tile_n, WgmmaTile::slab_columns);
}

/// Operands whose rows are contiguous come in boxes of 64 of them.
Violation boxes_rule(const SpaceFacts& facts, const WgmmaTile& tile) {
  if (!facts.b_transposed || tile.tile_n % WgmmaTile::slab_columns == 0) return std::nullopt;
  return fmt::format("tile_n {} is no multiple of a box's {} columns", tile.tile_n, WgmmaTile::slab_columns);
}

/// Where the sum of one tile is short, or the tile small, the block's fixed costs show.
struct TileCost {
  double products = 0;  // cycles of the tensor cores
  double around = 0;    // cycles in which they wait: the first stages, the results
};

/// m64nNk16 takes N / 2 cycles of its warp group's tensor core; four of them share the shared memory's 128
/// bytes a cycle, which small N exceed. The cycles around were fitted to measurements on an H200
/// (docs/performance.md).
TileCost tile_cost(const WgmmaTile& tile, double steps) {
  const double instructions = static_cast<double>(WgmmaTile::tile_k) / WgmmaTile::step * tile.tile_m / 64;
  const double of_tensor_cores = tile.tile_n / 2.0;
  const double of_shared_memory = (64.0 + tile.tile_n) * WgmmaTile::step * WgmmaTile::element_bytes / 128;
  // One warp group alone does not overlap its waits with another's products.
  const double alone = tile.consumers() == 1 ? 1.25 : 1;
  const double results = tile.tile_m * tile.tile_n / 32768.0;
  const double around = !tile.staged ? 6000 * results : tile.deferred ? 900 * results : 2000 * results;
  return {steps * instructions * std::max(of_tensor_cores, of_shared_memory) * alone, 1000 + around};
}

/// Large products run against the power limit, so bytes moved for each multiply-add cost time also where they
/// are hidden: those of a tile from L2, and those of an instruction from shared memory. The weights are
/// fitted to 4096, 8192 and 2048 x 28672 x 4096 on an H200 (docs/performance.md).
double energy_factor(const WgmmaTile& tile) {
  const double from_l2 = 1.0 / tile.tile_m + 1.0 / tile.tile_n;
  const double from_shared = 1.0 / WgmmaTile::block_rows + 1.0 / tile.tile_n;
  return 1 + 12 * (from_l2 - (1.0 / 128 + 1.0 / 256)) + 8 * (from_shared - (1.0 / 64 + 1.0 / 256));
}

/// What measurements decide between configurations that the model cannot tell apart.
double preference(const WgmmaTile& tile, std::int64_t band) {
  double factor = energy_factor(tile);
  if (band != 16) factor *= band == 8 ? 1.002 : 1.004;
  factor *= 1 + 0.002 * std::abs(tile.stages - 4);
  return factor;
}

}  // namespace

ConfigurationSpace wgmma_matmul_space(const KernelContext& context, const WgmmaProblem& problem) {
  const auto& form = std::get<Contraction>(context.kernel.form);
  const SpaceFacts facts{.a_transposed = !problem.a.columns_contiguous(),
                         .b_transposed = !problem.b.columns_contiguous(),
                         .can_stage = problem.result.has_value() && can_pack(context, form.n),
                         .shared_bytes = context.device.shared_bytes_per_block};
  const auto rule = [facts](Violation (*check)(const SpaceFacts&, const WgmmaTile&)) {
    return [facts, check](const Configuration& c) { return check(facts, wgmma_tile(c)); };
  };
  return {
      .parameters = {{.name = "tile_m", .domain = {128, 256, 64}, .documentation = "rows of a tile"},
                     {.name = "tile_n",
                      .domain = {256, 192, 128, 64, 32, 16, 8},
                      .documentation = "columns of a tile"},
                     {.name = "stages",
                      .domain = {4, 3, 5, 6, 8},
                      .documentation = "steps of the sum under way to shared memory"},
                     {.name = "staged",
                      .domain = {2, 1, 0},
                      .documentation = "results leave 0: from registers, 1: by the copy engine, 2: the same, "
                                       "behind the next tile's products"},
                     {.name = "band",
                      .domain = {16, 8, 32},
                      .recompiles = false,
                      .documentation = "tile rows that blocks in flight share"}},
      .constraints = {{"the result leaves as its layout allows", rule(staging_rule)},
                      {"boxes of a transposed operand fill the tile", rule(boxes_rule)},
                      {"accumulators and waiting results fit the registers", rule(registers_rule)},
                      {"stages fit shared memory", rule(shared_rule)}}};
}

Estimate estimate_wgmma_matmul(const KernelContext& context, const WgmmaProblem& problem,
                               const Configuration& configuration) {
  const WgmmaTile tile = wgmma_tile(configuration);
  const core::DeviceFacts& device = context.device;
  const dsl::Function& graph = *context.plan.graph;
  const auto& form = std::get<Contraction>(context.kernel.form);
  const auto extent = [&](const std::vector<AxisId>& axes) {
    return static_cast<double>(std::max<std::int64_t>(extent_of(graph, axes, context.binding), 1));
  };
  const double batch = form.batch.empty() ? 1 : extent(form.batch), m = extent(form.m), n = extent(form.n);
  const double steps = std::ceil(extent(form.contracted) / WgmmaTile::tile_k);
  const double tiles_m = std::ceil(m / tile.tile_m), tiles_n = std::ceil(n / tile.tile_n);
  const double tiles = tiles_m * tiles_n * batch;
  const double multiprocessors = std::max(device.multiprocessors, 1);
  const double waves = std::ceil(tiles / multiprocessors), blocks = std::ceil(tiles / waves);

  Estimate estimate = roofline(context, {.blocks = static_cast<std::int64_t>(blocks),
                                         .threads = tile.threads(),
                                         .registers = tile.registers(),
                                         .shared_bytes = tile.shared_bytes()});
  const double bandwidth = device.copy_bytes_per_second > 0 ? device.copy_bytes_per_second : 3e12;
  const double rate = device.tensor16_flops > 0 ? device.tensor16_flops : 800e12;
  const double launch = device.launch_seconds > 0 ? device.launch_seconds : 4e-6;
  estimate.limit_seconds = std::max(estimate.bytes / bandwidth, estimate.operations / rate);

  constexpr double clock = 1.65e9;  // what the power limit leaves of it in a large product
  const TileCost cost = tile_cost(tile, steps);
  const double busy = waves * (cost.products + cost.around) / clock;
  // What blocks read of L2 is shared by those in flight: a band's rows and the columns they sweep.
  const double band = std::min<double>(static_cast<double>(configuration.get("band")), tiles_m);
  const double across = std::max(blocks / band, 1.0);
  const double read = tiles * steps * (tile.bytes_a() / across + tile.bytes_b() / std::max(band, 1.0));
  // Each stage under way hides latency: without enough of them the copy engine waits for device memory.
  const double in_flight = blocks * (tile.stages - 1) * tile.stage_bytes();
  const double reachable = std::min(bandwidth, in_flight / 1.0e-6);
  const double moved = std::max(read, estimate.bytes);
  estimate.seconds = std::max(busy, moved / reachable) * preference(tile, configuration.get("band")) + launch;
  // A packed operand is read and written once more.
  for (const auto& [operand, rows] : {std::pair{&problem.a, m}, {&problem.b, n}})
    if (operand->packed)
      estimate.seconds +=
          2 * batch * rows * extent(form.contracted) * WgmmaTile::element_bytes / bandwidth + launch;
  return estimate;
}

}  // namespace einkern::codegen::cuda
