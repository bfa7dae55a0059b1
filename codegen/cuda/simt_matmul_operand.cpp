#include "codegen/cuda/simt_matmul_operand.h"

#include <algorithm>

#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

const TensorLayout& layout_of(const KernelContext& context, TensorId tensor) {
  return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
}

/// Bytes an element that the factor's reads have contiguous along an axis.
int contiguous_bytes(const KernelContext& context, ExpressionId factor, AxisId axis) {
  const dsl::Function& graph = *context.plan.graph;
  int bytes = 0;
  for (const ExpressionId read : reads_of(graph.arena, {factor})) {
    const TensorId tensor{graph.arena[read].index};
    if (movement(graph.arena, read, axis, layout_of(context, tensor)) == Movement::unit)
      bytes += core::size_bytes(graph[tensor].dtype);
  }
  return bytes;
}

/// The widest access along an axis that serves a read of the factor and never crosses the axis's end.
int widest_read(const KernelContext& context, ExpressionId factor, AxisId axis) {
  const dsl::Function& graph = *context.plan.graph;
  int widest = 1;
  for (const ExpressionId read : reads_of(graph.arena, {factor}))
    if (graph.arena[read].guard == dsl::Guard::proven)
      widest = std::max(widest, vector_width(graph, read, axis, context.specialisation));
  while (widest > 1 && !divides_axis(context, axis, widest)) widest /= 2;
  return std::min(widest, 8);  // more per thread would leave a small tile to few threads
}

/// Steps of the address along one axis: literal coefficients times strides; nullopt if it moves in another
/// way.
std::optional<LinearSteps> axis_steps(const KernelContext& context, ExpressionId read, AxisId axis) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  LinearSteps steps;
  for (std::size_t d = 0; d < arena[read].operands.size(); ++d) {
    const auto coefficient = axis_coefficient(arena, arena[read].operands[d], axis);
    if (!coefficient) return std::nullopt;
    if (*coefficient != 0) steps.emplace_back(*coefficient, static_cast<int>(d));
  }
  return steps;
}

/// Steps of the address along a flat index over several axes: they must be whole neighbouring dimensions of a
/// dense tensor, in order.
std::optional<LinearSteps> flat_steps(const KernelContext& context, ExpressionId read,
                                      const std::vector<AxisId>& axes) {
  if (axes.size() == 1) return axis_steps(context, read, axes[0]);
  const dsl::Function& graph = *context.plan.graph;
  const dsl::Expression& node = graph.arena[read];
  const TensorId tensor{node.index};
  if (!layout_of(context, tensor).dense) return std::nullopt;
  std::optional<int> first;
  for (std::size_t d = 0; d < node.operands.size(); ++d) {
    const dsl::Expression& index = graph.arena[node.operands[d]];
    if (index.op == dsl::Op::axis && AxisId{index.index} == axes[0]) first = static_cast<int>(d);
  }
  if (!first) return std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = static_cast<std::size_t>(*first) + i;
    if (d >= node.operands.size()) return std::nullopt;
    const dsl::Expression& index = graph.arena[node.operands[d]];
    const dsl::Axis& axis = graph.arena[axes[i]];
    const bool whole = dsl::constant_value(graph.arena, axis.low) == 0 && axis.high == graph[tensor].shape[d];
    const auto steps = axis_steps(context, read, axes[i]);
    if (index.op != dsl::Op::axis || AxisId{index.index} != axes[i] || !whole || !steps || steps->size() != 1)
      return std::nullopt;
  }
  return LinearSteps{{1, *first + static_cast<int>(axes.size()) - 1}};
}

}  // namespace

int MatmulOperand::passing_registers(const SimtMatmulTile& tile) const {
  const int elements = tile_rows(tile) * tile.block_k / tile.threads();
  if (turned(tile)) return elements + elements / TurnPattern::steps;
  return copied ? 0 : elements * (tile.element_bytes / 4) + 16;
}

MatmulOperand matmul_operand(const KernelContext& context, std::string name, ExpressionId factor,
                             const std::vector<AxisId>& rows) {
  const auto& form = std::get<Contraction>(context.kernel.form);
  MatmulOperand operand{.name = std::move(name), .factor = factor, .rows = rows, .steps = form.contracted};
  operand.along_steps = contiguous_bytes(context, factor, form.contracted.back()) >
                        contiguous_bytes(context, factor, rows.back());
  operand.widest = widest_read(context, factor, operand.last_axis());

  const dsl::Function& graph = *context.plan.graph;
  const dsl::Expression& node = graph.arena[factor];
  if (context.device.compute_capability < 80 || node.op != dsl::Op::read || node.guard != dsl::Guard::proven)
    return operand;
  const DType dtype = graph[TensorId{node.index}].dtype;
  if (dtype != form.accumulator || core::size_bytes(dtype) < 4) return operand;
  const auto row_steps = flat_steps(context, factor, rows);
  const auto step_steps = flat_steps(context, factor, form.contracted);
  if (!row_steps || !step_steps) return operand;
  operand.copied = true;
  operand.row_steps = *row_steps;
  operand.step_steps = *step_steps;
  if (operand.along_steps) {
    const TensorLayout& layout = layout_of(context, TensorId{node.index});
    operand.turnable = core::size_bytes(dtype) == 4 && step_steps->size() == 1 &&
                       step_steps->front() == std::pair<std::int64_t, int>{1, layout.unit_axis};
    operand.line = operand.widest >= TurnPattern::steps ? TurnPattern::steps : 1;
    operand.widest = 1;  // it transposes: each element goes to a row of its own
  }
  return operand;
}

}  // namespace einkern::codegen::cuda
