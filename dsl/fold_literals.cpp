// Expressions of literals fold exactly, in f64 or i64, before they take a type.
#include <cmath>

#include "dsl/check_value.h"

namespace einkern::dsl {
namespace {

std::optional<double> fold_real(Op op, const std::vector<Value>& operands) {
  const double a = operands[0].literal->as_real();
  const double b = operands.size() > 1 ? operands[1].literal->as_real() : 0;
  switch (op) {
    case Op::negate:
      return -a;
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::maximum:
      return a > b ? a : b;
    case Op::minimum:
      return a < b ? a : b;
    case Op::absolute:
      return std::fabs(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::pow:
      return std::pow(a, b);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::trunc:
      return std::trunc(a);
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> fold_integer(Op op, const std::vector<Value>& operands) {
  ExpressionArena arena;
  std::vector<ExpressionId> ids;
  for (const Value& operand : operands)
    ids.push_back(arena.constant_integer(DType::i64, operand.literal->integer));
  const std::int64_t a = operands[0].literal->integer;
  if (op == Op::negate) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  if (op == Op::bit_not) return ~a;
  if (operands.size() != 2) return std::nullopt;
  const std::int64_t b = operands[1].literal->integer;
  switch (op) {
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    case Op::shift_left:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << (b & 63));
    case Op::shift_right:
      return a >> (b & 63);
    default:
      return constant_value(arena, arena.apply(op, DType::i64, ids));
  }
}

bool gives_float(Op op) { return facts(op).rule == TypeRule::floating; }

}  // namespace

std::optional<Literal> fold_literals(Op op, const std::vector<Value>& operands) {
  bool any_float = gives_float(op);
  for (const Value& operand : operands) {
    if (!operand.literal) return std::nullopt;
    any_float |= operand.literal->is_float;
  }
  const TypeRule rule = facts(op).rule;
  if (rule != TypeRule::number && rule != TypeRule::floating && rule != TypeRule::integer &&
      rule != TypeRule::shift)
    return std::nullopt;
  if (any_float) {
    if (const auto real = fold_real(op, operands)) return Literal{.is_float = true, .real = *real};
    return std::nullopt;
  }
  if (const auto integer = fold_integer(op, operands)) return Literal{.integer = *integer};
  return std::nullopt;
}

}  // namespace einkern::dsl
