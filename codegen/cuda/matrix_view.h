// A tensor of a product as a matrix, or a batch of them, in memory: what the copy engine can walk over.
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "core/result.h"
#include "core/tensor_map.h"

namespace einkern::codegen::cuda {

/// Which axes walk along a matrix: of an operand its own axes and the contracted ones, of a result m and n.
struct MatrixAxes {
  std::vector<AxisId> rows, columns, batch;
};

enum class MatrixWay { rows, columns, batch };

/// One dimension as the copy engine sees it: one axis, or several that lie densely behind one another.
struct MatrixDimension {
  MatrixWay way = MatrixWay::rows;
  std::vector<AxisId> axes;  // outermost first; their flat index counts elements of the dimension
  core::SizeExpression size;
  core::SizeExpression stride;  // in elements; 1 in dimension 0
};

struct MatrixView {
  TensorId tensor;
  std::vector<MatrixDimension> dimensions;  // contiguous first, then the other way of the matrix, then batch
  bool columns_contiguous() const { return dimensions[0].way == MatrixWay::columns; }
};

/// `axes` of the tensor's dimensions, in order. The error says in words why the copy engine cannot walk over
/// it: an axis over part of a sum's range, several axes that are not dense, addresses or strides that are no
/// multiples of 16 bytes, a backward stride, too many dimensions.
core::Result<MatrixView> matrix_view(const KernelContext& context, TensorId tensor,
                                     const std::vector<AxisId>& axes, const MatrixAxes& matrix);

/// The view of a factor: a read whose every index is one axis.
core::Result<MatrixView> operand_view(const KernelContext& context, ExpressionId factor,
                                      const MatrixAxes& matrix);

/// The argument that maps the view; boxes of `rows` × `columns` elements of one matrix.
core::TensorMapArgument tensor_map(const MatrixView& view, DType dtype, int buffer, int rows, int columns,
                                   core::Swizzle swizzle);

}  // namespace einkern::codegen::cuda
