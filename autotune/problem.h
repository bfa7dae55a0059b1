// The data on which one kernel is checked and timed: tensors laid out as the specialisation says, values of
// scalars and symbols.
#pragma once

#include <cstdint>

#include "autotune/messages.h"
#include "codegen/schedule.h"

namespace einkern::autotune {

/// True if some tensor of the kernel has no elements: there is nothing to measure.
bool is_empty(const codegen::KernelContext& context);

/// The context does not hold the caller's strides, and records do not depend on them: the problem's are any
/// that the specialisation allows. Integer tensors that indices are computed from hold indices inside.
core::Result<Problem> make_problem(const codegen::KernelContext& context, std::uint64_t seed);

}  // namespace einkern::autotune
