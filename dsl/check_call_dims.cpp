// The part of FunctionChecker that gives a callee's dims their values in a call: expressions over the
// caller's.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dsl/ast_names.h"
#include "dsl/check.h"
#include "dsl/dim_evaluation.h"
#include "dsl/expression_text.h"

namespace einkern::dsl {
namespace {

/// Whether every name in the expression has its value in the callee already.
bool all_known(const Frame& callee, const ast::Expression& expression) {
  const auto names = free_names(expression);
  return std::all_of(names.begin(), names.end(),
                     [&](const auto& name) { return callee.symbols.contains(name.text); });
}

/// factor * name + offset.
struct LinearDimension {
  __int128 factor = 0, offset = 0;
};

constexpr __int128 largest_literal = __int128{1} << 40;  // of a size, with room for products

/// A dimension as written, taken as `a * name + b` with literals a and b; nothing for any other form.
std::optional<LinearDimension> linear_dimension(const ast::Expression& dimension) {
  if (dimension.as<ast::Name>()) return LinearDimension{1, 0};
  const auto* number = dimension.as<ast::Number>();
  if (number && !number->is_float)
    return LinearDimension{0, std::min(__int128{number->integer}, largest_literal)};
  const auto* binary = dimension.as<ast::Binary>();
  if (!binary) return std::nullopt;
  const auto left = linear_dimension(*binary->left), right = linear_dimension(*binary->right);
  if (!left || !right) return std::nullopt;
  LinearDimension result;
  if (binary->operation == ast::BinaryOperator::add)
    result = {left->factor + right->factor, left->offset + right->offset};
  else if (binary->operation == ast::BinaryOperator::subtract)
    result = {left->factor - right->factor, left->offset - right->offset};
  else if (binary->operation == ast::BinaryOperator::multiply && left->factor * right->factor == 0)
    result = {left->factor * right->offset + right->factor * left->offset, left->offset * right->offset};
  else
    return std::nullopt;
  const auto small = [](__int128 value) { return value <= largest_literal && value >= -largest_literal; };
  return small(result.factor) && small(result.offset) ? std::optional(result) : std::nullopt;
}

}  // namespace

bool FunctionChecker::bind_dims(const CallSite& site, Frame& callee) {
  if (!bind_dim_arguments(site, callee)) return false;
  solve_dims(site, callee);
  return same_compute_types(site, callee) && require_shapes(site, callee);
}

bool FunctionChecker::bind_dim_arguments(const CallSite& site, Frame& callee) {
  for (const Argument& argument : site.arguments) {
    if (!argument.parameter->is_dim || !argument.expression) continue;
    const auto value = typing_.convert_to_index(argument.operand, "a dim");
    if (!value) return false;
    if (!sizes_.is_over_dims(*value)) {
      error(argument.expression->range, fmt::format("the dim `{}` of `{}` takes an expression over dims",
                                                    argument.parameter->name.text, site.callee->name.text))
          .note(argument.parameter->range, "declared here");
      return false;
    }
    const auto number = constant_value(arena(), *value);
    if (number && *number < 0) {
      error(argument.expression->range, "a dim is not negative");
      return false;
    }
    bind_dim(callee, argument.parameter->name.text, argument.parameter->name.range, *value);
  }
  return true;
}

bool FunctionChecker::bind_dim(Frame& callee, const std::string& name, SourceRange where,
                               ExpressionId value) {
  Symbol symbol;
  symbol.where = where;
  symbol.value = Value::typed(arena(), value);
  symbol.declared = true;
  return callee.symbols.emplace(name, std::move(symbol)).second;
}

/// In whatever order shapes, derivations, equalities and defaults allow.
void FunctionChecker::solve_dims(const CallSite& site, Frame& callee) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const Argument& argument : site.arguments) {
      const ast::Parameter& parameter = *argument.parameter;
      for (std::size_t i = 0; argument.view && i < parameter.shape.size(); ++i)
        progress = solve_dimension(*parameter.shape[i], argument.view->shape[i], callee) || progress;
      const bool takes_default =
          parameter.is_dim && !argument.expression && !callee.symbols.contains(parameter.name.text);
      if (!takes_default || !all_known(callee, *parameter.default_value)) continue;
      const auto value = size_in(callee, *parameter.default_value);
      if (value) progress = bind_dim(callee, parameter.name.text, parameter.name.range, *value) || progress;
    }
    for (const ast::WhereItem& item : site.callee->where) progress = solve_where(item, callee) || progress;
  }
}

