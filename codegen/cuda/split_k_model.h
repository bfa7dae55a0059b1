// Which configurations a product with a split sum may have, and how long each should take.
#pragma once

#include "codegen/cuda/split_k_tile.h"
#include "codegen/cuda/wgmma_problem.h"

namespace einkern::codegen::cuda {

/// Parameters with good values first, and the limits of shared memory, registers and boxes.
ConfigurationSpace split_k_space(const KernelContext& context, const WgmmaProblem& problem);

/// The streamed bytes against device memory and L2, and what a launch of short sums waits for.
Estimate estimate_split_k(const KernelContext& context, const WgmmaProblem& problem,
                          const Configuration& configuration);

}  // namespace einkern::codegen::cuda
