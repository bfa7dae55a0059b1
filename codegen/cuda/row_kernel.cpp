#include "codegen/cuda/row_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/monoid.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

using Accumulator = ExpressionEmitter::Accumulator;

const TensorLayout& layout_of(const KernelContext& context, TensorId tensor) {
  return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
}

/// The axes with the one last along which most reads lie contiguous, so that neighbouring threads read
/// neighbouring elements.
std::vector<AxisId> contiguous_last(const KernelContext& context, std::vector<AxisId> axes,
                                    const std::vector<ExpressionId>& roots) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  std::size_t best = axes.size();
  int most = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    int count = 0;
    for (const ExpressionId read : reads_of(arena, roots))
      count +=
          movement(arena, read, axes[i], layout_of(context, TensorId{arena[read].index})) == Movement::unit;
    if (count >= most && count > 0) {
      most = count;
      best = i;
    }
  }
  if (best < axes.size())
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(best),
                axes.begin() + static_cast<std::ptrdiff_t>(best) + 1, axes.end());
  return axes;
}

std::vector<ExpressionId> fold_bodies(const RowReduction& form) {
  std::vector<ExpressionId> bodies;
  for (const Fold& fold : form.folds) bodies.push_back(fold.body);
  return bodies;
}

/// Folds by depth: a body may hold the nodes of earlier levels.
std::vector<std::vector<Fold>> levels_of(const dsl::ExpressionArena& arena, const RowReduction& form) {
  std::vector<std::size_t> depth(form.folds.size(), 0);
  std::vector<std::vector<Fold>> levels;
  for (std::size_t i = 0; i < form.folds.size(); ++i) {
    dsl::visit_nodes(arena, form.folds[i].body, [&](ExpressionId id) {
      for (std::size_t j = 0; j < i; ++j)
        if (form.folds[j].node == id) depth[i] = std::max(depth[i], depth[j] + 1);
    });
    if (levels.size() <= depth[i]) levels.resize(depth[i] + 1);
    levels[depth[i]].push_back(form.folds[i]);
  }
  return levels;
}

bool has_argument(const RowReduction& form) {
  return std::any_of(form.folds.begin(), form.folds.end(),
                     [](const Fold& fold) { return carries_index(fold.reduction); });
}

/// Combines over neighbouring lanes, a power of two of them; all of them get the result.
void shuffle_over_lanes(ExpressionEmitter& emitter, const Accumulator& accumulator, int lanes) {
  KernelWriter& kernel = emitter.kernel();
  const std::string mask = kernel.names().unique("i", "mask");
  kernel.body().line("#pragma unroll");
  kernel.body().open(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)", mask, lanes / 2));
  const auto moved = [&](const std::string& variable) {
    return fmt::format("ek_shuffle_xor({}, {})", variable, mask);
  };
  emitter.combine(accumulator, moved(accumulator.value),
                  accumulator.index.empty() ? "" : moved(accumulator.index));
  kernel.body().close();
}

}  // namespace

RowShape row_shape(const KernelContext& context) {
  const auto& form = std::get<RowReduction>(context.kernel.form);
  RowShape shape{form, form.rows, form.columns, levels_of(context.plan.graph->arena, form), {}, {}};
  std::vector<ExpressionId> roots = fold_bodies(form);
  for (const Store& store : context.kernel.stores) {
    roots.push_back(store.value);
    const bool has_columns = std::any_of(store.axes.begin(), store.axes.end(), [&](AxisId axis) {
      return std::find(form.columns.begin(), form.columns.end(), axis) != form.columns.end();
    });
    (has_columns ? shape.column_stores : shape.row_stores).push_back(store);
  }
  shape.rows = contiguous_last(context, form.rows, roots);
  if (!has_argument(form)) shape.columns = contiguous_last(context, form.columns, roots);
  return shape;
}

RowKernelEmitter::RowKernelEmitter(KernelWriter& kernel, const RowMapping& mapping)
    : kernel_(kernel),
      emitter_(kernel),
      mapping_(mapping),
      shape_(row_shape(kernel.context())),
      block_(emitter_, shape_.columns.back(), mapping.vector, fold_bodies(shape_.form)) {}

