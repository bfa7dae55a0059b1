// Which results are the same in any order of summation.
#pragma once

#include "autotune/messages.h"
#include "codegen/schedule.h"

namespace einkern::autotune {

/// Whether every value that the kernel stores to `target` is computed without rounding on the problem's small
/// integers, so that a right kernel gives the reference's value bit for bit: sums and products that fit the
/// significand of the type they are computed in (of f8 products the 14 bits that tensor cores accumulate in,
/// DeepSeek-V3 Technical Report, 3.3.2), no division, no transcendental function.
bool is_exact(const codegen::KernelContext& context, const Problem& problem, dsl::TensorId target);

}  // namespace einkern::autotune
