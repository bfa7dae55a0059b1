// Contractions that Hopper's tensor cores compute, and how their operands reach them.
#pragma once

#include <optional>
#include <string>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/matrix_view.h"
#include "codegen/cuda/packed_operand.h"
#include "codegen/cuda/product_form.h"

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

/// The kernel as such a contraction. The error says in words why it is none, or none for this device.
core::Result<WgmmaProblem> wgmma_problem(const KernelContext& context);

/// How long packing takes: an operand that is packed is read and written once more, by a launch of its own.
double packing_seconds(const WgmmaProblem& problem, const ProductExtents& extents, double bandwidth,
                       double launch);

/// Writes the kernels that pack operands, where there are any; `entry` is the name of the product's.
void emit_packing(ModuleWriter& module, const WgmmaProblem& problem, const std::string& entry);

}  // namespace einkern::codegen::cuda
