// Values of expressions over dims alone, while some dims may still be unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/function.h"
#include "dsl/scalar_operations.h"

namespace einkern::dsl {

/// Dims by DimId, nullopt where not yet known.
using KnownDims = std::vector<std::optional<std::int64_t>>;

/// The value in the expression's own type; nullopt if a dim in it is unknown, or if it holds a read, axis,
/// scalar or reduction.
std::optional<ScalarBits> evaluate_over_dims(const Function& function, ExpressionId id,
                                             const KnownDims& dims);

/// factor * dim + offset with literal factor (not 0) and offset: what a dimension must be to give its dim a
/// value.
struct SolvableDimension {
  std::int64_t factor = 1;
  DimId dim;
  std::int64_t offset = 0;
};
std::optional<SolvableDimension> solvable_dimension(const Function& function, ExpressionId id);

}  // namespace einkern::dsl
