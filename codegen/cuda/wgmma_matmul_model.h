// Which configurations a product on Hopper's tensor cores may have, and how long each should take.
#pragma once

#include "codegen/cuda/wgmma_matmul_emitter.h"
#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

/// Parameters with good values first, and the limits of shared memory, registers and boxes.
ConfigurationSpace wgmma_matmul_space(const KernelContext& context, const WgmmaProblem& problem);

/// Cycles of the busiest multiprocessor against the traffic with L2 and device memory.
Estimate estimate_wgmma_matmul(const KernelContext& context, const WgmmaProblem& problem,
                               const Configuration& configuration);

}  // namespace einkern::codegen::cuda