LaunchShape RowKernelEmitter::emit() {
  const core::SizeExpression rows = product_of_sizes(kernel_, shape_.rows);
  LaunchShape launch{.threads = mapping_.threads};
  const LinearGrid grid = open_linear_grid(kernel_, rows, mapping_.rows_per_block());
  launch.grid[0] = grid.grid;
  if (mapping_.splits > 1) launch.grid[1] = mapping_.splits;
  {
    const ExpressionEmitter::Scope scope(emitter_);
    bind_row(grid);
    bind_columns();
    block_.declare(mapping_.vectors);
    if (mapping_.resident && block_.has_reads()) {
      body().comment("the row, once from memory");
      load_tile(begin_);
    }
    for (const std::vector<Fold>& level : shape_.levels) emit_level(level);
    if (mapping_.splits == 1) {
      if (!shape_.row_stores.empty()) emit_row_stores();
      if (!shape_.column_stores.empty()) emit_column_stores();
    }
    if (grid.loop) body().line("__syncthreads();");
  }
  close_linear_grid(kernel_, grid);
  return launch;
}

void RowKernelEmitter::bind_row(const LinearGrid& grid) {
  const int per_block = mapping_.rows_per_block();
  const std::string_view type = kernel_.index_type();
  member_ = kernel_.names().unique("i", "member");
  row_in_block_ = kernel_.names().unique("i", "row_in_block");
  const std::string members = kernel_.constant("members", mapping_.threads_per_row);
  body().comment(mapping_.rows_across_lanes
                     ? "lanes on neighbouring rows; the members of a row stand rows apart"
                     : "the members of a row are neighbouring threads");
  if (mapping_.rows_across_lanes) {
    const std::string rows = kernel_.constant("rows", per_block);
    body().line(fmt::format("const int {} = threadIdx.x / {};", member_, rows));
    body().line(fmt::format("const int {} = threadIdx.x % {};", row_in_block_, rows));
  } else if (per_block > 1) {
    body().line(fmt::format("const int {} = threadIdx.x % {};", member_, members));
    body().line(fmt::format("const int {} = threadIdx.x / {};", row_in_block_, members));
  } else {
    body().line(fmt::format("const int {} = threadIdx.x;", member_));
  }
  row_ = kernel_.names().unique("i",
                                shape_.rows.size() == 1 ? kernel_.graph().arena[shape_.rows[0]].name : "row");
  if (per_block == 1) {
    body().line(fmt::format("const {0} {1} = ({0}){2};", type, row_, grid.block));
  } else {
    const std::string unclamped = kernel_.names().unique("i", "row_or_more");
    const std::string rows = kernel_.extent(product_of_sizes(kernel_, shape_.rows), "rows");
    body().line(fmt::format("const {0} {1} = ({0}){2} * {3} + {4};", type, unclamped, grid.block, per_block,
                            row_in_block_));
    body().comment("threads beyond the last row compute it too, and write nothing");
    body().line(fmt::format("const {0} {1} = min({2}, {3} - 1);", type, row_, unclamped, rows));
    active_ = fmt::format("{} < {}", unclamped, rows);
  }
  bind_axes_from_flat(emitter_, row_, shape_.rows);
}

void RowKernelEmitter::bind_columns() {
  const core::SizeExpression size = product_of_sizes(kernel_, shape_.columns);
  end_ = kernel_.extent(size, "columns");
  begin_ = "0";
  if (mapping_.splits == 1) return;
  const core::SizeExpression chunk =
      core::ceil_divide(size, static_cast<std::int64_t>(mapping_.splits) * mapping_.vector) * mapping_.vector;
  const std::string chunk_text = kernel_.extent(chunk, "chunk");
  const std::string_view type = kernel_.index_type();
  body().comment("this block's part of the row");
  begin_ = kernel_.names().unique("i", "begin");
  body().line(
      fmt::format("const {0} {1} = min(({0})blockIdx.y * {2}, {3});", type, begin_, chunk_text, end_));
  const std::string end = kernel_.names().unique("i", "end");
  body().line(fmt::format("const {} {} = min({} + {}, {});", type, end, begin_, chunk_text, end_));
  end_ = end;
}

