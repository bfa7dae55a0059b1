// The last step of planning: each root becomes a kernel, and roots that share their iteration share one.
#pragma once

#include <vector>

#include "codegen/plan/canonical_graph.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/root.h"

namespace einkern::codegen {

/// Kernels in an order in which each reads only what stands before it. `roots` are in such an order; with
/// `ordered` each stays on its own.
std::vector<Kernel> build_kernels(CanonicalGraph& graph, const std::vector<Root>& roots, bool ordered);

}  // namespace einkern::codegen
