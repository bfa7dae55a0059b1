// The part of FunctionChecker that checks updates: `y[t[n], d] += g[n, d]`, and new versions of inout
// tensors.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/ast_names.h"
#include "dsl/check.h"

namespace einkern::dsl {
namespace {

UpdateOperator operator_of(ast::Assignment assignment) {
  switch (assignment) {
    case ast::Assignment::define:
      return UpdateOperator::assign;
    case ast::Assignment::add:
      return UpdateOperator::add;
    case ast::Assignment::maximum:
      return UpdateOperator::maximum;
    case ast::Assignment::minimum:
      return UpdateOperator::minimum;
  }
  return UpdateOperator::assign;
}

}  // namespace

/// The index variables of an update: every name in its left indices that is nothing else.
std::vector<ast::Identifier> FunctionChecker::update_variables(const ast::Target& target) {
  std::vector<ast::Identifier> variables;
  for (const ast::TargetIndex& index : target.indices)
    for (const ast::Identifier& name : free_names(*index.expression)) {
      const bool seen = std::any_of(variables.begin(), variables.end(),
                                    [&](const auto& other) { return other.text == name.text; });
      if (!seen && !frame().find(name.text)) variables.push_back(name);
    }
  return variables;
}

/// What a variable of an update runs over: bounds on the left, else the dimension of the target at which it
/// stands alone, and reads on either side.
std::optional<ExpressionId> FunctionChecker::update_extent(const ast::Definition& definition,
                                                           const ast::Target& target, const Symbol& symbol,
                                                           const ast::Identifier& variable) {
  std::optional<Evidence> declared;
  Ranges ranges;
  for (std::size_t i = 0; i < target.indices.size(); ++i) {
    const ast::TargetIndex& index = target.indices[i];
    const auto* name = index.expression->as<ast::Name>();
    const bool alone = name && name->text == variable.text;
    if (alone && index.bounds) return explicit_extent(*index.bounds);
    if (alone && !declared)
      declared = Evidence{symbol.view.shape[i], index.expression->range,
                          fmt::format("dimension {} of `{}`", i, target.name.text)};
    if (!alone) collect_ranges(*index.expression, variable.text, false, ranges);
  }
  collect_ranges(*definition.value, variable.text, false, ranges);
  return decide_range(variable, ranges, declared ? &*declared : nullptr);
}

std::optional<std::vector<AxisId>> FunctionChecker::update_axes(const ast::Definition& definition,
                                                                const ast::Target& target,
                                                                const Symbol& symbol) {
  std::vector<AxisId> axes;
  bool complete = true;
  for (const ast::Identifier& variable : update_variables(target)) {
    const bool named = may_name_variable(variable);
    const auto extent = named ? update_extent(definition, target, symbol, variable) : std::nullopt;
    const AxisId axis = extent ? arena().add_axis(variable.text, index_constant(0), *extent) : AxisId{};
    complete = complete && extent;
    axes.push_back(axis);
    frame().variables.push_back({variable.text, axis, variable.range});
  }
  return complete ? std::optional(std::move(axes)) : std::nullopt;
}

void FunctionChecker::update(const ast::Definition& definition, const ast::Target& target, Symbol& symbol) {
  symbol.updated = true;
  const std::string name = target.name.text;
  if (target.type) {
    error(target.type->range, fmt::format("`{}` has its type already", name))
        .note(symbol.where, "declared here");
    return;
  }
  if (target.indices.size() != symbol.view.shape.size()) {
    error(target.range, fmt::format("`{}` has {} dimension{}, and this left side has {} ind{}", name,
                                    symbol.view.shape.size(), symbol.view.shape.size() == 1 ? "" : "s",
                                    target.indices.size(), target.indices.size() == 1 ? "ex" : "ices"))
        .note(symbol.where, "declared here");
    return;
  }
  const TensorView view = symbol.view;
  const DType dtype = symbol.dtype;
  const std::size_t outer = frame().variables.size();
  const auto axes = update_axes(definition, target, symbol);
  std::vector<ExpressionId> indices;
  for (const ast::TargetIndex& index : target.indices)
    if (const auto node = typing_.convert_to_index(operand(*index.expression), "an index"))
      indices.push_back(*node);
  const Operand value = operand(*definition.value);
  frame().variables.resize(outer);
  if (definition.assignment != ast::Assignment::define && dtype == DType::boolean) {
    error(definition.operator_range,
          fmt::format("`{}` takes numbers, and `{}` holds bool", spelling(definition.assignment), name));
    return;
  }
  const auto stored = typing_.convert_for_store(value, dtype, name);
  if (!axes || indices.size() < target.indices.size() || !stored) return;
  if (!within_limits(*stored, definition.value->range)) return;
  Definition result;
  result.target = view.tensor;
  result.axes = *axes;
  result.value = *stored;
  result.update = operator_of(definition.assignment);
  result.indices = std::move(indices);
  result.where = target.range;
  add_definition(std::move(result));
}

}  // namespace einkern::dsl