void RowKernelEmitter::open_vector_loop(const std::string& tile, std::string& slot) {
  const bool loop = mapping_.vectors > 1;
  const std::string_view type = kernel_.index_type();
  const std::string members = kernel_.constant("members", mapping_.threads_per_row);
  slot = loop ? kernel_.names().unique("i", "slot") : std::string();
  if (loop) {
    body().line("#pragma unroll");
    body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", slot,
                            kernel_.constant("vectors", mapping_.vectors)));
  }
  const std::string place = loop ? fmt::format("({} * {} + {})", slot, members, member_) : member_;
  const std::string scaled = mapping_.vector > 1 ? fmt::format("{} * {}", place, mapping_.vector) : place;
  const bool single = shape_.columns.size() == 1;
  const std::string column =
      kernel_.names().unique("i", single ? kernel_.graph().arena[shape_.columns[0]].name : "column");
  body().line(fmt::format("const {} {} = {};", type, column,
                          tile == "0" ? without_parentheses(scaled) : fmt::format("{} + {}", tile, scaled)));
  body().open(fmt::format("if ({} < {})", column, end_));
  bind_axes_from_flat(emitter_, column, shape_.columns);
}

void RowKernelEmitter::load_tile(const std::string& tile) {
  std::string slot;
  const ExpressionEmitter::Scope scope(emitter_);
  open_vector_loop(tile, slot);
  block_.load(slot, {});
  emitter_.close_blocks(mapping_.vectors > 1 ? 2 : 1);
}

void RowKernelEmitter::for_each_vector(const std::function<void(const std::string&)>& emit) {
  std::string tile = begin_;
  const int per_tile = mapping_.threads_per_row * mapping_.vector * mapping_.vectors;
  if (!mapping_.resident) {
    tile = kernel_.names().unique("i", "tile");
    body().open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", kernel_.index_type(), tile, begin_,
                            end_, per_tile));
    if (block_.has_reads()) load_tile(tile);
  }
  {
    std::string slot;
    const ExpressionEmitter::Scope scope(emitter_);
    open_vector_loop(tile, slot);
    emit(slot);
    emitter_.close_blocks(mapping_.vectors > 1 ? 2 : 1);
  }
  if (!mapping_.resident) body().close();
}

void RowKernelEmitter::emit_level(const std::vector<Fold>& folds) {
  std::vector<Running> running;
  std::string names;
  for (const Fold& fold : folds)
    names += (names.empty() ? "" : ", ") + std::string(dsl::reduction_name(fold.reduction));
  body().comment(names + " over the row");
  for (const Fold& fold : folds) {
    running.push_back(
        {fold, emitter_.declare_accumulator(fold.reduction, kernel_.graph().arena[fold.body].type,
                                            dsl::reduction_name(fold.reduction))});
    emitter_.hoist(fold.body, shape_.columns);
  }
  for_each_vector([&](const std::string& slot) {
    const bool loop = mapping_.vector > 1;
    const std::string element = loop ? kernel_.names().unique("i", "element") : "0";
    if (loop) {
      body().line("#pragma unroll");
      body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", element, mapping_.vector));
    }
    const std::string first = emitter_.axis_text(shape_.columns.back());
    const ExpressionEmitter::Scope scope(emitter_);
    if (loop) emitter_.bind_axis(shape_.columns.back(), fmt::format("({} + {})", first, element));
    block_.bind(slot, element);
    const std::string index = without_parentheses(emitter_.axis_text(shape_.columns.back()));
    for (const Running& r : running) emitter_.accumulate(r.accumulator, r.fold.body, index);
    if (loop) body().close();
  });
  for (const Running& r : running) reduce_over_members(r.accumulator);
  if (mapping_.splits > 1) return emit_partials(running);
  for (const Running& r : running) emitter_.bind_node(r.fold.node, emitter_.result(r.accumulator));
}

void RowKernelEmitter::reduce_over_members(const Accumulator& accumulator) {
  if (mapping_.threads_per_row == 1) return;
  if (mapping_.rows_across_lanes) return exchange_in_shared(accumulator);
  shuffle_over_lanes(emitter_, accumulator, std::min(mapping_.threads_per_row, 32));
  if (mapping_.threads_per_row > 32) exchange_in_shared(accumulator);
}

