// The second step of planning: what must be computed before, in a kernel of its own, is cut out of the roots'
// values until each of them fits one kernel.
#pragma once

#include <optional>
#include <vector>

#include "codegen/plan/canonical_graph.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/root.h"

namespace einkern::codegen {

/// How much a plan keeps together.
struct FusionChoice {
  bool computed_operands =
      true;  // factors of a contraction are computed where they are loaded, else they are stored first
  bool epilogues = true;   // a contraction's result is finished in its kernel
  bool row_stores = true;  // elements that need a finished row are stored by the kernel that folds it
};

/// The roots, and the temporaries that they now read, in an order in which each reads only what stands before
/// it. `ordered`: keep the given order, temporaries just before their readers.
std::vector<Root> split_roots(CanonicalGraph& graph, std::vector<Root> roots, bool ordered,
                              const FusionChoice& choice);

}  // namespace einkern::codegen
