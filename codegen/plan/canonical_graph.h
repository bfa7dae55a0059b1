// The canonical value graph: bound axes are named by their range and by how many folds over that range nest
// inside, so that equal folds are one node however the math was cut, and "the same domain" is a comparison of
// keys.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dsl/function.h"

namespace einkern::codegen {

/// A function's expressions with their canonical axes. Every expression that it gives out is canonical.
class CanonicalGraph {
 public:
  explicit CanonicalGraph(dsl::Function& function) : function_(function) {}

  dsl::Function& function() { return function_; }
  const dsl::Function& function() const { return function_; }
  const dsl::Expression& operator[](dsl::ExpressionId id) const { return function_.arena[id]; }

  /// The axis over low..high of a kernel's iteration space; `ordinal` tells apart axes of one range in one
  /// space. The first caller names it.
  dsl::AxisId free_axis(dsl::ExpressionId low, dsl::ExpressionId high, int ordinal, const std::string& name);
  /// Axes over the same ranges as `axes`, one for each, in order: the iteration space of a kernel. Ranges
  /// must not depend on axes, but for those of `kept`, which stay and count towards the ordinals.
  std::vector<dsl::AxisId> free_axes_like(const std::vector<dsl::AxisId>& axes,
                                          const std::vector<dsl::AxisId>& kept = {});
  bool same_range(dsl::AxisId a, dsl::AxisId b) const;
  /// Whether an axis runs over 0..e with e over dims alone, as a dimension of a tensor does.
  bool is_rectangular(dsl::AxisId axis) const;

  /// The expression with axes and whole nodes replaced, and all its bound axes renamed. Values of
  /// `replacements` are canonical and hold no bound axis of the expression.
  dsl::ExpressionId rewrite(dsl::ExpressionId id, const dsl::Substitution& replacements = {});

  /// Free axes, ascending; remembered.
  const std::vector<dsl::AxisId>& free_axes(dsl::ExpressionId id);
  bool uses(dsl::ExpressionId id, dsl::AxisId axis);

  /// An expression with its free axes renamed by range and first occurrence: instances of one value at
  /// different places
  /// (`x[r, c]` in a store, `x[r, c']` in a fold) have the same template. `axes` are the instance's, in that
  /// order.
  struct Template {
    dsl::ExpressionId id;
    std::vector<dsl::AxisId> axes;
  };
  const Template& template_of(dsl::ExpressionId id);

 private:
  using RangeKey = std::tuple<dsl::ExpressionId, dsl::ExpressionId, int>;  // low, high, ordinal or level

  class Rewriter;
  dsl::AxisId bound_axis(dsl::ExpressionId low, dsl::ExpressionId high, int level, const std::string& name);
  int nested_level(dsl::ExpressionId body, dsl::ExpressionId low, dsl::ExpressionId high) const;
  std::vector<dsl::AxisId> axes_in_order(dsl::ExpressionId id);

  dsl::Function& function_;
  std::map<RangeKey, dsl::AxisId> free_, bound_;
  std::set<std::string> free_names_;
  std::unordered_map<dsl::AxisId, int> levels_;  // of bound axes
  std::unordered_map<dsl::ExpressionId, std::vector<dsl::AxisId>> free_axes_;
  std::unordered_map<dsl::ExpressionId, Template> templates_;
};

}  // namespace einkern::codegen