/// Each member (or each warp of them) puts its part into shared memory; all members read all parts, in one
/// order.
void RowKernelEmitter::exchange_in_shared(const Accumulator& accumulator) {
  const bool by_member = mapping_.rows_across_lanes;
  const int parts = by_member ? mapping_.threads_per_row : mapping_.threads_per_row / 32;
  const int count = by_member ? mapping_.threads : mapping_.threads / 32;
  const std::string value_name = kernel_.names().unique("shared", accumulator.value.substr(2));
  const std::string index_name =
      accumulator.index.empty() ? "" : kernel_.names().unique("shared", accumulator.index.substr(2));
  body().line(fmt::format("__shared__ {} {}[{}];", value_type(accumulator.type, kernel_.arithmetic()),
                          value_name, count));
  if (!index_name.empty())
    body().line(fmt::format("__shared__ {} {}[{}];", kernel_.index_type(), index_name, count));
  const std::string own = by_member ? "threadIdx.x" : "threadIdx.x / 32";
  const std::string condition = by_member ? "" : "if (threadIdx.x % 32 == 0) ";
  body().line(fmt::format("{}{}[{}] = {};", condition, value_name, own, accumulator.value));
  if (!index_name.empty())
    body().line(fmt::format("{}{}[{}] = {};", condition, index_name, own, accumulator.index));
  body().line("__syncthreads();");
  body().line(fmt::format(
      "{} = {};", accumulator.value,
      without_parentheses(identity_text(accumulator.reduction, accumulator.type, kernel_.arithmetic()))));
  if (!index_name.empty()) body().line(fmt::format("{} = -1;", accumulator.index));
  const std::string part = kernel_.names().unique("i", "part");
  body().line("#pragma unroll");
  body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", part, parts));
  const std::string at =
      by_member ? fmt::format("{} * {} + {}", part, mapping_.rows_per_block(), row_in_block_)
      : mapping_.rows_per_block() > 1 ? fmt::format("{} * {} + {}", row_in_block_, parts, part)
                                      : part;
  emitter_.combine(accumulator, fmt::format("{}[{}]", value_name, at),
                   index_name.empty() ? "" : fmt::format("{}[{}]", index_name, at));
  body().close();
}

void RowKernelEmitter::emit_row_stores() {
  body().comment("one member writes the row's results");
  body().open(!active_.empty() ? fmt::format("if ({} == 0 && {})", member_, active_)
                               : fmt::format("if ({} == 0)", member_));
  {
    const ExpressionEmitter::Scope scope(emitter_);
    emitter_.store_all(shape_.row_stores);
  }
  body().close();
}

void RowKernelEmitter::emit_column_stores() {
  body().comment("the row's elements");
  std::vector<ExpressionId> values;
  for (const Store& store : shape_.column_stores) {
    emitter_.hoist(store.value, shape_.columns);
    values.push_back(store.value);
  }
  if (!active_.empty()) body().open(fmt::format("if ({})", active_));
  for_each_vector([&](const std::string& slot) {
    VectorBlock others(emitter_, shape_.columns.back(), mapping_.vector, values, block_.reads());
    others.declare(1);
    others.load("", {});
    const VectorBlock::Hooks hooks{
        .bind_element = [&](const std::string& element) { block_.bind(slot, element); }};
    others.emit_stores(shape_.column_stores, emitter_.axis_text(shape_.columns.back()), "", hooks);
  });
  if (!active_.empty()) body().close();
}

namespace {

/// Scratch of one fold's partial results: [row][split].
struct Partials {
  std::string value, index;
};

Partials partials_of(KernelWriter& kernel, const Accumulator& accumulator, std::size_t number,
                     const RowMapping& mapping, const std::vector<AxisId>& rows, bool written) {
  const core::SizeExpression count = product_of_sizes(kernel, rows) * mapping.splits;
  Partials partials;
  partials.value = kernel.scratch(fmt::format("partial_{}", number), accumulator.type,
                                  count * core::size_bytes(accumulator.type), written);
  const DType index_type = kernel.narrow() ? DType::i32 : DType::i64;
  if (!accumulator.index.empty())
    partials.index = kernel.scratch(fmt::format("partial_{}_index", number), index_type,
                                    count * core::size_bytes(index_type), written);
  return partials;
}

}  // namespace

