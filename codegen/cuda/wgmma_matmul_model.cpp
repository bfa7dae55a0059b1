#include "codegen/cuda/wgmma_matmul_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "codegen/cuda/epilogue.h"
#include "codegen/cuda/roofline.h"

namespace einkern::codegen::cuda {

namespace {

using Violation = std::optional<std::string>;

/// What the rules need of a problem, worked out once.
struct SpaceFacts {
  bool a_transposed = false, b_transposed = false, can_stage = false;
  int epilogue_registers = 0;
  std::int64_t shared_bytes = 0;
};

Violation shared_rule(const SpaceFacts& facts, const WgmmaTile& tile) {
  if (tile.shared_bytes() <= facts.shared_bytes) return std::nullopt;
  return fmt::format("shared memory {} > {} bytes", tile.shared_bytes(), facts.shared_bytes);
}

/// Accumulators with what stands beside them: the pairs of the tile before while they are summed, the
/// epilogue's values when they are done; and what addresses and the loop need.
Violation registers_rule(const SpaceFacts& facts, const WgmmaTile& tile) {
  const int waiting = tile.staged && tile.deferred ? tile.accumulators() / 2 : 0;
  const int needed = tile.accumulators() + std::max(waiting, facts.epilogue_registers) + 30;
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

Violation turns_rule(const SpaceFacts&, const WgmmaTile& tile) {
  if (!tile.turns || !tile.staged || !tile.deferred) return std::nullopt;
  return "turns 1 with staged 2: a tile hides behind the other warp group's products or the next one's, not "
         "both";
}

/// Operands whose rows are contiguous come in boxes of 64 of them.
Violation boxes_rule(const SpaceFacts& facts, const WgmmaTile& tile) {
  if (!facts.b_transposed || tile.tile_n % WgmmaTile::slab_columns == 0) return std::nullopt;
  return fmt::format("tile_n {} is no multiple of a box's {} columns", tile.tile_n, WgmmaTile::slab_columns);
}

/// Whether the stores hold more than the sum itself.
bool computes_on(const KernelContext& context, ExpressionId fold) {
  return std::any_of(context.kernel.stores.begin(), context.kernel.stores.end(),
                     [&](const Store& store) { return store.value != fold; });
}

/// Cycles of one tile on a multiprocessor that works on nothing else.
struct TileCost {
  double products = 0;  // of the tensor cores
  double around = 0;    // in which the warp groups that share the tile do not multiply: first stages, results
};

/// m64nNk16 takes N / 2 cycles of its warp group's tensor core; four of them share the shared memory's 128
/// bytes a cycle, which small N exceed. `epilogue` is the operations of one result beside its sum. The cycles
/// around were fitted to measurements on an H200 (docs/performance.md).
TileCost tile_cost(const WgmmaTile& tile, double steps, double epilogue) {
  const double instructions = static_cast<double>(WgmmaTile::tile_k) / WgmmaTile::step * tile.tile_m / 64;
  const double of_tensor_cores = tile.tile_n / 2.0;
  const double of_shared_memory = (64.0 + tile.tile_n) * WgmmaTile::step * WgmmaTile::element_bytes / 128;
  const double elements = tile.tile_m * tile.tile_n, results = elements / 32768;
  const double leaving = !tile.staged ? 6000 * results : tile.deferred ? 900 * results : 2000 * results;
  constexpr double operations_a_cycle = 70;  // with the conversions and waits between them
  return {steps * instructions * std::max(of_tensor_cores, of_shared_memory),
          1000 + leaving + elements * epilogue / operations_a_cycle};
}

/// Cycles from one tile to the next.
double tile_cycles(const WgmmaTile& tile, const TileCost& cost) {
  if (tile.turns) return std::max(cost.products + 200, (cost.products + cost.around) / 2);
  // One warp group alone does not overlap its waits with another's products.
  return cost.products * (tile.consumers() == 1 ? 1.25 : 1) + cost.around;
}

/// Large products run against the power limit, so bytes moved for each multiply-add cost time also where they
/// are hidden: those of a tile from L2, and those of an instruction from shared memory. The weights are
/// fitted to 4096, 8192 and 2048 x 28672 x 4096 on an H200 (docs/performance.md).
double energy_factor(const WgmmaTile& tile) {
  const double from_l2 = 1.0 / tile.tile_m + 1.0 / tile.tile_n;
  const double from_shared = 1.0 / WgmmaTile::block_rows + 1.0 / tile.tile_n;
  return 1 + 6 * (from_l2 - (1.0 / 128 + 1.0 / 256)) + 6 * (from_shared - (1.0 / 64 + 1.0 / 256));
}

/// What measurements decide between configurations that the model cannot tell apart.
double preference(const WgmmaTile& tile, std::int64_t band) {
  double factor = energy_factor(tile) * (tile.turns ? 1.01 : 1);
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
                         .epilogue_registers = computes_on(context, form.fold) ? 24 : 0,
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
                     {.name = "turns",
                      .domain = {0, 1},
                      .documentation = "1: multiplying warp groups take turns, each with a tile of its own"},
                     {.name = "band",
                      .domain = {16, 8, 32},
                      .recompiles = false,
                      .documentation = "tile rows that blocks in flight share"}},
      .constraints = {{"the result leaves as its layout allows", rule(staging_rule)},
                      {"boxes of a transposed operand fill the tile", rule(boxes_rule)},
                      {"results hide behind one thing", rule(turns_rule)},
                      {"accumulators and waiting results fit the registers", rule(registers_rule)},
                      {"stages fit shared memory", rule(shared_rule)}}};
}

Estimate estimate_wgmma_matmul(const KernelContext& context, const WgmmaProblem& problem,
                               const Configuration& configuration) {
  const WgmmaTile tile = wgmma_tile(configuration);
  const core::DeviceFacts& device = context.device;
  const ProductExtents extents = product_extents(context);
  const auto [batch, m, n, sum] = extents;
  const double steps = std::ceil(sum / WgmmaTile::tile_k);
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
  const double results = batch * m * n;
  const double epilogue = std::max(0.0, estimate.operations / results - 2 * sum);
  const TileCost cost = tile_cost(tile, steps, epilogue);
  // The last tile's results have nothing to hide behind.
  const double busy = (waves * tile_cycles(tile, cost) + (tile.turns ? cost.around : 0)) / clock;
  // What blocks read of L2 is shared by those in flight: a band's rows and the columns they sweep.
  const double band = std::min<double>(static_cast<double>(configuration.get("band")), tiles_m);
  const double across = std::max(blocks / band, 1.0);
  const double read = tiles * steps * (tile.bytes_a() / across + tile.bytes_b() / std::max(band, 1.0));
  // Each stage under way hides latency: without enough of them the copy engine waits for device memory.
  const double in_flight = blocks * (tile.stages - 1) * tile.stage_bytes();
  const double reachable = std::min(bandwidth, in_flight / 1.0e-6);
  const double moved = std::max(read, estimate.bytes);
  const double moving = moved / reachable;
  constexpr double seen = 0.15;  // of the shorter one: the two do not overlap to the last
  estimate.seconds =
      (std::max(busy, moving) + seen * std::min(busy, moving)) * preference(tile, configuration.get("band")) +
      launch;
  estimate.seconds += packing_seconds(problem, extents, bandwidth, launch);
  return estimate;
}

}  // namespace einkern::codegen::cuda
