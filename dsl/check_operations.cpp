// The part of Typing that applies operations called by name: the rows of ops.def, and casts.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/check_types.h"

namespace einkern::dsl {

Value Typing::apply(Op op, std::span<const Operand> operands, SourceRange where) {
  const OpFacts& row = facts(op);
  for (const Operand& operand : operands)
    if (!operand.value.known()) return {};
  const bool literals =
      std::all_of(operands.begin(), operands.end(), [](const Operand& o) { return o.value.is_literal(); });
  switch (row.rule) {
    case TypeRule::where:
      return apply_where(operands, where);
    case TypeRule::random:
    case TypeRule::uniform:
      return apply_random(op, operands);
    case TypeRule::integer:
    case TypeRule::count_bits:
      for (const Operand& operand : operands)
        if (!require_integer(operand, row.spelling)) return {};
      break;
    default:
      for (const Operand& operand : operands)
        if (!require_number(operand, row.spelling)) return {};
  }
  if (literals && operands.size() == 1)
    if (const auto folded = fold_literal(op, operands[0].value.number)) return Value::literal(*folded);
  if (literals && operands.size() == 2)
    if (const auto folded = fold_literals(op, operands[0].value.number, operands[1].value.number))
      return Value::literal(*folded);
  const auto common = unify(operands, where);
  if (!common) return {};
  const DType floating = core::is_float(*common) ? *common : DType::f32;
  switch (row.rule) {
    case TypeRule::floating:
      return apply_unified(op, operands, floating, floating);
    case TypeRule::float_to_boolean:
      return apply_unified(op, operands, floating, DType::boolean);
    case TypeRule::count_bits:
      return apply_unified(op, operands, *common, DType::i32);
    default:
      return apply_unified(op, operands, *common, *common);
  }
}

Value Typing::apply_where(std::span<const Operand> operands, SourceRange where) {
  const auto chosen = condition(operands[0], "the first argument of `where`");
  const auto values = operands.subspan(1);
  const auto type = unify(values, where);
  if (!chosen || !type) return {};
  const auto a = convert(values[0], *type), b = convert(values[1], *type);
  if (!a || !b) return {};
  Value result = Value::typed(arena_.apply(Op::where, *type, {*chosen, *a, *b}), *type);
  if (core::is_integer(*type))
    result.quotient = values[0].value.quotient ? values[0].value.quotient : values[1].value.quotient;
  return result;
}

/// Seeds and counters are u64; any integer will do, as its two's complement bits.
Value Typing::apply_random(Op op, std::span<const Operand> operands) {
  std::vector<ExpressionId> nodes;
  for (const Operand& operand : operands) {
    if (!require_integer(operand, facts(op).spelling)) return {};
    nodes.push_back(arena_.cast(DType::u64, settled(operand.value).id));
  }
  const DType result = facts(op).rule == TypeRule::random ? DType::u32 : DType::f32;
  return Value::typed(arena_.apply(op, result, std::move(nodes)), result);
}

Value Typing::cast(DType target, const Operand& operand) {
  const Value& value = operand.value;
  if (!value.known()) return {};
  const DType computed = core::compute_type(target);
  if (value.is_literal() && target != DType::boolean) {
    const Literal& number = value.number;
    if (core::is_float(target)) {
      const double rounded = core::round_to(target, number.number());
      return Value::typed(arena_.constant_float(computed, rounded), computed);
    }
    const std::int64_t integer = number.is_float
                                     ? core::float_to_integer(target, number.real)
                                     : core::wrap_integer(target, static_cast<std::int64_t>(number.integer));
    return Value::typed(arena_.constant_integer(computed, integer), computed);
  }
  return Value::typed(arena_.cast(target, settled(value).id), computed);
}

}  // namespace einkern::dsl
