#include "dsl/check_value.h"

#include <algorithm>

#include "dsl/scalar_operations.h"

namespace einkern::dsl {
namespace {

constexpr __int128 one = 1;

bool fits_64_bits(__int128 value) { return value >= -(one << 63) && value < (one << 64); }

__int128 floor_divide(__int128 a, __int128 b) {
  if (b == 0) return 0;
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

std::optional<__int128> fold_integers(Op op, __int128 a, __int128 b) {
  __int128 result = 0;
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Op::divide:
      return floor_divide(a, b);
    case Op::modulo:
      return b == 0 ? a : a - b * floor_divide(a, b);
    case Op::maximum:
      return std::max(a, b);
    case Op::minimum:
      return std::min(a, b);
    case Op::shift_left:
      if (b < 0 || b > 63) return std::nullopt;
      return a * (one << b);
    case Op::shift_right:
      if (b < 0 || b > 63) return std::nullopt;
      return floor_divide(a, one << b);
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

bool takes_floats(Op op) {
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide || op == Op::modulo ||
         op == Op::maximum || op == Op::minimum || op == Op::pow;
}

}  // namespace

std::optional<Literal> fold_literals(Op op, const Literal& left, const Literal& right) {
  if (left.is_float || right.is_float || op == Op::pow) {
    if (!takes_floats(op)) return std::nullopt;
    return Literal::of(apply_float(op, left.number(), right.number()));
  }
  const auto folded = fold_integers(op, left.integer, right.integer);
  if (!folded || !fits_64_bits(*folded)) return std::nullopt;
  return Literal::of(*folded);
}

std::optional<Literal> fold_literal(Op op, const Literal& operand) {
  const bool floating = facts(op).rule == TypeRule::floating;
  if (operand.is_float || floating) {
    if (op == Op::bit_not || facts(op).rule == TypeRule::count_bits) return std::nullopt;
    return Literal::of(apply_float(op, operand.number()));
  }
  const __int128 value = operand.integer;
  std::optional<__int128> folded;
  if (op == Op::negate) folded = -value;
  if (op == Op::absolute) folded = value < 0 ? -value : value;
  if (op == Op::sign) folded = value < 0 ? -1 : (value > 0 ? 1 : 0);
  if (op == Op::bit_not) folded = ~value;
  if (!folded || !fits_64_bits(*folded)) return std::nullopt;
  return Literal::of(*folded);
}

bool compare_literals(ast::Comparator comparator, const Literal& left, const Literal& right) {
  const auto compare = [comparator](auto a, auto b) {
    switch (comparator) {
      case ast::Comparator::less:
        return a < b;
      case ast::Comparator::less_equal:
        return a <= b;
      case ast::Comparator::greater:
        return a > b;
      case ast::Comparator::greater_equal:
        return a >= b;
      case ast::Comparator::equal:
        return a == b;
      case ast::Comparator::not_equal:
        return a != b;
    }
    return false;
  };
  if (left.is_float || right.is_float) return compare(left.number(), right.number());
  return compare(left.integer, right.integer);
}

bool literal_fits(const Literal& literal, DType type) {
  if (type == DType::boolean) return false;
  if (core::is_float(type)) return true;
  if (literal.is_float) return false;
  const int bits = core::size_bytes(type) * 8;
  const __int128 low = core::is_signed(type) ? -(one << (bits - 1)) : 0;
  const __int128 high = one << (core::is_signed(type) ? bits - 1 : bits);
  return literal.integer >= low && literal.integer < high;
}

DType default_type(const Literal& literal) {
  if (literal.is_float) return DType::f32;
  for (const DType type : {DType::i32, DType::i64})
    if (literal_fits(literal, type)) return type;
  return DType::u64;
}

}  // namespace einkern::dsl
