#include "codegen/cuda/simt_matmul_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "codegen/cuda/product_form.h"
#include "codegen/cuda/roofline.h"

namespace einkern::codegen::cuda {

namespace {

using Violation = std::optional<std::string>;

/// What the rules need of a kernel, worked out once.
struct SpaceFacts {
  int element_bytes = 4;
  MatmulOperand a, b;
  core::DeviceFacts device;

  SimtMatmulTile tile(const Configuration& c) const { return simt_matmul_tile(c, element_bytes); }
  int registers(const SimtMatmulTile& tile) const {
    return tile.registers(a.passing_registers(tile) + b.passing_registers(tile));
  }
};

SpaceFacts space_facts(const KernelContext& context) {
  const auto& form = std::get<Contraction>(context.kernel.form);
  return {core::size_bytes(form.accumulator), matmul_operand(context, "a", form.a, form.m),
          matmul_operand(context, "b", form.b, form.n), context.device};
}

Violation warps_rule(const SpaceFacts&, const SimtMatmulTile& tile) {
  for (const auto& [block, part, way] : {std::tuple{tile.block_m, tile.lanes_m() * tile.thread_m, 'm'},
                                         {tile.block_n, tile.lanes_n() * tile.thread_n, 'n'}})
    if (block % part != 0)
      return fmt::format("block_{} {} is no multiple of a warp's {} = lanes x thread_{}", way, block, part,
                         way);
  const int threads = tile.threads();
  if (threads < 64) return fmt::format("threads {} < 64", threads);
  if (threads > 256) return fmt::format("threads {} > 256", threads);
  return std::nullopt;
}

Violation registers_rule(const SpaceFacts& facts, const SimtMatmulTile& tile) {
  const int needed = facts.registers(tile);
  const int limit = facts.device.max_registers_per_thread - 15;  // addresses vary: keep clear of spills
  if (needed > limit) return fmt::format("registers {} > {}", needed, limit);
  return std::nullopt;
}

/// A flat register block reads more for each product, and its kernels spill.
Violation shape_rule(const SpaceFacts&, const SimtMatmulTile& tile) {
  const int longer = std::max(tile.thread_m, tile.thread_n), shorter = std::min(tile.thread_m, tile.thread_n);
  if (longer <= 2 * shorter) return std::nullopt;
  return fmt::format("thread_m and thread_n {} > 2 x {}", longer, shorter);
}

Violation copies_rule(const SpaceFacts& facts, const SimtMatmulTile& tile) {
  for (const MatmulOperand* operand : {&facts.a, &facts.b}) {
    const int rows = operand->tile_rows(tile);
    const bool shared_out = operand->turned(tile)
                                ? tile.turn_pattern(rows).has_value()
                                : tile.copy_pattern(rows, operand->along_steps, operand->widest).has_value();
    if (!shared_out)
      return fmt::format("{} threads cannot share out a tile of {} x {}", tile.threads(), rows, tile.block_k);
  }
  return std::nullopt;
}

Violation turned_rule(const SpaceFacts& facts, const SimtMatmulTile& tile) {
  if (!tile.turned || facts.a.turnable || facts.b.turnable) return std::nullopt;
  return "turned 1, but no operand's 4-byte elements lie one after another along the sum";
}

Violation shared_rule(const SpaceFacts& facts, const SimtMatmulTile& tile) {
  const std::int64_t bytes = tile.shared_bytes(facts.a.along_steps, facts.b.along_steps);
  if (bytes <= facts.device.shared_bytes_per_block) return std::nullopt;
  return fmt::format("shared memory {} > {} bytes", bytes, facts.device.shared_bytes_per_block);
}

Violation stages_rule(const SpaceFacts& facts, const SimtMatmulTile& tile) {
  const auto asynchronous = [&](const MatmulOperand& operand) {
    return operand.copied && !operand.turned(tile);
  };
  if (asynchronous(facts.a) || asynchronous(facts.b) || tile.stages == 2) return std::nullopt;
  return fmt::format("stages {} > 2 without asynchronous copies", tile.stages);
}

/// Rate of multiply-adds in the accumulator's type, times 2, as a share of the device's f32 rate. CUDA C++
/// Programming Guide, "Throughput of Native Arithmetic Instructions": 32-bit integer products run at half the
/// f32 rate from 8.6 on; a 64-bit one takes several of them.
double operation_rate(const core::DeviceFacts& device, DType type) {
  const double f32 = device.f32_flops > 0 ? device.f32_flops : 5e12;
  switch (type) {
    case DType::f64:
      return device.f64_flops > 0 ? device.f64_flops : f32 / 32;
    case DType::i64:
    case DType::u64:
      return f32 / 8;
    case DType::i32:
    case DType::u32:
      return f32 / 2;
    default:
      return f32;
  }
}

/// Issue slots that a multiply-add takes with its register bank conflicts: two operands come at full rate if
/// the third is in the register file's reuse cache, and large register blocks reuse more. Counted in the
/// machine code of sm_90 (docs/performance.md).
double slots_per_product(const SimtMatmulTile& tile) {
  return tile.thread_m * tile.thread_n >= 128 ? 1.16 : 1.25;
}

/// Share of a warp's issue slots that are multiply-adds: an inner step reads two fragments from shared memory
/// and the copies of a tile, with their addresses and predicates, are spread over its steps.
double issue_share(const SpaceFacts& facts, const SimtMatmulTile& tile) {
  const double products = tile.thread_m * tile.thread_n;
  const double reads = static_cast<double>(tile.thread_m + tile.thread_n) / tile.chunk();
  double copies = 0;
  for (const MatmulOperand* operand : {&facts.a, &facts.b}) {
    const int rows = operand->tile_rows(tile);
    if (operand->turned(tile)) {
      const double lines = static_cast<double>(rows) * tile.block_k / TurnPattern::steps / tile.threads();
      const double loads = operand->line == 1 ? lines * TurnPattern::steps * 8 : lines * 3;
      copies += (loads + std::max(lines, 4.0)) / tile.block_k;
      continue;
    }
    const int width = std::min(operand->widest, 4);
    const double accesses = static_cast<double>(rows) / tile.threads() / width;
    // Copies of single elements also wait for one another (docs/performance.md).
    const double asynchronous = width == 1 ? 7 : 5;
    copies += accesses * (operand->copied ? asynchronous : 8 + (operand->along_steps ? width : 1));
  }
  const double loop = 24.0 / tile.block_k;
  return products / (products * slots_per_product(tile) + reads + copies + loop);
}

/// Time until the last of `blocks` has done its operations; `rate` is the whole device's.
double compute_seconds(const core::DeviceFacts& device, const BlockUse& use, double blocks,
                       double block_operations, double rate) {
  const double multiprocessors = std::max(device.multiprocessors, 1);
  const double resident = std::max(resident_blocks(device, use), 1);
  // A multiprocessor with few warps cannot hide the latency of shared memory and barriers.
  const auto seconds_of = [&](double on_one) {
    const double busy = std::min(1.0, 0.55 + 0.45 * on_one * use.threads / 256);
    return on_one * block_operations * multiprocessors / (rate * busy);
  };
  constexpr double fill_seconds = 1.5e-6;  // the first tiles of a block come from device memory
  const double waves = std::floor(blocks / (resident * multiprocessors));
  const double rest = std::ceil((blocks - waves * resident * multiprocessors) / multiprocessors);
  return waves * seconds_of(resident) + (rest > 0 ? seconds_of(rest) : 0) + fill_seconds * (waves + 1);
}

/// What measurements decide between configurations that the model cannot tell apart: small, so that the
/// search tries different tiles before variants of one.
double preference(const SimtMatmulTile& tile) {
  const bool large = tile.thread_m * tile.thread_n >= 128;
  // Which order gave fewer bank conflicts: the inner loop goes along the longer side of the block.
  const bool columns = tile.turned ? tile.thread_m >= tile.thread_n : large && tile.thread_m > tile.thread_n;
  double factor = tile.columns_outer == columns ? 1 : 1.02;
  // A small block has few products to hide the loads behind, with one stage ahead.
  if (tile.turned && !large) factor *= 1.12;
  if (tile.turned && tile.block_k == 16) factor *= 1.03;
  if (tile.stages == 2 && !tile.turned) factor *= 1.02;
  if (tile.stages == 4) factor *= 1.004;
  if (tile.band == 16) factor *= 1.002;
  if (tile.band == 4) factor *= 1.003;
  return factor;
}

}  // namespace

ConfigurationSpace simt_matmul_space(const KernelContext& context) {
  const SpaceFacts facts = space_facts(context);
  const auto rule = [facts](Violation (*check)(const SpaceFacts&, const SimtMatmulTile&)) {
    return [facts, check](const Configuration& c) { return check(facts, facts.tile(c)); };
  };
  return {
      .parameters =
          {{.name = "block_m", .domain = {128, 256, 64, 32}, .documentation = "rows of a block's tile"},
           {.name = "block_n", .domain = {128, 256, 64, 32}, .documentation = "columns of a block's tile"},
           {.name = "block_k", .domain = {16, 8}, .documentation = "steps of the sum a stage holds"},
           {.name = "thread_m", .domain = {16, 8, 4}, .documentation = "rows a thread holds"},
           {.name = "thread_n", .domain = {8, 16, 4}, .documentation = "columns a thread holds"},
           {.name = "stages", .domain = {3, 4, 2}, .documentation = "tiles in shared memory"},
           {.name = "splits", .domain = {1, 2, 4, 8, 16}, .documentation = "parts of the sum"},
           {.name = "turned",
            .domain = {0, 1},
            .documentation = "1: operands along the sum pass through registers and are turned there"},
           {.name = "columns_outer",
            .domain = {1, 0},
            .documentation = "1: the outer product goes column by column"},
           {.name = "band", .domain = {8, 16, 4}, .documentation = "tile rows that blocks in flight share"}},
      .constraints = {{"warps tile the block, 64 to 256 threads", rule(warps_rule)},
                      {"a thread's block is at most twice as long as wide", rule(shape_rule)},
                      {"stages without asynchronous copies: 2", rule(stages_rule)},
                      {"accumulators and fragments fit the registers", rule(registers_rule)},
                      {"what is turned lies along the sum", rule(turned_rule)},
                      {"threads share out the copies evenly", rule(copies_rule)},
                      {"stages fit shared memory", rule(shared_rule)}}};
}

Estimate estimate_simt_matmul(const KernelContext& context, const Configuration& configuration) {
  const SpaceFacts facts = space_facts(context);
  const SimtMatmulTile tile = facts.tile(configuration);
  const core::DeviceFacts& device = context.device;
  const auto& form = std::get<Contraction>(context.kernel.form);
  const auto [batch, m, n, steps] = product_extents(context);
  const BlockUse use{.threads = tile.threads(),
                     .registers = facts.registers(tile),
                     .shared_bytes = tile.shared_bytes(facts.a.along_steps, facts.b.along_steps)};
  Estimate estimate = roofline(context, use);  // bytes, operations and the hardware's limit
  const double rate = operation_rate(device, form.accumulator);
  const double bandwidth = device.copy_bytes_per_second > 0 ? device.copy_bytes_per_second : 300e9;
  const double launch = device.launch_seconds > 0 ? device.launch_seconds : 4e-6;
  estimate.limit_seconds = std::max(estimate.bytes / bandwidth, estimate.operations / rate);

  const double blocks = std::ceil(m / tile.block_m) * std::ceil(n / tile.block_n) * batch * tile.splits;
  const double tiles_k = std::ceil(std::ceil(steps / tile.block_k) / tile.splits);
  const double block_operations = 2.0 * tile.block_m * tile.block_n * tile.block_k * tiles_k;
  double seconds = compute_seconds(device, use, blocks, block_operations, rate * issue_share(facts, tile));
  const double tile_bytes =
      (tile.block_m + tile.block_n) * tile.block_k * static_cast<double>(facts.element_bytes);
  const double l2_seconds = blocks * tiles_k * tile_bytes / (2 * bandwidth);
  const double parts = tile.splits > 1 ? 2.0 * tile.splits * batch * m * n * facts.element_bytes : 0;
  seconds = std::max({seconds, l2_seconds, estimate.bytes / bandwidth}) + parts / bandwidth;
  estimate.seconds = seconds * preference(tile) + launch * (tile.splits > 1 ? 2 : 1);
  return estimate;
}

}  // namespace einkern::codegen::cuda
