#include "dsl/check_value.h"

#include <limits>

#include "core/dtype.h"

namespace einkern::dsl {
namespace {

std::string quoted(DType type) { return "`" + std::string(core::dtype_name(type)) + "`"; }

/// The join of two different compute types, neither bool; nothing if the language asks for a cast.
std::optional<DType> joined_type(DType a, DType b) {
  if (a == b) return a;
  if (core::is_float(a) && core::is_float(b)) return DType::f64;
  if (core::is_float(a)) return a;
  if (core::is_float(b)) return b;
  const auto pair = [&](DType x, DType y) { return (a == x && b == y) || (a == y && b == x); };
  if (pair(DType::i32, DType::i64) || pair(DType::u32, DType::i64)) return DType::i64;
  if (pair(DType::u32, DType::u64)) return DType::u64;
  return std::nullopt;
}

bool fits(std::int64_t value, DType type) {
  switch (type) {
    case DType::i32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case DType::u32:
      return value >= 0 && value <= UINT32_MAX;
    default:
      return true;
  }
}

}  // namespace

Value ValueRules::error(SourceRange range, std::string message) {
  bag_->error(range, std::move(message));
  return {};
}

Value ValueRules::settle(const Value& value, SourceRange range) {
  if (!value.literal) return value;
  if (value.literal->is_float) return convert(value, DType::f32, range);
  return convert(value, fits(value.literal->integer, DType::i32) ? DType::i32 : DType::i64, range);
}

Value ValueRules::convert(const Value& value, DType type, SourceRange range) {
  if (value.failed()) return value;
  const bool to_float = core::is_float(type);
  const bool from_integer = value.literal ? !value.literal->is_float : core::is_integer(value.type);
  if (to_float && from_integer && value.quotient) {
    Diagnostic& diagnostic =
        bag_->error(value.quotient->range,
                    "an integer quotient does not become a float by itself: it is rounded down first");
    if (const auto* division = value.quotient->as<ast::Binary>()) {
      const SourceRange left = division->left->range;
      if (division->left->as<ast::Number>())
        diagnostic.insert_after(left, ".0");
      else
        diagnostic.insert_before(left, "f32(").insert_after(left, ")");
    }
    return {};
  }
  if (value.literal) {
    if (to_float) return node(arena_.constant_float(type, value.literal->as_real()));
    if (type == DType::boolean)
      return error(range, "a number where a bool is needed: compare it, as in `x != 0`");
    if (value.literal->is_float)
      return error(range, "a fraction where an integer (" + quoted(type) + ") is needed: cast it, as in `" +
                              std::string(core::dtype_name(type)) + "(…)`");
    if (!fits(value.literal->integer, type))
      return error(range, std::to_string(value.literal->integer) + " does not fit " + quoted(type));
    Value converted = node(arena_.constant_integer(type, value.literal->integer));
    converted.quotient = value.quotient;
    return converted;
  }
  if (value.type == type) return value;
  if (value.type == DType::boolean || type == DType::boolean || joined_type(value.type, type) != type)
    return error(range, quoted(value.type) + " does not become " + quoted(type) +
                            " by itself: cast it, as in `" + std::string(core::dtype_name(type)) + "(…)`");
  Value converted = node(arena_.cast(type, value.id));
  converted.quotient = to_float ? nullptr : value.quotient;
  return converted;
}

std::optional<DType> ValueRules::join(const Value& a, const Value& b, SourceRange range) {
  if (a.failed() || b.failed()) return std::nullopt;
  const auto with_literal = [&](const Value& typed, const Literal& literal) {
    return literal.is_float && core::is_integer(typed.type) ? DType::f32 : typed.type;
  };
  if (a.literal && b.literal) {
    if (a.literal->is_float || b.literal->is_float) return DType::f32;
    return fits(a.literal->integer, DType::i32) && fits(b.literal->integer, DType::i32) ? DType::i32
                                                                                        : DType::i64;
  }
  if (a.literal) return with_literal(b, *a.literal);
  if (b.literal) return with_literal(a, *b.literal);
  if (a.type == b.type) return a.type;
  if (a.type == DType::boolean || b.type == DType::boolean) {
    bag_->error(range,
                "a bool and a number do not mix: cast the bool, as in `i32(…)`, or compare the number");
    return std::nullopt;
  }
  const auto joined = joined_type(a.type, b.type);
  if (!joined)
    bag_->error(range, quoted(a.type) + " and " + quoted(b.type) + " do not mix: cast one, as in `i64(…)`");
  return joined;
}

Value ValueRules::cast(const Value& value, DType target, SourceRange range) {
  if (value.failed()) return value;
  if (value.literal && core::is_float(target) && !core::is_storage(target))
    return node(
        arena_.constant_float(target, value.literal->as_real()));  // one rounding, and no rule on quotients
  if (value.literal && !value.literal->is_float && core::is_integer(target) && !core::is_storage(target))
    return node(arena_.constant_integer(target, value.literal->integer));
  const Value settled = value.literal && value.literal->is_float && !core::is_storage(target)
                            ? node(arena_.constant_float(DType::f64, value.literal->real))
                            : settle({.type = value.type, .id = value.id, .literal = value.literal}, range);
  if (settled.failed()) return settled;
  return node(arena_.cast(target, settled.id));
}

Value ValueRules::store(const Value& value, DType target, SourceRange range) {
  if (value.failed()) return value;
  const DType compute = core::compute_type(target);
  if (value.literal) return convert(value, compute, range);
  if (value.type == compute) return value;
  const bool from_boolean = value.type == DType::boolean, to_boolean = target == DType::boolean;
  if (from_boolean || to_boolean || (core::is_float(value.type) && !core::is_float(target)))
    return error(range,
                 "a " + quoted(value.type) + " value stored as " + quoted(target) + " needs a cast: `" +
                     std::string(core::dtype_name(target)) + "(…)`" +
                     (core::is_float(value.type) && !to_boolean ? ", with `round` inside to round" : ""));
  if (core::is_float(target) && value.quotient)
    return convert(value, compute, range);     // gives the rule's error
  return node(arena_.cast(target, value.id));  // rounds once, to the type stored
}

Value ValueRules::index(const Value& value, SourceRange range) {
  if (value.failed()) return value;
  if (value.literal) return convert(value, DType::i64, range);
  if (core::is_float(value.type))
    return error(range, "an index must be an integer: cast it, as in `i32(floor(…))`");
  if (value.type == DType::boolean) return error(range, "an index must be an integer, not a bool");
  return {.type = DType::i64, .id = arena_.cast(DType::i64, value.id), .quotient = value.quotient};
}

Value ValueRules::boolean(const Value& value, SourceRange range) {
  if (value.failed() || (!value.literal && value.type == DType::boolean)) return value;
  return error(range, "a bool is needed here: compare the number, as in `x != 0`");
}

Value ValueRules::apply(Op op, std::vector<Value> operands, SourceRange range) {
  for (const Value& operand : operands)
    if (operand.failed()) return {};
  if (const auto folded = fold_literals(op, operands)) {
    Value result{.type = folded->is_float ? DType::f32 : DType::i32, .literal = folded};
    for (const Value& operand : operands)
      if (operand.quotient && !folded->is_float) result.quotient = operand.quotient;
    return result;
  }
  switch (facts(op).rule) {
    case TypeRule::number:
    case TypeRule::integer:
      return apply_number(op, std::move(operands), range);
    case TypeRule::shift:
      return apply_shift(op, std::move(operands), range);
    case TypeRule::comparison:
    case TypeRule::ordering:
      return apply_comparison(op, std::move(operands), range);
    case TypeRule::boolean: {
      std::vector<ExpressionId> ids;
      for (const Value& operand : operands) ids.push_back(boolean(operand, range).id);
      for (ExpressionId id : ids)
        if (!id.valid()) return {};
      return node(arena_.apply(op, DType::boolean, std::move(ids)));
    }
    case TypeRule::where:
      return apply_where(std::move(operands), range);
    case TypeRule::floating:
      return apply_floating(op, std::move(operands), range, false);
    case TypeRule::float_to_boolean:
      return apply_floating(op, std::move(operands), range, true);
    case TypeRule::count_bits: {
      const Value operand = settle(operands[0], range);
      if (!core::is_integer(operand.type))
        return error(range, std::string(facts(op).spelling) + " takes an integer");
      return node(arena_.apply(op, DType::i32, {operand.id}));
    }
    case TypeRule::random:
    case TypeRule::uniform:
      return apply_random(op, std::move(operands), range);
  }
  return {};
}

Value ValueRules::apply_number(Op op, std::vector<Value> operands, SourceRange range) {
  Value first = operands.size() == 1 ? settle(operands[0], range) : operands[0];
  std::optional<DType> type = first.type;
  if (operands.size() == 2) type = join(operands[0], operands[1], range);
  if (!type) return {};
  if (*type == DType::boolean)
    return error(
        range, "`" + std::string(facts(op).spelling) + "` takes numbers, not bools: use `and`, `or`, `not`");
  if (facts(op).rule == TypeRule::integer && !core::is_integer(*type))
    return error(range, "`" + std::string(facts(op).spelling) + "` takes integers only");
  std::vector<ExpressionId> ids;
  const ast::Expression* quotient = nullptr;
  for (const Value& operand : operands) {
    const Value converted = convert(operand, *type, range);
    if (converted.failed()) return {};
    if (converted.quotient) quotient = converted.quotient;
    ids.push_back(converted.id);
  }
  Value result = node(arena_.apply(op, *type, std::move(ids)));
  if (core::is_integer(*type)) result.quotient = quotient;
  return result;
}

Value ValueRules::apply_shift(Op op, std::vector<Value> operands, SourceRange range) {
  const Value left = settle(operands[0], range), right = settle(operands[1], range);
  if (left.failed() || right.failed()) return {};
  if (!core::is_integer(left.type) || !core::is_integer(right.type))
    return error(range, "`" + std::string(facts(op).spelling) + "` takes integers only");
  return node(arena_.apply(op, left.type, {left.id, arena_.cast(left.type, right.id)}));
}

Value ValueRules::apply_comparison(Op op, std::vector<Value> operands, SourceRange range) {
  const auto type = join(operands[0], operands[1], range);
  if (!type) return {};
  if (*type == DType::boolean && facts(op).rule == TypeRule::ordering)
    return error(range, "bools have no order: use `and`, `or`, `not`");
  const Value left = convert(operands[0], *type, range), right = convert(operands[1], *type, range);
  if (left.failed() || right.failed()) return {};
  return node(arena_.apply(op, DType::boolean, {left.id, right.id}));
}

Value ValueRules::apply_floating(Op op, std::vector<Value> operands, SourceRange range, bool gives_boolean) {
  DType type = DType::f32;
  for (const Value& operand : operands)
    if (!operand.literal && operand.type == DType::f64) type = DType::f64;
  std::vector<ExpressionId> ids;
  for (const Value& operand : operands) {
    if (!operand.literal && operand.type == DType::boolean)
      return error(range, "`" + std::string(facts(op).spelling) + "` takes numbers, not bools");
    const Value converted = convert(operand, type, range);
    if (converted.failed()) return {};
    ids.push_back(converted.id);
  }
  return node(arena_.apply(op, gives_boolean ? DType::boolean : type, std::move(ids)));
}

Value ValueRules::apply_where(std::vector<Value> operands, SourceRange range) {
  const Value condition = boolean(operands[0], range);
  const auto type = join(operands[1], operands[2], range);
  if (condition.failed() || !type) return {};
  const Value chosen = convert(operands[1], *type, range), other = convert(operands[2], *type, range);
  if (chosen.failed() || other.failed()) return {};
  Value result = node(arena_.apply(Op::where, *type, {condition.id, chosen.id, other.id}));
  if (core::is_integer(*type)) result.quotient = chosen.quotient ? chosen.quotient : other.quotient;
  return result;
}

Value ValueRules::apply_random(Op op, std::vector<Value> operands, SourceRange range) {
  std::vector<ExpressionId> ids;
  for (const Value& operand : operands) {
    const Value settled = settle(operand, range);
    if (settled.failed()) return {};
    if (!core::is_integer(settled.type))
      return error(range,
                   "`" + std::string(facts(op).spelling) + "` takes a seed and an index, both integers");
    ids.push_back(arena_.cast(DType::u64, settled.id));
  }
  return node(arena_.apply(op, op == Op::random ? DType::u32 : DType::f32, std::move(ids)));
}

}  // namespace einkern::dsl
