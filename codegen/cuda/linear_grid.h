// One thread an item: grids over a flat range, and flat indices taken apart into axes.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/expression_emitter.h"

namespace einkern::codegen::cuda {

/// Product of the axes' sizes; every axis must have its range over dims.
core::SizeExpression product_of_sizes(const KernelWriter& kernel, const std::vector<AxisId>& axes);

/// Binds the axes to the digits of a flat index (the last axis moves fastest), declaring one constant an axis
/// where there are several. `flat` is a primary expression of the index type.
void bind_axes_from_flat(ExpressionEmitter& emitter, const std::string& flat,
                         const std::vector<AxisId>& axes);

/// Quotient or remainder of a non-negative index by a size that is not 0, by a fast divisor in narrow
/// kernels.
std::string quotient_text(KernelWriter& kernel, const std::string& index, const core::SizeExpression& size);
std::string remainder_text(KernelWriter& kernel, const std::string& index, const core::SizeExpression& size);

/// Blocks that cover `items` with `items_per_block` each. `block` is the text of the block's number. Where
/// the index type is 64 bits wide a loop strides over blocks beyond the grid's limit of 2^31 - 1; `close`
/// ends it.
struct LinearGrid {
  std::string block;
  core::SizeExpression grid;
  bool loop = false;
};
LinearGrid open_linear_grid(KernelWriter& kernel, const core::SizeExpression& items, int items_per_block);
void close_linear_grid(KernelWriter& kernel, const LinearGrid& grid);

}  // namespace einkern::codegen::cuda
