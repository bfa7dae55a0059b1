// The data on which one kernel is checked and timed: tensors laid out as the caller's, values of scalars and
// symbols.
#pragma once

#include <cstdint>
#include <vector>

#include "autotune/messages.h"
#include "codegen/schedule.h"

namespace einkern::autotune {

/// True if some tensor of the kernel has no elements: there is nothing to measure.
bool is_empty(const codegen::KernelContext& context);

/// `placements` by TensorId, as `codegen::specialise` takes them: what is measured lies in memory as what is
/// called, broadcast, reversed or padded. Integer tensors that indices are computed from hold indices inside.
core::Result<Problem> make_problem(const codegen::KernelContext& context,
                                   const std::vector<codegen::TensorPlacement>& placements,
                                   std::uint64_t seed);

}  // namespace einkern::autotune
