// Elementary functions as LLVM IR: f32 by polynomials of our own, in vectors; f64 by the C mathematics
// library.
#pragma once

#include <vector>

#include "codegen/cpu/ir_writer.h"
#include "dsl/expression.h"

namespace einkern::codegen::cpu {

/// The operation on f32 or f64 values, scalars or vectors. f32 results are within 2 units in the last place
/// (pow and f64: the library's bound); infinities, NaN, zeros with their signs and subnormals come out as
/// IEEE 754 recommends.
IrValue elementary(IrWriter& writer, dsl::Op op, const std::vector<IrValue>& operands);

}  // namespace einkern::codegen::cpu
