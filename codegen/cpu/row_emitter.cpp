#include "codegen/cpu/row_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/cost.h"
#include "codegen/cpu/expression_emitter.h"
#include "codegen/cpu/task_grid.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {
namespace {

using core::SizeExpression;

const RowReduction& form_of(const KernelContext& context) {
  return std::get<RowReduction>(context.kernel.form);
}

/// Every expression in which rows or columns occur: bodies hold the nodes of earlier folds, stores those of
/// all.
std::vector<ExpressionId> values_of(const KernelContext& context) {
  std::vector<ExpressionId> values;
  for (const Fold& fold : form_of(context).folds) values.push_back(fold.body);
  for (const Store& store : context.kernel.stores) values.push_back(store.value);
  return values;
}

bool names_axis(const Store& store, const std::vector<AxisId>& axes) {
  return std::any_of(store.axes.begin(), store.axes.end(),
                     [&](AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
}

/// Stores that name any of the axes: those that do not must not keep axes from being merged.
std::vector<Store> stores_over(const KernelContext& context, const std::vector<AxisId>& axes) {
  std::vector<Store> stores;
  for (const Store& store : context.kernel.stores)
    if (names_axis(store, axes)) stores.push_back(store);
  return stores;
}

AxisGroup group_of(const KernelContext& context, const std::vector<AxisId>& axes) {
  return AxisGroup(context, axes, values_of(context), stores_over(context, axes));
}

}  // namespace

RowChoice row_choice(const Configuration& configuration) {
  return {configuration.get("across_rows") != 0, static_cast<int>(configuration.get("lanes")),
          static_cast<int>(configuration.get("vectors")), configuration.get("split") != 0,
          configuration.get("chunk")};
}

bool has_flat_columns(const KernelContext& context, int lanes) {
  AxisGroup columns = group_of(context, form_of(context).columns);
  return columns.is_computed() && columns.keeps_lanes_together(lanes);
}

bool may_split(const KernelContext& context) {
  AxisGroup columns = group_of(context, form_of(context).columns);
  return columns.is_computed() && columns.is_single_run();
}

bool may_go_across_rows(const KernelContext& context, int lanes) {
  const RowReduction& form = form_of(context);
  if (form.rows.empty()) return false;
  AxisGroup rows = group_of(context, form.rows);
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  for (AxisId column : form.columns)
    for (ExpressionId bound : {arena[column].low, arena[column].high})
      if (depends_on(arena, bound, rows.innermost())) return false;
  return rows.keeps_lanes_together(lanes);
}

RowEmitter::RowEmitter(const KernelContext& context, const RowChoice& choice, KernelModule& module)
    : context_(context),
      form_(form_of(context)),
      choice_(choice),
      module_(module),
      rows_(group_of(context, form_.rows)),
      columns_(group_of(context, form_.columns)),
      flat_(has_flat_columns(context, choice.across_rows ? 1 : choice.lanes) &&
            (!choice.across_rows || columns_.is_single_run())) {}

void RowEmitter::emit() { choice_.split ? emit_split() : emit_whole_rows(); }

bool RowEmitter::is_column_store(const Store& store) const { return names_axis(store, form_.columns); }

bool RowEmitter::stores_columns() const {
  const std::vector<Store>& stores = context_.kernel.stores;
  return std::any_of(stores.begin(), stores.end(),
                     [&](const Store& store) { return is_column_store(store); });
}

ReductionEmitter RowEmitter::reduction(IrWriter& writer, const Fold& fold) const {
  return ReductionEmitter(writer, fold.reduction, context_.plan.graph->arena[fold.body].type);
}

void RowEmitter::set_rows(ExpressionEmitter& emitter, const Rows& rows) const {
  if (!form_.rows.empty()) rows_.set_lanes(emitter, rows.first, rows.lanes);
  for (std::size_t f = 0; f < rows.results.size(); ++f)
    emitter.set_value(form_.folds[f].node, rows.results[f]);
}

/// Row by row, or `vectors` vectors of rows together, then single vectors, then the rows that are left.
void RowEmitter::for_each_row_set(EntryFrame& frame, const IrValue& first, const IrValue& last,
                                  const std::function<void(RowSet&)>& body) {
  IrWriter& writer = frame.writer();
  auto run = [&](const IrValue& at, int lanes, int vectors) {
    RowSet set;
    for (int v = 0; v < vectors; ++v)
      set.push_back({writer.add(at, IrWriter::integer(v * lanes), "row"), lanes, {}});
    body(set);
  };
  IrValue begin = first;
  if (choice_.across_rows) {
    for (int vectors : {choice_.vectors, 1}) {
      int step = vectors * choice_.lanes;
      if (vectors == 1 && choice_.vectors == 1 && begin.text != first.text) continue;
      IrValue whole = writer.binary("and", writer.subtract(last, begin), IrWriter::integer(-step), "whole");
      IrValue end = writer.add(begin, whole, "rows.end");
      writer.loop("row", begin, end, IrWriter::integer(step),
                  [&](const IrValue& row) { run(row, choice_.lanes, vectors); });
      begin = end;
    }
  }
  writer.loop("row", begin, last, IrWriter::integer(1), [&](const IrValue& row) { run(row, 1, 1); });
}

// --- folds ---

IrWriter::Values RowEmitter::fold_element(ExpressionEmitter& emitter, const Fold& fold, const Values& carried,
                                          int lanes) const {
  IrWriter& writer = emitter.writer();
  const dsl::ExpressionArena& arena = context_.plan.graph->arena;
  const dsl::Expression& body = arena[fold.body];
  ReductionEmitter reduce = reduction(writer, fold);
  if (fold.reduction == dsl::Reduction::sum && body.op == dsl::Op::multiply)
    return reduce.combine_product(carried, writer.splat(emitter.value(body.operands[0]), lanes),
                                  writer.splat(emitter.value(body.operands[1]), lanes));
  IrValue place;
  if (reduce.has_position()) {  // over one axis, whose value it is
    place = writer.splat(emitter.state().axes.at(form_.columns.back()), lanes);
    if (!choice_.across_rows && lanes > 1)
      place = writer.binary("add nsw", place, IrWriter::lane_numbers(place.type), "place");
  }
  return reduce.combine(carried, writer.splat(emitter.value(fold.body), lanes), place);
}

/// What the fold has carried over the columns: for each of the rows in turn.
IrWriter::Values RowEmitter::accumulate(ExpressionEmitter& emitter, const Fold& fold, const RowSet& rows,
                                        const Columns& columns) const {
  if (choice_.across_rows || choice_.lanes == 1)
    return accumulate_scalar_columns(emitter, fold, rows, columns);
  return accumulate_vector_columns(emitter, fold, rows[0], columns);
}

/// Loops over the column axes from `depth` on, carrying values; all but the last if lanes go along the
/// columns.
IrWriter::Values RowEmitter::nest_columns(ExpressionEmitter& emitter, std::size_t depth,
                                          const Values& initial,
                                          const std::function<Values(const Values&)>& innermost) const {
  std::size_t loops = form_.columns.size() - (choice_.across_rows || choice_.lanes == 1 ? 0 : 1);
  if (depth == loops) return innermost(initial);
  AxisId axis = form_.columns[depth];
  IrValue from = emitter.low(axis), to = emitter.high(axis);
  return emitter.writer().loop(context_.plan.graph->arena[axis].name, from, to, IrWriter::integer(1), initial,
                               [&](const IrValue& index, const Values& carried) {
                                 ExpressionEmitter::State outer = emitter.state();
                                 emitter.set_axis(axis, index);
                                 Values next = nest_columns(emitter, depth + 1, carried, innermost);
                                 emitter.restore(std::move(outer));
                                 return next;
                               });
}

IrWriter::Values RowEmitter::accumulate_scalar_columns(ExpressionEmitter& emitter, const Fold& fold,
                                                       const RowSet& rows, const Columns& columns) const {
  IrWriter& writer = emitter.writer();
  Values initial;
  for (const Rows& row : rows)
    for (const IrValue& value : reduction(writer, fold).identity(row.lanes)) initial.push_back(value);
  std::size_t width = initial.size() / rows.size();
  auto step = [&](const Values& carried) {
    Values next;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      ExpressionEmitter::State outer = emitter.state();
      set_rows(emitter, rows[r]);
      Values own(carried.begin() + static_cast<std::ptrdiff_t>(r * width),
                 carried.begin() + static_cast<std::ptrdiff_t>((r + 1) * width));
      for (const IrValue& value : fold_element(emitter, fold, own, rows[r].lanes)) next.push_back(value);
      emitter.restore(std::move(outer));
    }
    return next;
  };
  ExpressionEmitter::State before = emitter.state();
  Values result;
  if (flat_) {
    IrValue from = columns.from.value_or(IrWriter::integer(0));
    IrValue to = columns.to ? *columns.to : emitter.frame().size(columns_.size(), "columns");
    result = writer.loop("column", from, to, IrWriter::integer(1), initial,
                         [&](const IrValue& c, const Values& carried) {
                           ExpressionEmitter::State outer = emitter.state();
                           columns_.set(emitter, c);
                           Values next = step(carried);
                           emitter.restore(std::move(outer));
                           return next;
                         });
  } else {
    set_rows(emitter, rows[0]);  // bounds may use rows that all of them share
    result = nest_columns(emitter, 0, initial, step);
  }
  emitter.restore(std::move(before));
  return result;
}

/// Several vectors of accumulators, one vector, then single columns; at the end of a range the lanes are
/// merged.
IrWriter::Values RowEmitter::accumulate_vector_columns(ExpressionEmitter& emitter, const Fold& fold,
                                                       const Rows& rows, const Columns& columns) const {
  IrWriter& writer = emitter.writer();
  ReductionEmitter reduce = reduction(writer, fold);
  AxisId last_axis = form_.columns.back();
  ExpressionEmitter::State before = emitter.state();
  set_rows(emitter, rows);
  auto at = [&](const IrValue& column, int lanes, const Values& carried) {
    ExpressionEmitter::State outer = emitter.state();
    if (flat_) {
      columns_.set_lanes(emitter, column, lanes);
    } else {
      emitter.set_lane_axis(last_axis, column, lanes);
    }
    Values next = fold_element(emitter, fold, carried, lanes);
    emitter.restore(std::move(outer));
    return next;
  };
  auto range = [&](const IrValue& from, const IrValue& to, const Values& initial) {
    Values identity = reduce.identity(choice_.lanes), sums;
    for (int v = 0; v < choice_.vectors; ++v) sums.insert(sums.end(), identity.begin(), identity.end());
    std::size_t width = identity.size();
    IrValue begin = from;
    for (int vectors : {choice_.vectors, 1}) {
      IrValue step = IrWriter::integer(vectors * choice_.lanes);
      IrValue whole = writer.binary("and", writer.subtract(to, begin),
                                    IrWriter::integer(-vectors * choice_.lanes), "whole");
      IrValue end = writer.add(begin, whole, "vectors.end");
      sums = writer.loop("column", begin, end, step, sums, [&](const IrValue& c, const Values& carried) {
        Values next;
        for (int v = 0; v < vectors; ++v) {
          auto own = carried.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(v) * width);
          IrValue column = writer.add(c, IrWriter::integer(v * choice_.lanes), "column");
          for (const IrValue& value :
               at(column, choice_.lanes, Values(own, own + static_cast<std::ptrdiff_t>(width))))
            next.push_back(value);
        }
        return next;
      });
      begin = end;
      Values merged(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(width));
      for (std::size_t v = width; v < sums.size(); v += width)
        merged = reduce.merge(merged, Values(sums.begin() + static_cast<std::ptrdiff_t>(v),
                                             sums.begin() + static_cast<std::ptrdiff_t>(v + width)));
      sums = merged;
    }
    Values total = reduce.merge(initial, reduce.across_lanes(sums));
    return writer.loop("column", begin, to, IrWriter::integer(1), total,
                       [&](const IrValue& c, const Values& carried) { return at(c, 1, carried); });
  };
  Values result;
  if (flat_) {
    IrValue to = columns.to ? *columns.to : emitter.frame().size(columns_.size(), "columns");
    result = range(columns.from.value_or(IrWriter::integer(0)), to, reduce.identity(1));
  } else {
    result = nest_columns(emitter, 0, reduce.identity(1), [&](const Values& carried) {
      return range(emitter.low(last_axis), emitter.high(last_axis), carried);
    });
  }
  emitter.restore(std::move(before));
  return result;
}

