// The first step of planning: every definition that need not stand in memory becomes part of its readers'
// values.
#pragma once

#include <vector>

#include "codegen/plan/canonical_graph.h"
#include "codegen/plan/root.h"

namespace einkern::codegen {

struct InlinedFunction {
  std::vector<Root> roots;  // in the definitions' order
  bool ordered = false;     // tensors change in place: roots must run in this order, each on its own
};

/// Inlines locals and outputs into their readers. A local stays in memory, as declared, if it changes in
/// place, is a recurrence, is large, or holds a fold and is read elsewhere than at its own axes (`m[n, c /
/// D]`).
InlinedFunction inline_definitions(CanonicalGraph& graph);

/// A new temporary over these axes; its name is unique in the function.
dsl::TensorId add_temporary(CanonicalGraph& graph, DType dtype, const std::vector<dsl::AxisId>& axes);
/// A read of a tensor at bare axes.
dsl::ExpressionId read_at(CanonicalGraph& graph, dsl::TensorId tensor, const std::vector<dsl::AxisId>& axes);

}  // namespace einkern::codegen
