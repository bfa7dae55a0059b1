// cuda.row_reduction: folds over the columns of rows, and what is computed from them. From a thread a row to
// all blocks a row: sums, norms, softmax, argmax, reductions of any axis, full reductions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "codegen/cuda/roofline.h"
#include "codegen/cuda/row_kernel.h"
#include "codegen/cuda/schedule_classes.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

RowMapping mapping_of(const Configuration& c) {
  return {.threads = static_cast<int>(c.get("threads")),
          .threads_per_row = static_cast<int>(c.get("threads_per_row")),
          .vector = static_cast<int>(c.get("vector")),
          .vectors = static_cast<int>(c.get("vectors")),
          .resident = c.get("resident") != 0,
          .rows_across_lanes = c.get("rows_across_lanes") != 0,
          .splits = static_cast<int>(c.get("splits"))};
}

/// What the mappings of one kernel are judged by.
struct RowFacts {
  std::int64_t rows = 1, columns = 0;
  int sweeps = 1;  // over the row: one a level of folds, one for stores of its elements
  int levels = 1;
  bool column_stores = false;
  bool contiguous_columns = false, contiguous_rows = false;
  int widest = 1;        // consecutive columns of one access that also divide the row
  int column_bytes = 0;  // that the folds read at each element
};

RowFacts facts_of(const KernelContext& context) {
  const RowShape shape = row_shape(context);
  const dsl::Function& graph = *context.plan.graph;
  RowFacts facts;
  facts.rows = extent_of(graph, shape.rows, context.binding);
  facts.columns = extent_of(graph, shape.columns, context.binding);
  facts.levels = static_cast<int>(shape.levels.size());
  facts.column_stores = !shape.column_stores.empty();
  facts.sweeps = facts.levels + (facts.column_stores ? 1 : 0);
  std::vector<ExpressionId> roots;
  for (const Fold& fold : shape.form.folds) roots.push_back(fold.body);
  const AxisId column = shape.columns.back();
  for (const ExpressionId read : reads_of(graph.arena, roots)) {
    const TensorId tensor{graph.arena[read].index};
    const TensorLayout& layout = context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
    const int bytes = core::size_bytes(graph[tensor].dtype);
    if (depends_on(graph.arena, read, column)) facts.column_bytes += bytes;
    if (movement(graph.arena, read, column, layout) == Movement::unit) facts.contiguous_columns = true;
    if (!shape.rows.empty() && movement(graph.arena, read, shape.rows.back(), layout) == Movement::unit)
      facts.contiguous_rows = true;
    facts.widest = std::max(facts.widest, vector_width(graph, read, column, context.specialisation));
  }
  while (facts.widest > 1 && !divides_axis(context, column, facts.widest)) facts.widest /= 2;
  return facts;
}

/// Columns that one block works through.
std::int64_t columns_of_block(const RowFacts& facts, const RowMapping& m) {
  return (facts.columns + m.splits - 1) / m.splits;
}

int words_in_flight(const RowFacts& facts, const RowMapping& m) {
  return facts.column_bytes * m.vector * m.vectors / 4;
}

using Verdict = std::optional<std::string>;

Verdict mapping_fault(const RowFacts& facts, const RowMapping& m) {
  if (m.threads_per_row > m.threads)
    return fmt::format("threads a row {} > threads a block {}", m.threads_per_row, m.threads);
  if (!m.rows_across_lanes) {
    const std::int64_t spare = m.rows_per_block() - facts.rows;
    if (spare > 0 && m.rows_per_block() > 1 && spare >= m.rows_per_block() / 2)
      return fmt::format("rows a block {} > rows {}", m.rows_per_block(), facts.rows);
    return std::nullopt;
  }
  if (m.vector > 1) return fmt::format("vector {} > 1 with rows across lanes", m.vector);
  if (m.rows_per_block() < 32) return fmt::format("rows a block {} < 32 lanes", m.rows_per_block());
  if (m.rows_per_block() > 256) return fmt::format("rows a block {} > 256", m.rows_per_block());
  return std::nullopt;
}

Verdict residence_fault(const RowFacts& facts, const RowMapping& m) {
  if (!m.resident) return std::nullopt;
  if (facts.sweeps == 1) return std::string("sweeps 1: a row that is read once need not stay");
  const std::int64_t tile = static_cast<std::int64_t>(m.threads_per_row) * m.vector, held = tile * m.vectors;
  if (held < facts.columns) return fmt::format("columns held {} < columns {}", held, facts.columns);
  if (held - tile >= std::max<std::int64_t>(facts.columns, 1) && m.vectors > 1)
    return fmt::format("columns held without the last vector {} >= columns {}", held - tile, facts.columns);
  return std::nullopt;
}

Verdict register_fault(const RowFacts& facts, const RowMapping& m) {
  constexpr int others = 48;  // indices, accumulators, one element's values
  const int words = words_in_flight(facts, m) + others, most = std::min(65536 / m.threads, 128);
  if (m.vectors == 1 || words <= most) return std::nullopt;
  return fmt::format("registers {} > {}", words, most);
}

