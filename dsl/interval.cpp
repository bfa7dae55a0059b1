#include "dsl/interval.h"

#include <algorithm>

#include "dsl/interval_arithmetic.h"

namespace einkern::dsl {
namespace {

constexpr Interval empty_interval{1, 0};
/// Sums of more terms than this are taken apart no further: keeps the analysis of huge expressions linear in
/// their size.
constexpr std::size_t most_terms = 32;

bool is_sum(Op op) { return op == Op::add || op == Op::subtract || op == Op::negate || op == Op::multiply; }

bool is_integer_like(DType type) { return core::is_integer(type) || type == DType::boolean; }

}  // namespace

Interval interval_of(const Function& function, ExpressionId id, const std::vector<std::int64_t>& dims) {
  return IntervalAnalysis(function, dims).of(id);
}

Interval IntervalAnalysis::of(ExpressionId id) {
  if (const auto known = intervals_.find(id); known != intervals_.end()) return known->second;
  // Operands first and without recursion, so that deep expressions do no harm: what compute() asks for is
  // known then.
  visit_nodes(function_.arena, id, [this](ExpressionId part) {
    if (intervals_.contains(part)) return;
    if (node(part).type == DType::i64) forms_.emplace(part, compute_form(part));
    const Interval interval = is_integer_like(node(part).type) ? compute(part) : Interval{};
    intervals_.emplace(part, interval);
  });
  return intervals_.at(id);
}

Interval IntervalAnalysis::of(AxisId id) {
  const Axis& axis = function_.arena[id];
  const Interval low = of(axis.low), high = of(axis.high);
  if (low.empty() || high.empty() || high.high <= low.low) return empty_interval;
  return {low.low, high.high - 1};
}

const LinearForm& IntervalAnalysis::linear_form(ExpressionId id) {
  of(id);
  return forms_.at(id);
}

LinearForm IntervalAnalysis::compute_form(ExpressionId id) {
  const Expression& expression = node(id);
  if (expression.op == Op::constant) return {expression.integer_value(), {}};
  if (expression.op == Op::dim) return {dims_[static_cast<std::size_t>(expression.index)], {}};
  if (!is_sum(expression.op)) return LinearForm::term(id);
  LinearForm form;
  const LinearForm& first = forms_.at(expression.operands[0]);
  if (expression.op == Op::negate) {
    form.add(first, -1);
    return form;
  }
  const LinearForm& second = forms_.at(expression.operands[1]);
  if (expression.op == Op::multiply) {
    if (!first.is_constant() && !second.is_constant()) return LinearForm::term(id);
    form.add(first.is_constant() ? second : first, first.is_constant() ? first.constant : second.constant);
    return form;
  }
  form.add(first);
  form.add(second, expression.op == Op::add ? 1 : -1);
  return form.terms.size() > most_terms ? LinearForm::term(id) : form;
}

Interval IntervalAnalysis::compute(ExpressionId id) {
  const Expression& expression = node(id);
  switch (expression.op) {
    case Op::constant:
      return {expression.integer_value(), expression.integer_value()};
    case Op::dim: {
      const std::int64_t value = dims_[static_cast<std::size_t>(expression.index)];
      return {value, value};
    }
    case Op::axis:
      return of(AxisId{expression.index});
    case Op::scalar:
      return whole_range(expression.type);
    case Op::read:
      return of_read(expression);
    case Op::reduce:
      return of_reduce(expression);
    case Op::cast:
      return of_cast(expression);
    case Op::bitcast:
      return whole_range(expression.type);
    default:
      break;
  }
  if (expression.type == DType::i64 && is_sum(expression.op)) {
    const LinearForm& form = forms_.at(id);
    if (form != LinearForm::term(id)) return of_linear(form);
  }
  return of_operation(expression);
}

Interval IntervalAnalysis::of_read(const Expression& read) {
  const Interval stored = whole_range(function_[TensorId{read.index}].dtype);
  const Interval range = core::is_integer(read.type) || read.type == DType::boolean ? stored : Interval{};
  return read.guard == Guard::alternative ? hull(range, of(read.operands.back())) : range;
}

Interval IntervalAnalysis::of_reduce(const Expression& reduce) {
  const bool gives_index = reduce.reduction == Reduction::argmax || reduce.reduction == Reduction::argmin;
  if (!gives_index || reduce.axes.size() != 1) return whole_range(reduce.type);
  return hull({-1, -1}, of(reduce.axes[0]));
}

Interval IntervalAnalysis::of_cast(const Expression& cast) {
  const DType from = node(cast.operands[0]).type;
  const Interval target = whole_range(cast.target);
  if (!is_integer_like(from)) return target;
  const Interval operand = of(cast.operands[0]);
  const bool same_bits = core::size_bytes(cast.target) == 8;  // u64 is two's complement here
  if (same_bits || operand.empty()) return operand;
  const bool beyond_order = from == DType::u64 && operand.low < 0;
  return !beyond_order && operand.inside(target.low, target.high) ? operand : target;
}

Interval IntervalAnalysis::of_operation(const Expression& operation) {
  const DType type = node(operation.operands.front()).type;
  if (!is_integer_like(type)) return whole_range(operation.type);  // a comparison of floats
  std::vector<Interval> operands;
  for (const ExpressionId operand : operation.operands) operands.push_back(of(operand));
  return apply_interval(operation.op, operation.op == Op::where ? operation.type : type, operands);
}

Interval IntervalAnalysis::of_linear(const LinearForm& form) {
  for (const auto& [term, coefficient] : form.terms) {
    if (of(term).empty()) return empty_interval;
  }
  const std::optional<std::int64_t> low = bound(form, false), high = bound(form, true);
  return low && high ? Interval{*low, *high} : Interval{};
}

int IntervalAnalysis::depth(AxisId id) {
  if (const auto known = depths_.find(id); known != depths_.end()) return known->second;
  const Axis axis = function_.arena[id];
  int deepest = 0;
  for (const ExpressionId end : {axis.low, axis.high}) {
    for (const AxisId outer : free_axes(function_.arena, end)) deepest = std::max(deepest, depth(outer) + 1);
  }
  return depths_[id] = deepest;
}

std::optional<ExpressionId> IntervalAnalysis::deepest_axis(const LinearForm& form) {
  std::optional<ExpressionId> found;
  int most = 0;  // axes of depth 0 have constant bounds: their interval says all
  for (const auto& [term, coefficient] : form.terms) {
    if (node(term).op != Op::axis) continue;
    if (const int level = depth(AxisId{node(term).index}); level > most) {
      most = level;
      found = term;
    }
  }
  return found;
}

/// The form's largest (or smallest) value, nothing if it may lie outside 64 bits. Axes are replaced by their
/// bounds, innermost first, as long as bounds depend on other axes: exact over triangles.
std::optional<std::int64_t> IntervalAnalysis::bound(LinearForm form, bool upper) {
  while (const std::optional<ExpressionId> inner = deepest_axis(form)) {
    const Axis axis = function_.arena[AxisId{node(*inner).index}];
    const std::int64_t coefficient = form.terms.at(*inner);
    const bool at_end = (coefficient > 0) == upper;
    const ExpressionId end = at_end ? axis.high : axis.low;
    if (of(end) == Interval{})
      return {};  // unknown, or it may wrap: then its form says nothing about its size
    form.terms.erase(*inner);
    if (!form.add(linear_form(end), coefficient)) return {};
    if (at_end && !form.add({-1, {}}, coefficient)) return {};
  }
  __int128 total = form.constant;
  for (const auto& [term, coefficient] : form.terms) {
    const Interval range = of(term);
    const std::int64_t extreme = (coefficient > 0) == upper ? range.high : range.low;
    if (__builtin_add_overflow(total, static_cast<__int128>(coefficient) * extreme, &total)) return {};
  }
  if (total < INT64_MIN || total > INT64_MAX) return {};
  return static_cast<std::int64_t>(total);
}

}  // namespace einkern::dsl
