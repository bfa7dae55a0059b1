// Expressions: names, operators, comparisons, reductions.
#include <array>
#include <limits>

#include "core/dtype.h"
#include "dsl/checker.h"

namespace einkern::dsl {

Symbol* Checker::find(std::string_view name) {
  const auto it = frame().symbols.find(name);
  return it == frame().symbols.end() ? nullptr : &it->second;
}

AxisId* Checker::find_variable(std::string_view name) {
  auto& variables = frame().variables;
  for (auto it = variables.rbegin(); it != variables.rend(); ++it)
    if (it->first == name) return &it->second;
  return nullptr;
}

Value Checker::check_value(const ast::Expression& expression) {
  const SourceRange range = expression.range;
  if (const auto* number = expression.as<ast::Number>())
    return number->is_float ? rules_.float_literal(number->real)
                            : rules_.integer_literal(static_cast<std::int64_t>(number->integer));
  if (const auto* constant = expression.as<ast::Constant>()) {
    switch (*constant) {
      case ast::Constant::infinity:
        return rules_.float_literal(std::numeric_limits<double>::infinity());
      case ast::Constant::not_a_number:
        return rules_.float_literal(std::numeric_limits<double>::quiet_NaN());
      case ast::Constant::true_value:
        return rules_.node(arena().constant_integer(DType::boolean, 1));
      case ast::Constant::false_value:
        return rules_.node(arena().constant_integer(DType::boolean, 0));
    }
  }
  if (const auto* name = expression.as<ast::Name>()) return check_name(*name, range);
  if (expression.as<ast::TypeName>()) {
    error(range, "a type is no value; it may be called, as in `f32(x)`");
    return {};
  }
  if (const auto* unary = expression.as<ast::Unary>()) {
    constexpr std::array ops = {Op::negate, Op::bit_not, Op::logical_not};
    return rules_.apply(ops[static_cast<std::size_t>(unary->operation)], {check_value(*unary->operand)},
                        range);
  }
  if (const auto* binary = expression.as<ast::Binary>()) return check_binary(*binary, expression);
  if (const auto* comparison = expression.as<ast::Comparison>()) return check_comparison(*comparison, range);
  if (const auto* guarded = expression.as<ast::Else>()) return check_else(*guarded, range);
  if (const auto* call = expression.as<ast::Call>()) return check_call(*call, range);
  if (const auto* index = expression.as<ast::Index>()) return check_index(*index, range);
  return check_reduction(*expression.as<ast::Reduction>(), range);
}

Value Checker::unknown_name(const std::string& name, SourceRange range) {
  std::vector<std::string_view> candidates;
  for (const auto& [known, symbol] : frame().symbols) candidates.push_back(known);
  for (const auto& [known, axis] : frame().variables) candidates.push_back(known);
  Diagnostic& diagnostic = error(range, "nothing is called `" + name + "` here");
  if (const auto near = nearest_name(name, candidates); !near.empty()) {
    diagnostic.replace(range, std::string(near));
    diagnostic.message += "; did you mean `" + std::string(near) + "`?";
  }
  return {};
}

Value Checker::check_name(const ast::Name& name, SourceRange range) {
  if (const AxisId* axis = find_variable(name.text)) return rules_.node(arena().axis(*axis));
  Symbol* symbol = find(name.text);
  if (!symbol) return unknown_name(name.text, range);
  symbol->used = true;
  if (const auto* value = std::get_if<ValueSymbol>(&symbol->meaning)) return value->value;
  const auto& tensor = std::get<TensorSymbol>(symbol->meaning);
  if (!tensor.tensor.valid() && !tensor.formula.valid()) return {};  // its definition had an error
  if (!tensor.shape.empty()) {
    error(range, "`" + name.text + "` is a tensor of " + std::to_string(tensor.shape.size()) +
                     " dimensions: index it, as in `" + name.text + "[i" +
                     (tensor.shape.size() > 1 ? ", …" : "") + "]`");
    return {};
  }
  return read_element(tensor, {}, std::nullopt, range, name.text);
}

Value Checker::check_binary(const ast::Binary& binary, const ast::Expression& expression) {
  constexpr std::array ops = {Op::multiply, Op::divide,     Op::modulo,      Op::add,
                              Op::subtract, Op::shift_left, Op::shift_right, Op::bit_and,
                              Op::bit_xor,  Op::bit_or,     Op::logical_and, Op::logical_or};
  const Op op = ops[static_cast<std::size_t>(binary.operation)];
  const Value left = check_value(*binary.left), right = check_value(*binary.right);
  Value result = rules_.apply(op, {left, right}, expression.range);
  const bool integer = result.literal ? !result.literal->is_float : core::is_integer(result.type);
  if (op == Op::divide && !result.failed() && integer) result.quotient = &expression;
  return result;
}

Value Checker::check_comparison(const ast::Comparison& comparison, SourceRange range) {
  std::vector<Value> operands;
  for (const auto& operand : comparison.operands) operands.push_back(check_value(*operand));
  Value all;
  for (std::size_t i = 0; i < comparison.comparators.size(); ++i) {
    Value left = operands[i], right = operands[i + 1];
    if (left.literal && right.literal) left = rules_.settle(left, range);
    Op op = Op::less;
    switch (comparison.comparators[i]) {
      case ast::Comparator::less:
        break;
      case ast::Comparator::less_equal:
        op = Op::less_equal;
        break;
      case ast::Comparator::greater:
        std::swap(left, right);
        break;
      case ast::Comparator::greater_equal:
        op = Op::less_equal;
        std::swap(left, right);
        break;
      case ast::Comparator::equal:
        op = Op::equal;
        break;
      case ast::Comparator::not_equal:
        op = Op::not_equal;
        break;
    }
    const Value one = rules_.apply(op, {left, right}, range);
    if (one.failed()) return {};
    all = i == 0 ? one : rules_.apply(Op::logical_and, {all, one}, range);
  }
  return all;
}

Value Checker::check_reduction(const ast::Reduction& reduction, SourceRange range) {
  std::vector<AxisId> axes;
  std::set<std::string> names;
  for (const ast::ReductionVariable& variable : reduction.variables) {
    if (!names.insert(variable.name.text).second) {
      error(variable.name.range, "`" + variable.name.text + "` stands twice in this reduction");
      return {};
    }
    std::vector<RangeCandidate> candidates;
    if (!variable.bounds) collect_ranges(*reduction.body, variable.name.text, candidates);
    const auto axis = make_axis(variable.name, variable.bounds, candidates);
    if (!axis) return {};
    axes.push_back(*axis);
  }
  std::optional<ExpressionId> nth;
  if (reduction.nth) {
    const Value value = rules_.index(check_value(*reduction.nth), reduction.nth->range);
    if (value.failed()) return {};
    nth = value.id;
  }
  for (AxisId axis : axes) frame().variables.emplace_back(arena()[axis].name, axis);
  const Value body = check_value(*reduction.body);
  frame().variables.resize(frame().variables.size() - axes.size());
  if (body.failed()) return {};
  return reduce(reduction.operation.text, std::move(axes), body, nth, range);
}

Value Checker::reduce(const std::string& operation, std::vector<AxisId> axes, const Value& body,
                      std::optional<ExpressionId> nth, SourceRange range) {
  static const std::map<std::string, Reduction, std::less<>> reductions = {
      {"sum", Reduction::sum},     {"mean", Reduction::sum},      {"prod", Reduction::product},
      {"max", Reduction::maximum}, {"min", Reduction::minimum},   {"any", Reduction::any},
      {"all", Reduction::all},     {"argmax", Reduction::argmax}, {"argmin", Reduction::argmin}};
  const auto it = reductions.find(operation);
  if (it == reductions.end()) {
    std::vector<std::string_view> candidates;
    for (const auto& [name, kind] : reductions) candidates.push_back(name);
    const auto near = nearest_name(operation, candidates);
    error(range, "no reduction is called `" + operation + "`" +
                     (near.empty() ? ": there are sum, prod, mean, max, min, any, "
                                     "all, argmax, argmin"
                                   : "; did you mean `" + std::string(near) + "`?"));
    return {};
  }
  const Reduction kind = it->second;
  const bool ordered = kind == Reduction::maximum || kind == Reduction::minimum ||
                       kind == Reduction::argmax || kind == Reduction::argmin;
  if (nth && !ordered) {
    error(range, "`nth` goes with max, min, argmax and argmin only");
    return {};
  }
  if ((kind == Reduction::argmax || kind == Reduction::argmin || nth) && axes.size() != 1) {
    error(range, "`" + operation + (nth ? "` with `nth`" : "`") + " reduces one variable");
    return {};
  }
  Value value = rules_.settle(
      {.type = body.type, .id = body.id, .literal = body.literal, .quotient = body.quotient}, range);
  if (value.failed()) return {};
  const bool logical = kind == Reduction::any || kind == Reduction::all;
  if (logical != (value.type == DType::boolean)) {
    error(range, logical
                     ? "`" + operation + "` takes bools: compare, as in `" + operation + "(i) (x[i] > 0)`"
                     : "`" + operation + "` takes numbers: count with `sum(i) i32(…)`, or use any or all");
    return {};
  }
  if (operation == "mean") {
    const DType type = value.type == DType::f64 ? DType::f64 : DType::f32;
    value = rules_.convert(value, type, range);
    if (value.failed()) return {};
    ExpressionId extent = arena().constant_integer(DType::i64, 1);
    for (AxisId axis : axes) {
      const Axis bounds = arena()[axis];
      ExpressionId length = arena().apply(Op::subtract, DType::i64, {bounds.high, bounds.low});
      if (constant_value(arena(), bounds.low) != 0)
        length = arena().apply(Op::maximum, DType::i64, {length, arena().constant_integer(DType::i64, 0)});
      extent = arena().apply(Op::multiply, DType::i64, {extent, length});
    }
    const ExpressionId sum = arena().reduce(Reduction::sum, type, std::move(axes), value.id);
    return rules_.node(arena().apply(Op::divide, type, {sum, arena().cast(type, extent)}));
  }
  const bool index = kind == Reduction::argmax || kind == Reduction::argmin;
  return rules_.node(arena().reduce(kind, index ? DType::i64 : value.type, std::move(axes), value.id, nth));
}

}  // namespace einkern::dsl
