// Runs plans on the reference evaluator, kernel by kernel, from what their forms say: proves plans right
// without a backend.
#pragma once

#include "codegen/plan/plan.h"
#include "codegen/reference/evaluator.h"

namespace einkern::testing {

/// Results of a plan. Folds of a row reduction are computed from their bodies over the columns, one after the
/// other, and a contraction from its two operands; stores then read these, as emitted kernels do.
core::Result<codegen::reference::Results> interpret(const codegen::Plan& plan, const dsl::Binding& binding,
                                                    const codegen::reference::Arguments& arguments,
                                                    codegen::reference::Arithmetic arithmetic);

}  // namespace einkern::testing
