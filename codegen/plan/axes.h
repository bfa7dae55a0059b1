// Lists of axes as small sets.
#pragma once

#include <algorithm>
#include <vector>

#include "dsl/identifiers.h"

namespace einkern::codegen {

using Axes = std::vector<dsl::AxisId>;

inline bool contains(const Axes& axes, dsl::AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

inline bool is_subset(const Axes& axes, const Axes& of) {
  return std::all_of(axes.begin(), axes.end(), [&](dsl::AxisId axis) { return contains(of, axis); });
}

/// The same axes in any order; lists of distinct axes.
inline bool same_set(const Axes& a, const Axes& b) {
  return a.size() == b.size() && is_subset(a, b) && is_subset(b, a);
}

/// The axes of one list, then those of the other.
inline Axes joined(Axes axes, const Axes& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

}  // namespace einkern::codegen