bool FunctionChecker::solve_dimension(const ast::Expression& dimension, ExpressionId extent, Frame& callee) {
  auto names = free_names(dimension);
  if (names.empty() || callee.symbols.contains(names.front().text)) return false;
  const bool one_name = std::all_of(names.begin(), names.end(),
                                    [&](const auto& name) { return name.text == names.front().text; });
  const auto linear = one_name ? linear_dimension(dimension) : std::nullopt;
  if (!linear || linear->factor == 0) return false;
  const ExpressionId value = divide_exactly(extent, static_cast<std::int64_t>(linear->factor),
                                            static_cast<std::int64_t>(linear->offset));
  return bind_dim(callee, names.front().text, names.front().range, value);
}

/// (extent - offset) / factor, as a sum where every part divides; require_shapes() adds the constraint that
/// the quotient is exact.
ExpressionId FunctionChecker::divide_exactly(ExpressionId extent, std::int64_t factor, std::int64_t offset) {
  if (factor == 1 && offset == 0) return extent;
  LinearForm form = sizes_.linear_form(extent);
  const bool fits = form.add({-offset, {}});
  const bool divides = fits && form.constant % factor == 0 &&
                       std::all_of(form.terms.begin(), form.terms.end(),
                                   [&](const auto& term) { return term.second % factor == 0; });
  if (!divides) {
    const ExpressionId rest = arena().apply(Op::subtract, DType::i64, {extent, index_constant(offset)});
    return arena().apply(Op::divide, DType::i64, {rest, index_constant(factor)});
  }
  form.constant /= factor;
  for (auto& [term, coefficient] : form.terms) coefficient /= factor;
  return expression_of(form);
}

bool FunctionChecker::solve_where(const ast::WhereItem& item, Frame& callee) {
  if (item.derived) {
    if (callee.symbols.contains(item.derived->text) || !all_known(callee, *item.expression)) return false;
    const auto value = size_in(callee, *item.expression);
    return value && bind_dim(callee, item.derived->text, item.derived->range, *value);
  }
  const auto names = equated_names(item);
  if (!names) return false;
  const Symbol* left = callee.find(names->first);
  const Symbol* right = callee.find(names->second);
  if ((left == nullptr) == (right == nullptr)) return false;
  const ExpressionId value = (left ? left : right)->value.id;
  return bind_dim(callee, left ? names->second : names->first, item.range, value);
}

ExpressionId FunctionChecker::expression_of(const LinearForm& form) {
  std::optional<ExpressionId> sum;
  for (const auto& [term, coefficient] : form.terms) {
    const ExpressionId part = arena().apply(Op::multiply, DType::i64, {term, index_constant(coefficient)});
    sum = sum ? arena().apply(Op::add, DType::i64, {*sum, part}) : part;
  }
  const ExpressionId constant = index_constant(form.constant);
  return sum ? arena().apply(Op::add, DType::i64, {*sum, constant}) : constant;
}

/// A default of the callee, over its dims as they are in this call.
Value FunctionChecker::default_in(Frame& callee, const ast::Expression& expression) {
  Frame* const caller = std::exchange(frame_, &callee);
  const bool outside = std::exchange(callee.dims_only, true);
  const Value value = check_expression(expression);
  callee.dims_only = outside;
  frame_ = caller;
  return value;
}

std::optional<ExpressionId> FunctionChecker::size_in(Frame& callee, const ast::Expression& expression) {
  return typing_.convert_to_index({default_in(callee, expression), expression.range}, "a dim");
}

/// The callee's shapes and constraints hold in this call: proven here, or checked when shapes bind.
bool FunctionChecker::require_shapes(const CallSite& site, Frame& callee) {
  for (const Argument& argument : site.arguments)
    for (std::size_t i = 0; argument.view && i < argument.parameter->shape.size(); ++i) {
      const auto wanted = size_in(callee, *argument.parameter->shape[i]);
      const ExpressionId given = argument.view->shape[i];
      if (!wanted) return false;
      if (!require_equal(*wanted, given, argument.expression->range)) return false;
    }
  for (const ast::WhereItem& item : site.callee->where) {
    if (item.derived) continue;
    const auto condition =
        typing_.condition({default_in(callee, *item.expression), item.range}, "a constraint");
    if (!condition || !require(*condition, site.where)) return false;
  }
  return true;
}

