// The kernel of a product whose sum is split over a cluster of blocks, as text.
#pragma once

#include "codegen/cuda/split_k_tile.h"
#include "codegen/cuda/wgmma_problem.h"

namespace einkern::codegen::cuda {

/// Writes the kernel: each cluster walks over tiles of the result; in each of its blocks one thread streams
/// its part of the sum through the copy engine and the other warp groups multiply.
LaunchShape emit_split_k(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                         const SplitKTile& tile);

}  // namespace einkern::codegen::cuda
