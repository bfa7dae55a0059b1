// The kernel of a product on Hopper's tensor cores, as text.
#pragma once

#include <optional>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/matrix_view.h"
#include "codegen/cuda/wgmma_tile.h"

namespace einkern::codegen::cuda {

/// How the tensors of a contraction lie, where the copy engine can walk over both operands.
struct WgmmaProblem {
  MatrixView a, b;
  std::optional<MatrixView> result;  // where the result can leave through the copy engine too
  DType type = DType::bf16;          // of both operands
};

/// Writes the kernel: a persistent grid of blocks, each walking over tiles of the result; one warp group
/// loads stages through the copy engine, the others multiply.
LaunchShape emit_wgmma_matmul(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                              const WgmmaTile& tile, int band);

}  // namespace einkern::codegen::cuda
