#include "dsl/dim_evaluation.h"

#include <unordered_map>

#include "dsl/linear_form.h"

namespace einkern::dsl {
namespace {

using Values = std::unordered_map<ExpressionId, std::optional<ScalarBits>>;

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
  operands.resize(3);
  return apply_scalar(node.op, operand_type, node.type, operands[0], operands[1], operands[2]);
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
