#include "dsl/check_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/printer.h"

namespace einkern::dsl {
namespace {

std::string_view name_of(DType type) { return core::dtype_name(type); }

Op op_of(ast::BinaryOperator operation) {
  switch (operation) {
    case ast::BinaryOperator::multiply:
      return Op::multiply;
    case ast::BinaryOperator::divide:
      return Op::divide;
    case ast::BinaryOperator::modulo:
      return Op::modulo;
    case ast::BinaryOperator::add:
      return Op::add;
    case ast::BinaryOperator::subtract:
      return Op::subtract;
    case ast::BinaryOperator::shift_left:
      return Op::shift_left;
    case ast::BinaryOperator::shift_right:
      return Op::shift_right;
    case ast::BinaryOperator::bit_and:
      return Op::bit_and;
    case ast::BinaryOperator::bit_xor:
      return Op::bit_xor;
    case ast::BinaryOperator::bit_or:
      return Op::bit_or;
    case ast::BinaryOperator::logical_and:
      return Op::logical_and;
    case ast::BinaryOperator::logical_or:
      return Op::logical_or;
  }
  return Op::add;
}

bool all_known(std::span<const Operand> operands) {
  return std::all_of(operands.begin(), operands.end(), [](const Operand& o) { return o.value.known(); });
}

bool all_literals(std::span<const Operand> operands) {
  return std::all_of(operands.begin(), operands.end(), [](const Operand& o) { return o.value.is_literal(); });
}

}  // namespace

std::optional<DType> join_types(DType left, DType right) {
  if (left == right) return left;
  if (left == DType::boolean || right == DType::boolean) return std::nullopt;
  if (core::is_float(left) && core::is_float(right)) return DType::f64;
  if (core::is_float(left)) return left;
  if (core::is_float(right)) return right;
  const auto either = [&](DType a, DType b) {
    return (left == a && right == b) || (left == b && right == a);
  };
  if (either(DType::i32, DType::i64) || either(DType::u32, DType::i64)) return DType::i64;
  if (either(DType::u32, DType::u64)) return DType::u64;
  return std::nullopt;
}

ExpressionId Typing::constant(const Literal& literal, DType type) {
  if (core::is_float(type)) return arena_.constant_float(type, literal.number());
  return arena_.constant_integer(type, static_cast<std::int64_t>(literal.integer));
}

Value Typing::settled(const Value& value) {
  if (!value.is_literal()) return value;
  Value result = Value::typed(constant(value.number, value.type), value.type);
  result.quotient = value.quotient;
  return result;
}

void Typing::refuse_mix(DType left, DType right, SourceRange where, SourceRange left_range,
                        SourceRange right_range) {
  std::string advice = fmt::format("cast one of them, such as {}(…)", name_of(left));
  if (left == DType::boolean || right == DType::boolean) {
    const DType number = left == DType::boolean ? right : left;
    advice = fmt::format("write {}(…) around the bool, or where(…, 1, 0)", name_of(number));
  }
  diagnostics_
      ->error(where, fmt::format("{} and {} have no common type; {}", name_of(left), name_of(right), advice))
      .also(left_range)
      .also(right_range);
}

std::optional<DType> Typing::unify(std::span<const Operand> operands, SourceRange where) {
  if (!all_known(operands)) return std::nullopt;
  const Operand* first = nullptr;
  std::optional<DType> type;
  for (const Operand& operand : operands) {
    if (operand.value.is_literal()) continue;
    const auto joined = type ? join_types(*type, operand.value.type) : operand.value.type;
    if (!joined) {
      refuse_mix(*type, operand.value.type, where, first->range, operand.range);
      return std::nullopt;
    }
    if (joined != type) first = &operand;
    type = joined;
  }
  const bool float_literal = std::any_of(operands.begin(), operands.end(), [](const Operand& o) {
    return o.value.is_literal() && o.value.number.is_float;
  });
  if (type == DType::boolean && operands.size() > 1) {
    for (const Operand& operand : operands)
      if (operand.value.is_literal()) {
        refuse_mix(DType::boolean, operand.value.type, where, first->range, operand.range);
        return std::nullopt;
      }
  }
  if (type) return float_literal && core::is_integer(*type) ? DType::f32 : *type;
  if (float_literal) return DType::f32;
  DType widest = DType::i32;
  for (const Operand& operand : operands)
    if (!literal_fits(operand.value.number, widest)) widest = operand.value.type;
  return widest;
}

void Typing::refuse_quotient(const Operand& operand, DType type) {
  const ast::Expression& quotient = *operand.value.quotient;
  const auto& division = *quotient.as<ast::Binary>();
  Diagnostic& diagnostic = diagnostics_->error(
      quotient.range,
      fmt::format("`{}` is an integer quotient, rounded down; it does not turn into {} by itself",
                  expression_text(quotient), name_of(type)));
  const auto* number = division.left->as<ast::Number>();
  if (number && !number->is_float && !division.left->parenthesised)
    diagnostic.replace(division.left->range, number->text + ".0");
  else
    diagnostic.insert_before(division.left->range, "1.0 * ");
}

std::optional<ExpressionId> Typing::convert(const Operand& operand, DType type) {
  const Value& value = operand.value;
  if (!value.known()) return std::nullopt;
  if (value.quotient && core::is_float(type)) {
    refuse_quotient(operand, type);
    return std::nullopt;
  }
  if (value.is_typed()) return arena_.cast(type, value.id);
  if (literal_fits(value.number, type)) return constant(value.number, type);
  diagnostics_->error(operand.range, fmt::format("this number does not fit {}", name_of(type)));
  return std::nullopt;
}

std::optional<ExpressionId> Typing::convert_for_store(const Operand& operand, DType target,
                                                      std::string_view name) {
  const Value& value = operand.value;
  if (!value.known()) return std::nullopt;
  const DType computed = core::compute_type(target);
  if (value.is_literal() && core::is_float(target) == value.number.is_float) {
    if (core::is_float(target) || literal_fits(value.number, computed))
      return constant(value.number, computed);
  }
  const bool to_float = core::is_float(target), from_float = core::is_float(value.type);
  if ((target == DType::boolean) != (value.type == DType::boolean) || (from_float && !to_float)) {
    diagnostics_
        ->error(operand.range, fmt::format("`{}` holds {}, and {} does not turn into it by itself", name,
                                           name_of(target), name_of(value.type)))
        .insert_before(operand.range, fmt::format("{}(", name_of(target)))
        .insert_after(operand.range, ")");
    return std::nullopt;
  }
  if (value.is_literal()) return convert(operand, computed);
  if (value.quotient && to_float) {
    refuse_quotient(operand, target);
    return std::nullopt;
  }
  if (value.type == computed) return value.id;
  return arena_.cast(target, value.id);  // rounds (or wraps) in one step
}

std::optional<ExpressionId> Typing::convert_to_index(const Operand& operand, std::string_view what) {
  if (!operand.value.known()) return std::nullopt;
  if (!core::is_integer(operand.value.type)) {
    Diagnostic& diagnostic = diagnostics_->error(
        operand.range, fmt::format("{} is an integer, and this is {}", what, name_of(operand.value.type)));
    if (core::is_float(operand.value.type))
      diagnostic.insert_before(operand.range, "i32(").insert_after(operand.range, ")");
    return std::nullopt;
  }
  return convert(operand, DType::i64);
}

std::optional<ExpressionId> Typing::condition(const Operand& operand, std::string_view what) {
  if (!operand.value.known()) return std::nullopt;
  if (operand.value.type == DType::boolean) return operand.value.id;
  diagnostics_
      ->error(operand.range, fmt::format("{} takes bool, and this is {}", what, name_of(operand.value.type)))
      .insert_after(operand.range, " != 0");
  return std::nullopt;
}

bool Typing::require_number(const Operand& operand, std::string_view what) {
  if (!operand.value.known()) return false;
  if (operand.value.type != DType::boolean) return true;
  diagnostics_->error(
      operand.range,
      fmt::format("`{}` takes numbers, and this is bool; write i32(…) or where(…, 1, 0)", what));
  return false;
}

bool Typing::require_integer(const Operand& operand, std::string_view what) {
  if (!operand.value.known()) return false;
  if (core::is_integer(operand.value.type)) return true;
  const bool boolean = operand.value.type == DType::boolean;
  diagnostics_->error(operand.range,
                      fmt::format("`{}` takes integers, and this is {}{}", what, name_of(operand.value.type),
                                  boolean ? "; for bool there are `and`, `or` and `not`" : ""));
  return false;
}

Value Typing::unary(ast::UnaryOperator operation, const Operand& operand, SourceRange where) {
  if (operation == ast::UnaryOperator::logical_not) return logical(Op::logical_not, {operand});
  const Op op = operation == ast::UnaryOperator::negate ? Op::negate : Op::bit_not;
  Value result = apply(op, std::span(&operand, 1), where);
  result.quotient = operand.value.quotient;
  return result;
}

Value Typing::binary(const ast::Binary& binary, const Operand& left, const Operand& right,
                     const ast::Expression& whole) {
  const Op op = op_of(binary.operation);
  switch (facts(op).rule) {
    case TypeRule::boolean:
      return logical(op, {left, right});
    case TypeRule::shift:
      return shift(op, left, right);
    case TypeRule::integer:
      return bits(op, left, right, binary.operator_range);
    default:
      break;
  }
  Value result = arithmetic(op, left, right, binary.operator_range);
  if (!result.known() || core::is_float(result.type)) return result;
  if (op == Op::divide)
    result.quotient = &whole;
  else if (op != Op::modulo)
    result.quotient = left.value.quotient ? left.value.quotient : right.value.quotient;
  return result;
}

Value Typing::arithmetic(Op op, const Operand& left, const Operand& right, SourceRange where) {
  const std::string_view sign = facts(op).spelling;
  if (!left.value.known() || !right.value.known()) return {};
  if (left.value.type == DType::boolean || right.value.type == DType::boolean) {
    const bool left_fits = require_number(left, sign);
    const bool right_fits = require_number(right, sign);
    if (!left_fits || !right_fits) return {};
  }
  const Operand operands[] = {left, right};
  const bool mixed = left.value.is_literal() && right.value.is_literal() &&
                     left.value.number.is_float != right.value.number.is_float;
  for (const Operand& operand : operands)
    if (mixed && operand.value.quotient) {
      refuse_quotient(operand, DType::f32);
      return {};
    }
  if (all_literals(operands))
    if (const auto folded = fold_literals(op, left.value.number, right.value.number))
      return Value::literal(*folded);
  const auto type = unify(operands, where);
  return type ? apply_unified(op, operands, *type, *type) : Value{};
}

Value Typing::apply_unified(Op op, std::span<const Operand> operands, DType type, DType result) {
  std::vector<ExpressionId> nodes;
  for (const Operand& operand : operands) {
    const auto node = convert(operand, type);
    if (!node) return {};
    nodes.push_back(*node);
  }
  return Value::typed(arena_, arena_.apply(op, result, std::move(nodes)));
}

Value Typing::shift(Op op, const Operand& left, const Operand& right) {
  const std::string_view sign = facts(op).spelling;
  const bool left_fits = require_integer(left, sign), right_fits = require_integer(right, sign);
  if (!left_fits || !right_fits) return {};
  if (left.value.is_literal() && right.value.is_literal())
    if (const auto folded = fold_literals(op, left.value.number, right.value.number))
      return Value::literal(*folded);
  // The count is taken modulo the width, so the left side's type keeps all of it that matters.
  const Value value = settled(left.value);
  const ExpressionId count = arena_.cast(value.type, settled(right.value).id);
  return Value::typed(arena_.apply(op, value.type, {value.id, count}), value.type);
}

Value Typing::bits(Op op, const Operand& left, const Operand& right, SourceRange where) {
  const std::string_view sign = facts(op).spelling;
  const bool left_fits = require_integer(left, sign), right_fits = require_integer(right, sign);
  if (!left_fits || !right_fits) return {};
  return arithmetic(op, left, right, where);
}

Value Typing::logical(Op op, std::initializer_list<Operand> operands) {
  std::vector<ExpressionId> nodes;
  for (const Operand& operand : operands)
    if (const auto node = condition(operand, fmt::format("`{}`", facts(op).spelling))) nodes.push_back(*node);
  if (nodes.size() < operands.size()) return {};
  return Value::typed(arena_.apply(op, DType::boolean, std::move(nodes)), DType::boolean);
}

std::optional<ExpressionId> Typing::compare(ast::Comparator comparator, const Operand& left,
                                            const Operand& right) {
  const Operand operands[] = {left, right};
  if (!all_known(operands)) return std::nullopt;
  if (all_literals(operands))
    return arena_.constant_integer(DType::boolean,
                                   compare_literals(comparator, left.value.number, right.value.number));
  const bool equality = comparator == ast::Comparator::equal || comparator == ast::Comparator::not_equal;
  const SourceRange where = SourceRange::joining(left.range, right.range);
  if (!equality) {
    const bool left_fits = require_number(left, spelling(comparator)),
               right_fits = require_number(right, spelling(comparator));
    if (!left_fits || !right_fits) return std::nullopt;
  }
  const auto type = unify(operands, where);
  if (!type) return std::nullopt;
  const auto a = convert(left, *type), b = convert(right, *type);
  if (!a || !b) return std::nullopt;
  switch (comparator) {
    case ast::Comparator::less:
      return arena_.apply(Op::less, DType::boolean, {*a, *b});
    case ast::Comparator::less_equal:
      return arena_.apply(Op::less_equal, DType::boolean, {*a, *b});
    case ast::Comparator::greater:
      return arena_.apply(Op::less, DType::boolean, {*b, *a});
    case ast::Comparator::greater_equal:
      return arena_.apply(Op::less_equal, DType::boolean, {*b, *a});
    case ast::Comparator::equal:
      return arena_.apply(Op::equal, DType::boolean, {*a, *b});
    case ast::Comparator::not_equal:
      return arena_.apply(Op::not_equal, DType::boolean, {*a, *b});
  }
  return std::nullopt;
}

Value Typing::comparison(const ast::Comparison& comparison, std::span<const Operand> operands) {
  std::optional<ExpressionId> chain;
  bool complete = true;
  for (std::size_t i = 0; i < comparison.comparators.size(); ++i) {
    const auto link = compare(comparison.comparators[i], operands[i], operands[i + 1]);
    complete = complete && link;
    if (!complete) continue;
    chain = chain ? arena_.apply(Op::logical_and, DType::boolean, {*chain, *link}) : *link;
  }
  return complete ? Value::typed(*chain, DType::boolean) : Value{};
}

}  // namespace einkern::dsl
