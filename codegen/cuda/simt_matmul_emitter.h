// The kernels of a matrix product on CUDA cores, as text.
#pragma once

#include <string>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/simt_matmul_operand.h"
#include "codegen/cuda/simt_matmul_tile.h"

namespace einkern::codegen::cuda {

/// Writes the product's kernel: tiles of both operands through several stages of shared memory, a block of
/// the result in each thread's registers. With tile.splits > 1 it writes partial sums to scratch memory, and
/// emit_sum_of_parts writes the kernel that ends the work.
LaunchShape emit_simt_matmul(KernelWriter& kernel, const SimtMatmulTile& tile);

/// Adds the parts of the sum, one thread an element of the result, and stores what the kernel stores.
LaunchShape emit_sum_of_parts(KernelWriter& kernel, const SimtMatmulTile& tile);

}  // namespace einkern::codegen::cuda
