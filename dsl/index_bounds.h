// The check that no computed index leaves its tensor, once sizes are known.
#pragma once

#include <vector>

#include "core/result.h"
#include "dsl/binding.h"

namespace einkern::dsl {

/// Proves by interval analysis that every read of Guard::proven stays inside its tensor. The error names the
/// tensor, the index, its interval and the dimension, and offers `else` or `clamp`. What stands under an axis
/// without values is never evaluated, so it is not checked.
core::Result<void> check_index_bounds(const Function& function, const Binding& binding);

}  // namespace einkern::dsl
