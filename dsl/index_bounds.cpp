#include "dsl/index_bounds.h"

#include <fmt/format.h>

#include <unordered_set>

#include "dsl/expression_text.h"

namespace einkern::dsl {
namespace {

class Checker {
 public:
  Checker(const Function& function, const Binding& binding)
      : function_(function), binding_(binding), analysis_(function, binding.dims) {}

  core::Result<void> check(const Definition& definition) {
    for (const AxisId axis : definition.axes) {
      if (analysis_.of(axis).empty()) return {};
    }
    pending_ = {definition.value};
    pending_.insert(pending_.end(), definition.indices.begin(), definition.indices.end());
    while (!pending_.empty()) {
      const ExpressionId id = pending_.back();
      pending_.pop_back();
      if (!seen_.insert(id).second) continue;
      const Expression& node = function_.arena[id];
      if (node.op == Op::read && node.guard == Guard::proven) EINKERN_CHECK_OK(check_read(id));
      push_parts(node);
    }
    return {};
  }

 private:
  void push_parts(const Expression& node) {
    bool runs = true;
    for (const AxisId axis : node.axes) {
      const Axis& range = function_.arena[axis];
      pending_.push_back(range.low);
      pending_.push_back(range.high);
      runs = runs && !analysis_.of(axis).empty();
    }
    if (runs) pending_.insert(pending_.end(), node.operands.begin(), node.operands.end());
  }

  core::Result<void> check_read(ExpressionId id) {
    const Expression& node = function_.arena[id];
    const std::vector<std::int64_t>& shape = binding_.shapes[static_cast<std::size_t>(node.index)];
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Interval range = analysis_.of(node.operands[i]);
      if (!range.inside(0, shape[i] - 1)) return failure(id, i, range);
    }
    return {};
  }

  core::Error failure(ExpressionId id, std::size_t position, Interval range) const {
    const Expression& node = function_.arena[id];
    const Tensor& tensor = function_[TensorId{node.index}];
    const std::string index = expression_text(function_, node.operands[position], 100);
    const std::int64_t extent = binding_.shapes[static_cast<std::size_t>(node.index)][position];
    const std::string dimension = expression_text(function_, tensor.shape[position], 100);
    const std::string size =
        dimension == std::to_string(extent) ? dimension : fmt::format("{} = {}", dimension, extent);
    const bool unknown = range.low == INT64_MIN || range.high == INT64_MAX;
    const std::string problem =
        unknown ? std::string("cannot be proven to stay inside")
                : fmt::format("runs over {}..{}, which is not inside", range.low, range.high + 1);
    return {
        core::ErrorKind::shape,
        fmt::format(
            "in '{0}', index {1} of {2} {3} 0..{4} (dimension {5} of '{6}' is {7}); write `{2} else 0` for "
            "what lies outside, or `clamp({8}, 0, {9} - 1)`",
            function_.name, position, expression_text(function_, id, 200), problem, extent, position,
            tensor.name, size, index, dimension)};
  }

  const Function& function_;
  const Binding& binding_;
  IntervalAnalysis analysis_;
  std::vector<ExpressionId> pending_;
  std::unordered_set<ExpressionId> seen_;
};

}  // namespace

core::Result<void> check_index_bounds(const Function& function, const Binding& binding) {
  Checker checker(function, binding);
  for (const Definition& definition : function.definitions) EINKERN_CHECK_OK(checker.check(definition));
  return {};
}

}  // namespace einkern::dsl
