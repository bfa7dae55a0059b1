// What every scalar operation of ops.def gives, on host values. docs/semantics.md says the same in tables,
// which tests run.
#pragma once

#include <cstdint>
#include <optional>

#include "core/dtype.h"
#include "dsl/expression.h"

namespace einkern::dsl {

/// An operation on integers (or bools) whose operands have the compute type `type`; a shift's count may be of
/// any integer type. Values of unsigned types are zero-extended, u64 is two's complement. Comparisons give 0
/// or 1. Unused operands are ignored. Aborts for operations that take no integers.
std::int64_t apply_integer(Op op, DType type, std::int64_t a, std::int64_t b = 0, std::int64_t c = 0);

/// The exact value of an operation on integers of at most 64 bits, signed or not, as literals have it; a
/// product of more than 127 bits wraps, to one that no 64 bits hold. Nothing for a shift by other than 0 to
/// 63 bits, and for operations whose result is not of the operands' kind (comparisons, bit counts, random
/// numbers).
std::optional<__int128> exact_integer(Op op, __int128 a, __int128 b = 0, __int128 c = 0);

/// An operation on floats that gives a float, computed in double. Aborts for operations that take no floats.
double apply_float(Op op, double a, double b = 0, double c = 0);

/// A comparison, isnan or isinf of floats.
bool apply_float_test(Op op, double a, double b = 0);

/// A value of any compute type: floats (as a double that the type can hold) or integers and bools, by its
/// type.
struct ScalarBits {
  double floating = 0;
  std::int64_t integer = 0;
};
/// Any operation of ops.def, eagerly: operands of `operand_type` (of where: its second and third), a result
/// of `type`.
ScalarBits apply_scalar(Op op, DType operand_type, DType type, ScalarBits a, ScalarBits b, ScalarBits c);
/// A cast from a compute type to any type. To a storage type it rounds or wraps; the result has the compute
/// type.
ScalarBits cast_scalar(DType from, DType to, ScalarBits value);
/// Bits reinterpreted between compute types of one width.
ScalarBits bitcast_scalar(DType from, DType to, ScalarBits value);

/// random(seed, i): word 0 of Philox4x32-10 with key = seed and counter = i (Salmon, Moraes, Dror, Shaw
/// 2011).
std::uint32_t philox(std::uint64_t seed, std::uint64_t counter);
/// uniform(seed, i): in [0, 1), a multiple of 2^-24.
double philox_uniform(std::uint64_t seed, std::uint64_t counter);

/// The larger, or smaller, of two floats: NaN propagates, -0 is below +0.
double float_maximum(double a, double b);
double float_minimum(double a, double b);

}  // namespace einkern::dsl
