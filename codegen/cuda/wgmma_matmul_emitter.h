// The kernel of a product on Hopper's tensor cores, as text.
#pragma once

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/wgmma_problem.h"
#include "codegen/cuda/wgmma_tile.h"

namespace einkern::codegen::cuda {

/// Writes the kernel: a persistent grid of blocks, each walking over tiles of the result; one warp group
/// loads stages through the copy engine, the others multiply.
LaunchShape emit_wgmma_matmul(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                              const WgmmaTile& tile, int band);

}  // namespace einkern::codegen::cuda
