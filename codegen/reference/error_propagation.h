// How rounding errors pass through one operation, to first order.
#pragma once

#include "codegen/reference/value.h"
#include "core/dtype.h"
#include "dsl/function.h"

namespace einkern::codegen::reference {

/// Half a unit in the last place of 1: the relative error of one correctly rounded operation in a float type.
double unit_roundoff(DType type);

/// Error of `result` = op(a, b, c), from the operands' errors and the operation's own rounding in `type`;
/// elementary functions are allowed 4 units in the last place. `operand_type` is that of a (of where: of b).
double operation_error(dsl::Op op, DType operand_type, DType type, const Tracked& a, const Tracked& b,
                       const Tracked& c, const dsl::ScalarBits& result);

/// Error of a cast or a store: as rounding is monotone, what it makes of the ends of the operand's interval.
double cast_error(DType from, DType to, const Tracked& operand, const dsl::ScalarBits& result);

/// Relative error that a sum of `terms` numbers adds to the sum of their magnitudes: terms * u for short
/// sums; for long ones 6 * sqrt(terms) * u, which holds in any order with overwhelming probability (Higham
/// and Mary 2019).
double sum_error_factor(DType type, double terms);

/// Relative error that @precision allows for each product of a sum.
double product_error_factor(const dsl::Precision& precision);

}  // namespace einkern::codegen::reference
