// Plans in words and as text.
#pragma once

#include <set>
#include <string>

#include "codegen/plan/plan.h"

namespace einkern::codegen {

/// One line: what the kernel fuses, or what keeps it apart. `reasons`: why its temporaries stand in memory.
std::string explain_kernel(const dsl::Function& graph, const Kernel& kernel,
                           const std::set<std::string>& reasons);

}  // namespace einkern::codegen
