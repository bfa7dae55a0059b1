// Who calls whom: the order in which functions are checked, and recursion, which inlining cannot have.
#pragma once

#include <vector>

#include "dsl/check.h"

namespace einkern::dsl {

/// All functions of the table, callees before their callers. A cycle is an error that shows it; its functions
/// are put into `failed`.
std::vector<const ast::Function*> order_functions(FunctionTable& table, DiagnosticBag& diagnostics);

}  // namespace einkern::dsl
