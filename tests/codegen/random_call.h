// Random sizes and arguments for a checked function.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/reference/evaluator.h"

namespace einkern::testing {

struct RandomCall {
  dsl::Binding binding;
  codegen::reference::Arguments arguments;
};

/// Small sizes that keep the function's constraints, and arguments for them: floats in [-1, 1), integers that
/// may serve as indices and now and then point outside. Nothing if no sizes were found.
std::optional<RandomCall> random_call(const dsl::Function& function, std::uint64_t seed);

}  // namespace einkern::testing
