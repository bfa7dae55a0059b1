// Interval versions of the integer operations.
#pragma once

#include <vector>

#include "core/dtype.h"
#include "dsl/expression.h"
#include "dsl/interval.h"

namespace einkern::dsl {

/// All values of an integer type or bool (u64 as two's complement).
Interval whole_range(DType type);
/// The smallest interval that holds both.
Interval hull(Interval a, Interval b);
/// Range of an operation of ops.def on integers or bools of the compute type `type`, given its operands'
/// ranges.
Interval apply_interval(Op op, DType type, const std::vector<Interval>& operands);

}  // namespace einkern::dsl
