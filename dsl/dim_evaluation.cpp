#include "dsl/dim_evaluation.h"

#include <unordered_map>

#include "dsl/linear_form.h"

namespace einkern::dsl {
namespace {

using Values = std::unordered_map<ExpressionId, std::optional<ScalarBits>>;

ScalarBits cast_scalar(DType from, DType to, ScalarBits value) {
  if (core::is_float(to)) {
    const double number = core::is_float(from) ? value.floating
                          : from == DType::u64
                              ? static_cast<double>(static_cast<std::uint64_t>(value.integer))
                              : static_cast<double>(value.integer);
    return {core::round_to(to, number), 0};
  }
  if (to == DType::boolean) return {0, core::is_float(from) ? value.floating != 0 : value.integer != 0};
  if (core::is_float(from)) return {0, core::float_to_integer(to, value.floating)};
  return {0, core::wrap_integer(to, value.integer)};
}

ScalarBits apply(const Expression& node, DType operand_type, const std::vector<ScalarBits>& operands) {
  const auto at = [&](std::size_t i) { return i < operands.size() ? operands[i] : ScalarBits{}; };
  if (node.op == Op::where) return at(0).integer != 0 ? at(1) : at(2);
  if (node.op == Op::uniform) {
    return {
        philox_uniform(static_cast<std::uint64_t>(at(0).integer), static_cast<std::uint64_t>(at(1).integer)),
        0};
  }
  if (!core::is_float(operand_type)) {
    return {0, apply_integer(node.op, operand_type, at(0).integer, at(1).integer, at(2).integer)};
  }
  if (node.type == DType::boolean) return {0, apply_float_test(node.op, at(0).floating, at(1).floating)};
  return {apply_float(node.op, at(0).floating, at(1).floating, at(2).floating), 0};
}

std::optional<ScalarBits> evaluate_node(const Function& function, const Expression& node,
                                        const Values& values, const KnownDims& dims) {
  switch (node.op) {
    case Op::constant:
      if (core::is_float(node.type)) return ScalarBits{node.float_value(), 0};
      return ScalarBits{0, node.integer_value()};
    case Op::dim: {
      const auto& value = dims[static_cast<std::size_t>(node.index)];
      return value ? std::optional(ScalarBits{0, *value}) : std::nullopt;
    }
    case Op::scalar:
    case Op::axis:
    case Op::read:
    case Op::reduce:
      return {};
    default:
      break;
  }
  std::vector<ScalarBits> operands;
  for (const ExpressionId operand : node.operands) {
    const std::optional<ScalarBits>& value = values.at(operand);
    if (!value) return {};
    operands.push_back(*value);
  }
  const DType operand_type = function.arena[node.operands.front()].type;
  if (node.op == Op::cast) return cast_scalar(operand_type, node.target, operands[0]);
  if (node.op == Op::bitcast) return bitcast_scalar(operand_type, node.target, operands[0]);
  return apply(node, operand_type, operands);
}

}  // namespace

std::optional<ScalarBits> evaluate_over_dims(const Function& function, ExpressionId id,
                                             const KnownDims& dims) {
  Values values;
  visit_nodes(function.arena, id, [&](ExpressionId part) {
    values.emplace(part, evaluate_node(function, function.arena[part], values, dims));
  });
  return values.at(id);
}

std::optional<SolvableDimension> solvable_dimension(const Function& function, ExpressionId id) {
  std::unordered_map<ExpressionId, std::optional<LinearForm>> forms;
  visit_nodes(function.arena, id, [&](ExpressionId part) {
    const Expression& node = function.arena[part];
    const auto operand = [&](std::size_t i) -> const std::optional<LinearForm>& {
      return forms.at(node.operands[i]);
    };
    std::optional<LinearForm>& form = forms[part];
    if (node.op == Op::constant && node.type == DType::i64) form = LinearForm{node.integer_value(), {}};
    if (node.op == Op::dim) form = LinearForm::term(part);
    if ((node.op == Op::add || node.op == Op::subtract) && operand(0) && operand(1)) {
      LinearForm sum = *operand(0);
      if (sum.add(*operand(1), node.op == Op::add ? 1 : -1)) form = sum;
    }
    if (node.op == Op::multiply && operand(0) && operand(1)) {
      const bool constant_first = operand(0)->is_constant();
      const LinearForm& constant = constant_first ? *operand(0) : *operand(1);
      LinearForm product;
      if (constant.is_constant() &&
          product.add(constant_first ? *operand(1) : *operand(0), constant.constant)) {
        form = product;
      }
    }
  });
  const std::optional<LinearForm>& form = forms.at(id);
  if (!form || form->terms.size() != 1) return {};
  const auto& [term, factor] = *form->terms.begin();
  return SolvableDimension{factor, DimId{function.arena[term].index}, form->constant};
}

}  // namespace einkern::dsl
