// The kernel of a product on Hopper's tensor cores, as text.
#pragma once

#include <optional>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/matrix_view.h"
#include "codegen/cuda/packed_operand.h"
#include "codegen/cuda/wgmma_tile.h"

namespace einkern::codegen::cuda {

/// One factor: a tensor that the copy engine can walk over, or a packed copy of it.
struct WgmmaOperand {
  MatrixView view;
  std::optional<PackedOperand> packed;  // whose view it is, if there is one
  bool columns_contiguous() const { return view.columns_contiguous(); }
};

/// How the tensors of a contraction lie.
struct WgmmaProblem {
  WgmmaOperand a, b;
  std::optional<MatrixView> result;  // where the result can leave through the copy engine too
  DType type = DType::bf16;          // of both operands
};

/// Writes the kernel: a persistent grid of blocks, each walking over tiles of the result; one warp group
/// loads stages through the copy engine, the others multiply.
LaunchShape emit_wgmma_matmul(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                              const WgmmaTile& tile, int band);

}  // namespace einkern::codegen::cuda
