// Which configurations a matrix product on CUDA cores may have, and how long each should take.
#pragma once

#include "codegen/cuda/simt_matmul_operand.h"
#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

/// Parameters with good values first, and the limits of threads, registers, shared memory and copies.
ConfigurationSpace simt_matmul_space(const KernelContext& context);

/// Compute time of the busiest multiprocessor, with the instructions around the multiply-adds, against the
/// traffic with device memory and L2.
Estimate estimate_simt_matmul(const KernelContext& context, const Configuration& configuration);

}  // namespace einkern::codegen::cuda
