// The tensor cores' instruction on Hopper as a device function.
#pragma once

#include <string>

#include "core/dtype.h"

namespace einkern::codegen::cuda {

/// `ek_multiply(sum, a, b, accumulate)`: adds a 64 × 16 by 16 × `columns` product of f16 or bf16 elements to
/// a warp group's columns / 2 accumulators; a and b are descriptors of shared memory. An operand whose rows
/// (of a) or columns (of b) are contiguous is given transposed. PTX ISA, "wgmma.mma_async".
std::string wgmma_function(DType type, int columns, bool a_transposed, bool b_transposed);

}  // namespace einkern::codegen::cuda
