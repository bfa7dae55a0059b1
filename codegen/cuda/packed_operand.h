// An operand of a product copied to memory of the launch's own, where the copy engine can walk over it.
#pragma once

#include <string>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/matrix_view.h"

namespace einkern::codegen::cuda {

/// A factor that is a read of an f16 or bf16 tensor, at any indices, laid out anew: the way of the matrix
/// that is contiguous in the tensor stays so, each row padded to 128 bytes.
struct PackedOperand {
  std::string name;  // "a" or "b": of the scratch buffer
  ExpressionId factor;
  DType dtype = DType::bf16;
  MatrixView view;  // its tensor is the factor's; dimensions are those of the packed copy

  core::SizeExpression bytes() const;
};

PackedOperand packed_operand(const KernelContext& context, std::string name, ExpressionId factor,
                             const MatrixAxes& matrix);

/// Writes the kernel that copies: eight elements a thread.
LaunchShape emit_packing(KernelWriter& kernel, const PackedOperand& operand);

}  // namespace einkern::codegen::cuda