void RowKernelEmitter::emit_partials(const std::vector<Running>& running) {
  body().comment("one member keeps the part's results for the second kernel");
  body().open(!active_.empty() ? fmt::format("if ({} == 0 && {})", member_, active_)
                               : fmt::format("if ({} == 0)", member_));
  const std::string at =
      fmt::format("{} * {} + blockIdx.y", row_, kernel_.constant("splits", mapping_.splits));
  for (std::size_t i = 0; i < running.size(); ++i) {
    const Accumulator& accumulator = running[i].accumulator;
    const Partials partials = partials_of(kernel_, accumulator, i, mapping_, shape_.rows, true);
    body().line(fmt::format(
        "{}[{}] = {};", partials.value, at,
        converted_store(accumulator.type, accumulator.type, accumulator.value, kernel_.arithmetic())));
    if (!accumulator.index.empty())
      body().line(fmt::format("{}[{}] = {};", partials.index, at, accumulator.index));
  }
  body().close();
}

LaunchShape emit_row_merge(KernelWriter& kernel, const RowMapping& mapping) {
  constexpr int threads = 128, lanes = 32;
  const RowShape shape = row_shape(kernel.context());
  ExpressionEmitter emitter(kernel);
  const core::SizeExpression rows = product_of_sizes(kernel, shape.rows);
  const LinearGrid grid = open_linear_grid(kernel, rows, threads / lanes);
  const std::string_view type = kernel.index_type();
  const std::string row = kernel.names().unique("i", "row"), own = kernel.names().unique("i", "row_or_more");
  const std::string row_count = kernel.extent(rows, "rows");
  kernel.body().comment("a warp a row: its parts, in the same order each time");
  kernel.body().line(fmt::format("const {0} {1} = ({0})({2} * {3} + threadIdx.x / {4});", type, own,
                                 grid.block, threads / lanes, lanes));
  kernel.body().line(fmt::format("const {0} {1} = {2} < {3} ? {2} : ({0})0;", type, row, own, row_count));
  const ExpressionEmitter::Scope scope(emitter);
  bind_axes_from_flat(emitter, row, shape.rows);
  const std::vector<Fold>& folds = shape.levels.front();
  std::vector<Accumulator> accumulators;
  for (const Fold& fold : folds)
    accumulators.push_back(emitter.declare_accumulator(fold.reduction, kernel.graph().arena[fold.body].type,
                                                       dsl::reduction_name(fold.reduction)));
  const std::string split = kernel.names().unique("i", "split"),
                    splits = kernel.constant("splits", mapping.splits);
  kernel.body().open(
      fmt::format("for (int {0} = threadIdx.x % {1}; {0} < {2}; {0} += {1})", split, lanes, splits));
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const Partials partials = partials_of(kernel, accumulators[i], i, mapping, shape.rows, false);
    const std::string at = fmt::format("{} * {} + {}", row, splits, split);
    emitter.combine(
        accumulators[i],
        converted_load(accumulators[i].type, fmt::format("{}[{}]", partials.value, at), kernel.arithmetic()),
        partials.index.empty() ? "" : fmt::format("{}[{}]", partials.index, at));
  }
  kernel.body().close();
  for (std::size_t i = 0; i < folds.size(); ++i) {
    shuffle_over_lanes(emitter, accumulators[i], lanes);
    emitter.bind_node(folds[i].node, emitter.result(accumulators[i]));
  }
  kernel.body().open(fmt::format("if (threadIdx.x % {} == 0 && {} < {})", lanes, own, row_count));
  {
    const ExpressionEmitter::Scope inner(emitter);
    emitter.store_all(shape.row_stores);
  }
  kernel.body().close();
  close_linear_grid(kernel, grid);
  return {.grid = {grid.grid, 1, 1}, .threads = threads};
}

}  // namespace einkern::codegen::cuda
