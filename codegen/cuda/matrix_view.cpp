#include "codegen/cuda/matrix_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace einkern::codegen::cuda {

namespace {

using core::SizeExpression;

constexpr int copy_alignment = 16;  // bytes, of the address and of every stride but the contiguous one

class ViewBuilder {
 public:
  ViewBuilder(const KernelContext& context, TensorId tensor, const std::vector<AxisId>& axes)
      : graph_(*context.plan.graph),
        tensor_(graph_[tensor]),
        layout_(context.specialisation.tensors[static_cast<std::size_t>(tensor.value)]),
        axes_(axes) {}

  core::Result<std::vector<MatrixDimension>> build(const MatrixAxes& matrix) {
    if (layout_.alignment < copy_alignment || !layout_.forward)
      return refusal("has rows that do not lie 16 bytes aligned and forward");
    for (const auto& [way, group] :
         {std::pair{MatrixWay::rows, &matrix.rows}, {MatrixWay::columns, &matrix.columns}}) {
      auto dimension = flattened(way, *group);
      if (!dimension)
        return refusal(fmt::format("does not hold its {} behind one another",
                                   way == MatrixWay::rows ? "rows" : "columns"));
      dimensions_.push_back(*std::move(dimension));
    }
    if (auto whole = matrix.batch.empty() ? std::nullopt : flattened(MatrixWay::batch, matrix.batch)) {
      dimensions_.push_back(*std::move(whole));
    } else {
      for (const AxisId axis : matrix.batch) {
        auto dimension = flattened(MatrixWay::batch, {axis});
        if (!dimension)
          return refusal(fmt::format("has no dimension of '{}' alone", graph_.arena[axis].name));
        dimensions_.push_back(*std::move(dimension));
      }
    }
    if (covered_ != axes_.size()) return refusal("is read along an axis twice");
    if (dimensions_.size() > core::most_tensor_map_dims) return refusal("has too many dimensions");
    return order();
  }

 private:
  core::Error refusal(const std::string& why) const {
    return core::Error{.message = fmt::format("'{}' {}", tensor_.name, why)};
  }

  /// The group's axes as one dimension: neighbours in the tensor, in order, each but the first over its whole
  /// dimension, without gaps.
  std::optional<MatrixDimension> flattened(MatrixWay way, const std::vector<AxisId>& group) {
    const auto first = std::find(axes_.begin(), axes_.end(), group.front());
    const auto at = static_cast<std::size_t>(first - axes_.begin());
    if (at + group.size() > axes_.size() || (group.size() > 1 && !layout_.dense)) return std::nullopt;
    MatrixDimension dimension{.way = way, .axes = group, .size = 1, .stride = 1};
    for (std::size_t i = 0; i < group.size(); ++i) {
      const dsl::Axis& axis = graph_.arena[group[i]];
      const auto high = dsl::size_expression(graph_, axis.high);
      if (axes_[at + i] != group[i] || dsl::constant_value(graph_.arena, axis.low) != 0 || !high)
        return std::nullopt;
      if (i > 0 && axis.high != tensor_.shape[at + i]) return std::nullopt;
      dimension.size = i == 0 ? *high : dimension.size * *high;
    }
    const std::size_t last = at + group.size() - 1;
    dimension.stride = stride(last);
    contiguous_ = static_cast<int>(last) == layout_.unit_axis ? way : contiguous_;
    covered_ += group.size();
    return dimension;
  }

  SizeExpression stride(std::size_t dimension) const {
    if (static_cast<int>(dimension) == layout_.unit_axis) return 1;
    if (!layout_.dense) return SizeExpression::symbol(stride_symbol(tensor_, static_cast<int>(dimension)));
    SizeExpression elements = 1;
    for (std::size_t d = dimension + 1; d < tensor_.shape.size(); ++d) {
      const SizeExpression size = dsl::size_expression(graph_, tensor_.shape[d]).value_or(SizeExpression(0));
      elements = d == dimension + 1 ? size : elements * size;
    }
    return elements;
  }

  /// The contiguous dimension to the front.
  core::Result<std::vector<MatrixDimension>> order() {
    if (contiguous_ == MatrixWay::batch) return refusal("has neither rows nor columns contiguous");
    if (dimensions_[0].way != contiguous_) std::swap(dimensions_[0], dimensions_[1]);
    return std::move(dimensions_);
  }

  const dsl::Function& graph_;
  const dsl::Tensor& tensor_;
  const TensorLayout& layout_;
  const std::vector<AxisId>& axes_;
  std::vector<MatrixDimension> dimensions_;
  std::size_t covered_ = 0;
  MatrixWay contiguous_ = MatrixWay::batch;
};

}  // namespace

core::Result<MatrixView> matrix_view(const KernelContext& context, TensorId tensor,
                                     const std::vector<AxisId>& axes, const MatrixAxes& matrix) {
  EINKERN_TRY(auto dimensions, ViewBuilder(context, tensor, axes).build(matrix));
  return MatrixView{tensor, std::move(dimensions)};
}

core::Result<MatrixView> operand_view(const KernelContext& context, ExpressionId factor,
                                      const MatrixAxes& matrix) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  const dsl::Expression& read = arena[factor];
  if (read.op != dsl::Op::read || read.guard != dsl::Guard::proven)
    return core::Error{.message = "a factor is more than a tensor's element"};
  std::vector<AxisId> axes;
  for (const ExpressionId index : read.operands) {
    if (arena[index].op != dsl::Op::axis)
      return core::Error{.message = fmt::format("an index of '{}' is more than an axis",
                                                (*context.plan.graph)[TensorId{read.index}].name)};
    axes.push_back(AxisId{arena[index].index});
  }
  return matrix_view(context, TensorId{read.index}, axes, matrix);
}

core::TensorMapArgument tensor_map(const MatrixView& view, DType dtype, int buffer, int rows, int columns,
                                   core::Swizzle swizzle) {
  core::TensorMapArgument map{
      .buffer = buffer, .byte_offset = 0, .dtype = dtype, .dims = {}, .swizzle = swizzle};
  for (const MatrixDimension& dimension : view.dimensions) {
    const int box = dimension.way == MatrixWay::rows      ? rows
                    : dimension.way == MatrixWay::columns ? columns
                                                          : 1;
    map.dims.push_back({.size = dimension.size,
                        .byte_stride = dimension.stride * core::size_bytes(dtype),
                        .box = static_cast<std::uint32_t>(box)});
  }
  return map;
}

}  // namespace einkern::codegen::cuda
