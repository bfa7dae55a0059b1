// Interval analysis of integer expressions: proves computed indices inside, and offsets narrow enough for 32 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "dsl/function.h"

namespace einkern::dsl {

/// Closed interval of 64-bit integers; empty if low > high. Arithmetic saturates at the ends.
struct Interval {
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  bool empty() const { return low > high; }
  bool inside(std::int64_t from, std::int64_t to) const { return empty() || (low >= from && high <= to); }
};

/// Range of an integer expression when dims have these values (by DimId). Reads, scalars and casts from floats give the
/// whole range of their type; axes give their ranges.
Interval interval_of(const Function& function, ExpressionId id, const std::vector<std::int64_t>& dims);

}  // namespace einkern::dsl