Verdict split_fault(const RowFacts& facts, const RowMapping& m) {
  if (m.splits == 1) return std::nullopt;
  if (facts.column_stores) return fmt::format("splits {} > 1 with stores of the row's elements", m.splits);
  if (facts.levels > 1) return fmt::format("splits {} > 1 with folds {} deep", m.splits, facts.levels);
  const std::int64_t least = static_cast<std::int64_t>(m.threads_per_row) * m.vector;
  if (columns_of_block(facts, m) < least)
    return fmt::format("columns a block {} < {}", columns_of_block(facts, m), least);
  return std::nullopt;
}

class RowReductionSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cuda.row_reduction"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cuda; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    if (!std::holds_alternative<RowReduction>(context.kernel.form)) return "the kernel is no row reduction";
    return std::nullopt;
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    const RowFacts facts = facts_of(context);
    std::vector<std::int64_t> across = {facts.contiguous_rows && !facts.contiguous_columns ? 1 : 0};
    if (facts.contiguous_rows && facts.contiguous_columns) across = {0, 1};
    std::vector<std::int64_t> widths = {facts.widest};
    if (facts.widest > 1) widths.push_back(1);
    ConfigurationSpace space;
    space.parameters = {
        {.name = "rows_across_lanes",
         .domain = across,
         .documentation = "1: neighbouring lanes take neighbouring rows"},
        {.name = "threads", .domain = {256, 128, 512, 1024}, .documentation = "threads a block"},
        {.name = "threads_per_row",
         .domain = {32, 128, 256, 64, 16, 8, 4, 2, 1, 512, 1024},
         .documentation = "threads that share a row"},
        {.name = "vector", .domain = widths, .documentation = "consecutive columns of one access"},
        {.name = "vectors", .domain = {4, 2, 1, 8}, .documentation = "accesses a thread has in flight"},
        {.name = "resident",
         .domain = {1, 0},
         .documentation = "1: the row stays in registers and is read once"},
        {.name = "splits",
         .domain = {1, 8, 32, 128},
         .documentation = "blocks that share a row; a second kernel merges them"}};
    const auto rule = [&](std::string text, Verdict (*fault)(const RowFacts&, const RowMapping&)) {
      space.constraints.push_back(
          {std::move(text), [facts, fault](const Configuration& c) { return fault(facts, mapping_of(c)); }});
    };
    rule("threads that share a row stand in one block", mapping_fault);
    rule("a resident row is covered by its threads' vectors", residence_fault);
    rule("what a thread holds fits its registers", register_fault);
    rule("split rows have one level of folds and no stores of elements", split_fault);
    return space;
  }

  Estimate estimate(const KernelContext& context, const Configuration& c) const override {
    const RowFacts facts = facts_of(context);
    const RowMapping m = mapping_of(c);
    const double tile = static_cast<double>(m.threads_per_row) * m.vector;
    const double columns = static_cast<double>(std::max<std::int64_t>(columns_of_block(facts, m), 1));
    const double busy = columns / (std::max(1.0, std::ceil(columns / tile)) * tile);
    BlockUse use{
        .blocks = (facts.rows + m.rows_per_block() - 1) / m.rows_per_block() * m.splits,
        .threads = m.threads,
        .registers = std::min(48 + words_in_flight(facts, m), 255),
        .bytes_in_flight = busy * std::min<double>(columns / tile, m.vectors) * m.vector * facts.column_bytes,
        .launches = m.splits > 1 ? 2 : 1};
    const int rereads = m.resident ? 0 : facts.sweeps - 1;
    const double row_bytes = columns * facts.column_bytes;
    const bool cached = row_bytes * m.rows_per_block() * context.device.multiprocessors *
                            std::max(resident_blocks(context.device, use), 1) <
                        static_cast<double>(context.device.l2_bytes);
    use.traffic_factor = 1 + rereads * (cached ? 0.3 : 0.7);
    // A lane that walks a row of its own leaves the rest of each sector to the cache.
    if (!m.rows_across_lanes && m.threads_per_row * m.vector * std::max(facts.column_bytes, 1) < 32)
      use.traffic_factor *= 1.5;
    Estimate estimate = roofline(context, use);
    const double exchange = m.threads_per_row > 32 ? 0.6e-6 : 0.15e-6;
    const double waves =
        std::max(1.0, static_cast<double>(use.blocks) / (std::max(resident_blocks(context.device, use), 1) *
                                                         std::max(context.device.multiprocessors, 1)));
    estimate.seconds += waves * facts.levels * exchange * 0.25;
    return estimate;
  }

  core::Result<core::Emission> emit(const KernelContext& context, const Configuration& c) const override {
    const RowMapping mapping = mapping_of(c);
    ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), c.text()));
    const std::string entry = entry_name(context, *this, c);
    KernelWriter& kernel = module.add_kernel(entry);
    const LaunchShape launch = RowKernelEmitter(kernel, mapping).emit();
    module.finish_kernel(kernel, launch);
    if (mapping.splits > 1) {
      KernelWriter& merge = module.add_kernel(entry + "_merge");
      const LaunchShape merge_launch = emit_row_merge(merge, mapping);
      module.finish_kernel(merge, merge_launch);
    }
    return std::move(module).finish();
  }
};

}  // namespace

const Schedule& row_reduction_schedule() {
  static const RowReductionSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