bool FunctionChecker::require_equal(ExpressionId left, ExpressionId right, SourceRange where) {
  return sizes_.equal(left, right) || require(arena().apply(Op::equal, DType::boolean, {left, right}), where);
}

/// Adds a constraint of this function, to be checked when shapes bind; false after an error, if it never
/// holds.
bool FunctionChecker::require(ExpressionId condition, SourceRange where) {
  const Expression& node = arena()[condition];
  if (node.op == Op::equal && node.operands[0] == node.operands[1]) return true;
  const KnownDims unknown(function_.dims.size());
  if (const auto value = evaluate_over_dims(function_, condition, unknown)) {
    if (value->integer != 0) return true;
    error(where,
          fmt::format("this call requires {}, which never holds", expression_text(function_, condition)));
    return false;
  }
  auto& constraints = function_.constraints;
  if (std::find(constraints.begin(), constraints.end(), condition) != constraints.end()) return true;
  constraints.push_back(condition);
  function_.constraint_texts.push_back(expression_text(function_, condition));
  return true;
}

/// The shape of a call's one result, for what its indices run over; nothing where the call has an error,
/// which is told where it is checked.
std::optional<std::vector<ExpressionId>> FunctionChecker::result_shape(const ast::Call& call) {
  const ast::Function& callee = *table_.find(call.callee.text);
  const bool simple = callee.results.size() == 1 && call.arguments.size() <= callee.parameters.size();
  if (!simple || table_.failed.contains(&callee)) return std::nullopt;
  DiagnosticBag silent;
  DiagnosticBag* const loud = std::exchange(diagnostics_, &silent);
  CallSite site{&callee, &call, call.callee.range, {}};
  bool complete = true;
  for (std::size_t i = 0; complete && i < callee.parameters.size(); ++i) {
    Argument argument;
    argument.parameter = &callee.parameters[i];
    argument.expression = i < call.arguments.size() ? call.arguments[i].get() : nullptr;
    if (argument.expression && !argument.parameter->shape.empty()) {
      argument.view = shape_of_argument(*argument.expression);
      complete = argument.view && argument.view->shape.size() == argument.parameter->shape.size();
    } else if (argument.expression && argument.parameter->is_dim) {
      argument.operand = operand(*argument.expression);
    }
    site.arguments.push_back(std::move(argument));
  }
  Frame inner;
  inner.source = &callee;
  std::optional<std::vector<ExpressionId>> shape;
  if (complete && bind_dim_arguments(site, inner)) {
    solve_dims(site, inner);
    shape.emplace();
    for (const ast::ExpressionPointer& dimension : callee.results[0].shape) {
      const auto extent = all_known(inner, *dimension) ? size_in(inner, *dimension) : std::nullopt;
      complete = complete && extent;
      if (extent) shape->push_back(*extent);
    }
  }
  diagnostics_ = loud;
  return complete ? shape : std::nullopt;
}

/// The free dimensions of a tensor or slice, its indices not looked at.
std::optional<TensorView> FunctionChecker::shape_of_argument(const ast::Expression& expression) {
  const auto* index = expression.as<ast::Index>();
  const auto* name = index ? index->base->as<ast::Name>() : expression.as<ast::Name>();
  const Symbol* symbol = name ? frame().find(name->text) : nullptr;
  if (!symbol || symbol->kind != Symbol::Kind::tensor || symbol->failed || !symbol->defined)
    return std::nullopt;
  TensorView view = symbol->view;
  if (!index) return view;
  if (index->subscripts.size() != view.shape.size()) return std::nullopt;
  std::vector<ExpressionId> shape;
  for (std::size_t i = 0; i < view.shape.size(); ++i)
    if (!index->subscripts[i].expression) shape.push_back(view.shape[i]);
  view.shape = std::move(shape);
  return view;
}

}  // namespace einkern::dsl
