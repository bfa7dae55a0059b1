// Interval analysis of integer expressions: proves computed indices inside, and offsets narrow enough for 32
// bits.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dsl/function.h"
#include "dsl/linear_form.h"

namespace einkern::dsl {

/// Closed interval of 64-bit integers; empty if low > high.
struct Interval {
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  bool empty() const { return low > high; }
  bool inside(std::int64_t from, std::int64_t to) const { return empty() || (low >= from && high <= to); }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Analysis of one function's expressions when dims have these values (by DimId); both must outlive it.
/// Remembers what it has seen. Sound: each value that an expression takes lies in its interval. Where a
/// result might wrap, the interval is the type's whole range; u64 values are two's complement. Sums are put
/// into linear form first, so that affine expressions over boxes and triangles (axes whose bounds are affine
/// in other axes) get their exact range.
class IntervalAnalysis {
 public:
  IntervalAnalysis(const Function& function, const std::vector<std::int64_t>& dims)
      : function_(function), dims_(dims) {}

  /// Range of an integer or bool expression. Reads, scalars and casts from floats give the whole range of
  /// their type; an expression that uses an axis without values is empty.
  Interval of(ExpressionId id);
  /// Values of an axis; empty if it has none whatever the outer axes are.
  Interval of(AxisId id);
  /// An i64 expression as a linear form, dims being numbers.
  const LinearForm& linear_form(ExpressionId id);

 private:
  const Expression& node(ExpressionId id) const { return function_.arena[id]; }
  LinearForm compute_form(ExpressionId id);
  Interval compute(ExpressionId id);
  Interval of_linear(const LinearForm& form);
  std::optional<std::int64_t> bound(LinearForm form, bool upper);
  std::optional<ExpressionId> deepest_axis(const LinearForm& form);
  int depth(AxisId id);
  Interval of_read(const Expression& read);
  Interval of_reduce(const Expression& reduce);
  Interval of_cast(const Expression& cast);
  Interval of_operation(const Expression& operation);

  const Function& function_;
  const std::vector<std::int64_t>& dims_;
  std::unordered_map<ExpressionId, Interval> intervals_;
  std::unordered_map<ExpressionId, LinearForm> forms_;
  std::unordered_map<AxisId, int> depths_;
};

/// One question to IntervalAnalysis.
Interval interval_of(const Function& function, ExpressionId id, const std::vector<std::int64_t>& dims);

}  // namespace einkern::dsl
