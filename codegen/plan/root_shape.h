// Which kernel a root's value suits: rows and columns, or a contraction.
#pragma once

#include <optional>
#include <vector>

#include "codegen/plan/canonical_graph.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/root.h"

namespace einkern::codegen {

/// Folds that stand in no other fold's body, in the order of a walk.
std::vector<ExpressionId> top_folds(const CanonicalGraph& graph, ExpressionId root);

/// Rows and columns of a root whose folds one row reduction can compute: columns are those that its axes
/// name, else new ones.
struct RowShape {
  std::vector<AxisId> rows, columns;
  bool stores_columns = false;
};
/// The shape that most suggests itself: that of the last fold at the top that has one.
std::optional<RowShape> choose_rows(CanonicalGraph& graph, const Root& root);
/// Whether a fold runs over the shape's columns for each of its rows.
bool fits_rows(CanonicalGraph& graph, ExpressionId fold, const RowShape& shape);
/// The shape, if every fold of the value runs over the same columns for the same rows.
std::optional<RowShape> match_rows(CanonicalGraph& graph, const Root& root);

/// The contraction at the top of a root's value that its kernel is to be built on, if any.
std::optional<Contraction> main_contraction(CanonicalGraph& graph, const Root& root);

}  // namespace einkern::codegen
