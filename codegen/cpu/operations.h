// Every scalar operation of ops.def as LLVM IR, on scalars and on vectors.
#pragma once

#include <vector>

#include "codegen/cpu/ir_writer.h"
#include "core/dtype.h"
#include "dsl/expression.h"

namespace einkern::codegen::cpu {

/// The operation on operands whose first has the compute type `type` (of `where`: the second). All operands
/// have the same lanes. Nothing is lazy here: operands are values.
IrValue operation(IrWriter& writer, dsl::Op op, DType type, const std::vector<IrValue>& operands);

/// A constant's bits (dsl::Expression::bits) as a value of a compute type.
IrValue constant_value(IrWriter& writer, const dsl::Expression& constant);

}  // namespace einkern::codegen::cpu
