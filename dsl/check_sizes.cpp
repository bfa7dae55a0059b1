#include "dsl/check_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/expression_text.h"

namespace einkern::dsl {
namespace {

constexpr std::uint64_t most_size = std::uint64_t{1} << 60;

}  // namespace

bool SizeAnalysis::is_data_dependent(ExpressionId id) {
  if (const auto known = data_dependent_.find(id); known != data_dependent_.end()) return known->second;
  const Expression& node = function_.arena[id];
  bool dependent =
      node.op == Op::read || node.op == Op::scalar || node.op == Op::random || core::is_float(node.type);
  for (const ExpressionId operand : node.operands) dependent = dependent || is_data_dependent(operand);
  const auto range_depends = [&](AxisId axis) {
    return is_data_dependent(function_.arena[axis].low) || is_data_dependent(function_.arena[axis].high);
  };
  for (const AxisId axis : node.axes) dependent = dependent || range_depends(axis);
  if (node.op == Op::axis) dependent = dependent || range_depends(AxisId{node.index});
  return data_dependent_[id] = dependent;
}

bool SizeAnalysis::is_over_dims(ExpressionId id) {
  if (is_data_dependent(id)) return false;
  bool only_dims = true;
  visit_nodes(function_.arena, id, [&](ExpressionId part) {
    const Op op = function_.arena[part].op;
    only_dims = only_dims && op != Op::axis && op != Op::reduce;
  });
  return only_dims;
}

const LinearForm& SizeAnalysis::linear_form(ExpressionId id) {
  if (const auto known = forms_.find(id); known != forms_.end()) return known->second;
  const Expression& node = function_.arena[id];
  LinearForm form = LinearForm::term(id);
  if (node.op == Op::constant) {
    form = {node.integer_value(), {}};
  } else if (node.op == Op::add || node.op == Op::subtract) {
    LinearForm sum = linear_form(node.operands[0]);
    if (sum.add(linear_form(node.operands[1]), node.op == Op::add ? 1 : -1)) form = std::move(sum);
  } else if (node.op == Op::negate) {
    LinearForm negated;
    if (negated.add(linear_form(node.operands[0]), -1)) form = std::move(negated);
  } else if (node.op == Op::multiply) {
    const LinearForm &left = linear_form(node.operands[0]), &right = linear_form(node.operands[1]);
    const LinearForm &factor = left.is_constant() ? left : right, &other = left.is_constant() ? right : left;
    LinearForm product;
    if (factor.is_constant() && product.add(other, factor.constant)) form = std::move(product);
  }
  return forms_[id] = std::move(form);
}

bool SizeAnalysis::equal(ExpressionId left, ExpressionId right) {
  return left == right || linear_form(left) == linear_form(right);
}

/// Replaces each axis by the end of its range at which the form is largest (or smallest), innermost axes
/// first: the later an axis was made, the deeper it stands.
bool SizeAnalysis::replace_axes(LinearForm& form, bool upper) {
  while (true) {
    std::optional<ExpressionId> innermost;
    for (const auto& [term, coefficient] : form.terms) {
      const Expression& node = function_.arena[term];
      if (node.op != Op::axis) continue;
      if (!innermost || function_.arena[*innermost].index < node.index) innermost = term;
    }
    if (!innermost) return true;
    const Axis& axis = function_.arena[AxisId{function_.arena[*innermost].index}];
    const std::int64_t coefficient = form.terms.at(*innermost);
    const bool at_end = (coefficient > 0) == upper;
    form.terms.erase(*innermost);
    if (!form.add(linear_form(at_end ? axis.high : axis.low), coefficient)) return false;
    if (at_end && !form.add({-1, {}}, coefficient)) return false;
  }
}

std::optional<SizeAnalysis::Range> SizeAnalysis::range_of(LinearForm form) {
  Range range{form, std::move(form)};
  if (!replace_axes(range.low, false) || !replace_axes(range.last, true)) return std::nullopt;
  return range;
}

/// Whether a form over dims is at least `least`, dims being at least 0, and 1 where an axis of the index runs
/// over the whole dim (else there is no index at all).
bool SizeAnalysis::at_least(const LinearForm& form, std::int64_t least, const LinearForm& index) const {
  LinearForm total{form.constant, {}};
  for (const auto& [term, coefficient] : form.terms) {
    if (function_.arena[term].op != Op::dim || coefficient < 0) return false;
    const bool positive =
        std::any_of(index.terms.begin(), index.terms.end(), [&, dim = term](const auto& part) {
          const Expression& node = function_.arena[part.first];
          return node.op == Op::axis && function_.arena[AxisId{node.index}].high == dim;
        });
    if (positive && !total.add({1, {}}, coefficient)) return false;
  }
  return total.constant >= least;
}

std::optional<LeavingIndex> SizeAnalysis::leaves(ExpressionId index, ExpressionId extent) {
  const LinearForm form = linear_form(index);
  const std::optional<Range> range = range_of(form);
  if (!range) return std::nullopt;
  LinearForm beyond = range->last, below;
  if (!beyond.add(linear_form(extent), -1) || !below.add(range->low, -1)) return std::nullopt;
  if (!at_least(beyond, 0, form) && !at_least(below, 1, form)) return std::nullopt;
  LinearForm end = range->last;
  end.add({1, {}});
  return LeavingIndex{fmt::format("{}..{}", text(range->low), text(end))};
}

std::string SizeAnalysis::text(const LinearForm& form) const {
  std::string result;
  for (const auto& [term, coefficient] : form.terms) {
    const bool negative = coefficient < 0;
    if (result.empty())
      result += negative ? "-" : "";
    else
      result += negative ? " - " : " + ";
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
    if (size != 1) result += fmt::format("{} * ", size);
    result += expression_text(function_, term, 100);
  }
  if (result.empty()) return fmt::format("{}", form.constant);
  if (form.constant > 0) result += fmt::format(" + {}", form.constant);
  if (form.constant < 0) result += fmt::format(" - {}", 0 - static_cast<std::uint64_t>(form.constant));
  return result;
}

ExpressionMetrics SizeAnalysis::metrics(ExpressionId id) {
  // A node is made after its operands, so one pass in the order of ids suffices.
  while (metrics_.size() <= static_cast<std::size_t>(id.value)) {
    const Expression& node = function_.arena[ExpressionId{static_cast<std::int32_t>(metrics_.size())}];
    ExpressionMetrics result{0, 1};
    const auto count = [&](ExpressionId part) {
      const ExpressionMetrics& inner = metrics_[static_cast<std::size_t>(part.value)];
      result.height = std::max(result.height, inner.height);
      result.size = std::min(most_size, result.size + inner.size);
    };
    for (const ExpressionId operand : node.operands) count(operand);
    for (const AxisId axis : node.axes) {
      count(function_.arena[axis].low);
      count(function_.arena[axis].high);
    }
    ++result.height;
    metrics_.push_back(result);
  }
  return metrics_[static_cast<std::size_t>(id.value)];
}

}  // namespace einkern::dsl