// --- stores ---

void RowEmitter::store_rows(ExpressionEmitter& emitter, const RowSet& rows) const {
  for (const Rows& row : rows) {
    ExpressionEmitter::State before = emitter.state();
    set_rows(emitter, row);
    for (const Store& store : context_.kernel.stores)
      if (!is_column_store(store)) emitter.store(store);
    emitter.restore(std::move(before));
  }
}

void RowEmitter::store_columns(ExpressionEmitter& emitter, const RowSet& rows, const Columns& columns) const {
  if (!stores_columns()) return;
  IrWriter& writer = emitter.writer();
  auto stores = [&] {
    for (const Store& store : context_.kernel.stores)
      if (is_column_store(store)) emitter.store(store);
  };
  bool lanes_on_columns = !choice_.across_rows;
  int lanes = lanes_on_columns ? choice_.lanes : 1,
      unroll = lanes_on_columns ? std::min(choice_.vectors, 2) : 1;
  auto range = [&](const IrValue& from, const IrValue& to,
                   const std::function<void(const IrValue&, int)>& set) {
    for_each_vector(writer, "column", from, to, lanes, unroll, [&](const IrValue& c, int width) {
      for (const Rows& row : rows) {
        ExpressionEmitter::State outer = emitter.state();
        if (!lanes_on_columns) set_rows(emitter, row);
        set(c, width);
        stores();
        emitter.restore(std::move(outer));
      }
    });
  };
  ExpressionEmitter::State before = emitter.state();
  set_rows(emitter, rows[0]);
  if (flat_) {
    IrValue to = columns.to ? *columns.to : emitter.frame().size(columns_.size(), "columns");
    range(columns.from.value_or(IrWriter::integer(0)), to,
          [&](const IrValue& c, int width) { columns_.set_lanes(emitter, c, width); });
  } else if (lanes_on_columns && choice_.lanes > 1) {
    AxisId axis = form_.columns.back();
    nest_columns(emitter, 0, {}, [&](const Values&) {
      range(emitter.low(axis), emitter.high(axis),
            [&](const IrValue& c, int width) { emitter.set_lane_axis(axis, c, width); });
      return Values();
    });
  } else {
    nest_columns(emitter, 0, {}, [&](const Values&) {
      for (const Rows& row : rows) {
        ExpressionEmitter::State outer = emitter.state();
        set_rows(emitter, row);
        stores();
        emitter.restore(std::move(outer));
      }
      return Values();
    });
  }
  emitter.restore(std::move(before));
}

