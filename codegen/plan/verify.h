// Checks that a plan keeps what plan.h promises to the emitters.
#pragma once

#include <optional>
#include <string>

#include "codegen/plan/plan.h"

namespace einkern::codegen {

/// The first promise that the plan breaks, in words: a tensor read before it is written or written twice, an
/// unbound axis, a fold in a pointwise value, an axis in no group or two of a contraction, a column that a
/// store half names. Nothing if sound.
std::optional<std::string> plan_violation(const Plan& plan);

}  // namespace einkern::codegen
