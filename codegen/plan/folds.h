// What kind of fold a reduce node is: a product to contract, columns to reduce, or neither.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/canonical_graph.h"
#include "codegen/plan/plan.h"

namespace einkern::codegen {

/// Distinct reduce nodes below an expression, inner ones first.
std::vector<ExpressionId> folds_of(const CanonicalGraph& graph, ExpressionId id);

/// Factors of a fold that is a contraction: a `sum` of a product that splits in two by the axes its factors
/// use, with at least one axis of the result in each part alone. `b` holds the last of the result's axes;
/// Contraction::fold is the node.
std::optional<Contraction> match_contraction(CanonicalGraph& graph, ExpressionId fold);

/// Why a fold is no reduction of columns (a dependent range, a window, the j-th largest, a handful of
/// elements), if so.
std::optional<std::string> reason_against_columns(CanonicalGraph& graph, ExpressionId fold);

/// Whether an operation of this expression itself, not of its operands, costs so much that computing it again
/// is worse than reading it: exponentials, trigonometry, random numbers.
bool is_heavy(const dsl::Expression& node);

/// Largest nodes below `root` that hold a heavy operation, use an axis of `swept` and lack one of `points`:
/// what a fold would compute again at every point. None of them holds an axis outside `points`.
std::vector<ExpressionId> repeated_heavy_nodes(CanonicalGraph& graph, ExpressionId root,
                                               const std::vector<AxisId>& points,
                                               const std::vector<AxisId>& swept);

}  // namespace einkern::codegen