// --- entries ---

void RowEmitter::emit_whole_rows() {
  // Lanes across rows: a task is a set of full vectors, so that only the last one has rows left over.
  std::int64_t rows_of_task = choice_.across_rows ? choice_.lanes * choice_.vectors : 1;
  LoopShape shape;
  shape.tasks = core::ceil_divide(rows_.size(), rows_of_task);
  SizeExpression columns = columns_.is_computed() ? columns_.size() : SizeExpression(256);
  shape.grain = grain_for(columns * SizeExpression(rows_of_task * operations_of_point(context_)));
  module_.entry("", shape, [&](EntryFrame& frame) {
    IrWriter& writer = frame.writer();
    ExpressionEmitter emitter(frame);
    IrValue step = IrWriter::integer(rows_of_task);
    IrValue from = writer.multiply(frame.begin(), step, "from");
    IrValue to = writer.minimum(writer.multiply(frame.end(), step), frame.size(rows_.size(), "rows"), "to");
    for_each_row_set(frame, from, to, [&](RowSet& rows) {
      for (const Fold& fold : form_.folds) {
        Values carried = accumulate(emitter, fold, rows, {});
        std::size_t width = carried.size() / rows.size();
        for (std::size_t r = 0; r < rows.size(); ++r) rows[r].results.push_back(carried[(r + 1) * width - 1]);
      }
      store_rows(emitter, rows);
      store_columns(emitter, rows, {});
    });
  });
}

}  // namespace einkern::codegen::cpu
