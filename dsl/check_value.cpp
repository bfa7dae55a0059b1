#include "dsl/check_value.h"

#include "dsl/scalar_operations.h"

namespace einkern::dsl {
namespace {

constexpr __int128 one = 1;

/// An integer that some type of 64 bits holds.
std::optional<Literal> literal_of(std::optional<__int128> integer) {
  if (!integer || *integer < -(one << 63) || *integer >= one << 64) return std::nullopt;
  return Literal::of(*integer);
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
  return literal_of(exact_integer(op, left.integer, right.integer));
}

std::optional<Literal> fold_literal(Op op, const Literal& operand) {
  const bool floating = facts(op).rule == TypeRule::floating;
  if (operand.is_float || floating) {
    if (op == Op::bit_not || facts(op).rule == TypeRule::count_bits) return std::nullopt;
    return Literal::of(apply_float(op, operand.number()));
  }
  return literal_of(exact_integer(op, operand.integer));
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
