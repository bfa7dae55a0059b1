#include "codegen/plan/root_shape.h"

#include <algorithm>
#include <set>

#include "codegen/plan/axes.h"
#include "codegen/plan/folds.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;
using Nodes = std::vector<ExpressionId>;

Nodes top_folds(const CanonicalGraph& graph, ExpressionId root) {
  Nodes folds;
  std::set<ExpressionId> seen;
  Nodes pending = {root};
  while (!pending.empty()) {
    const ExpressionId id = pending.back();
    pending.pop_back();
    if (!seen.insert(id).second) continue;
    const Expression& node = graph[id];
    if (node.op == Op::reduce)
      folds.push_back(id);
    else
      pending.insert(pending.end(), node.operands.rbegin(), node.operands.rend());
  }
  return folds;
}

namespace {

/// Columns of a fold whose rows are its free axes, for a root with these axes: those that the root's other
/// axes name.
std::optional<RowShape> shape_for(CanonicalGraph& graph, const Root& root, ExpressionId fold) {
  if (reason_against_columns(graph, fold)) return std::nullopt;
  const Axes free = graph.free_axes(fold);
  RowShape shape;
  Axes rest;
  for (const AxisId axis : root.axes) (contains(free, axis) ? shape.rows : rest).push_back(axis);
  if (shape.rows.size() != free.size()) return std::nullopt;
  const Axes bound = graph[fold].axes;
  if (rest.empty()) {
    shape.columns = graph.free_axes_like(bound, shape.rows);
    return shape;
  }
  if (rest.size() != bound.size()) return std::nullopt;
  shape.stores_columns = true;
  for (const AxisId axis : bound) {
    const auto match =
        std::find_if(rest.begin(), rest.end(), [&](AxisId other) { return graph.same_range(axis, other); });
    if (match == rest.end()) return std::nullopt;
    shape.columns.push_back(*match);
    rest.erase(match);
  }
  return shape;
}

}  // namespace

std::optional<RowShape> choose_rows(CanonicalGraph& graph, const Root& root) {
  if (root.update || root.recurrent) return std::nullopt;
  const Nodes folds = top_folds(graph, root.value);
  for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold)
    if (auto shape = shape_for(graph, root, *fold)) return shape;
  return std::nullopt;
}

bool fits_rows(CanonicalGraph& graph, ExpressionId fold, const RowShape& shape) {
  const Axes bound = graph[fold].axes;
  if (!same_set(graph.free_axes(fold), shape.rows) || bound.size() != shape.columns.size()) return false;
  for (std::size_t i = 0; i < bound.size(); ++i)
    if (!graph.same_range(bound[i], shape.columns[i])) return false;
  return !reason_against_columns(graph, fold);
}

std::optional<RowShape> match_rows(CanonicalGraph& graph, const Root& root) {
  const auto shape = choose_rows(graph, root);
  if (!shape) return std::nullopt;
  for (const ExpressionId fold : folds_of(graph, root.value))
    if (!fits_rows(graph, fold, *shape)) return std::nullopt;
  return shape;
}

std::optional<Contraction> main_contraction(CanonicalGraph& graph, const Root& root) {
  if (root.update || root.recurrent) return std::nullopt;
  const Nodes folds = top_folds(graph, root.value);
  for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold)
    if (same_set(graph.free_axes(*fold), root.axes))
      if (auto contraction = match_contraction(graph, *fold)) return contraction;
  return std::nullopt;
}

}  // namespace einkern::codegen
