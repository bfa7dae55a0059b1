// What an expression of the reference gives: a value, or a value with a bound of the rounding errors behind
// it.
#pragma once

#include "dsl/scalar_operations.h"

namespace einkern::codegen::reference {

/// A value alone: the fast evaluation.
struct Plain : dsl::ScalarBits {
  static constexpr bool tracked = false;
};

/// A value and how far a backend's may lie from it (running error analysis, Wilkinson 1963): of floats the
/// bound of |computed - exact|; of integers and bools 0 where rounding cannot change them. Infinity: rounding
/// decides everything.
struct Tracked : dsl::ScalarBits {
  static constexpr bool tracked = true;
  double error = 0;
};

}  // namespace einkern::codegen::reference
