#include "codegen/cuda/packed_operand.h"

#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

using core::SizeExpression;

constexpr int threads = 256;
constexpr int elements_a_thread = 8;  // 16 bytes
constexpr int padded_to = 64;         // elements: rows begin at multiples of 128 bytes

/// The axes range over sizes: see product_form.
SizeExpression size_of(const KernelContext& context, const std::vector<AxisId>& axes) {
  const dsl::Function& graph = *context.plan.graph;
  SizeExpression product = 1;
  bool first = true;
  for (const AxisId axis : axes) {
    const auto low = dsl::size_expression(graph, graph.arena[axis].low);
    const auto high = dsl::size_expression(graph, graph.arena[axis].high);
    const SizeExpression size = *high - *low;
    product = first ? size : product * size;
    first = false;
  }
  return product;
}

/// Whether the factor's read moves by one element along the last of the axes.
bool contiguous_along(const KernelContext& context, ExpressionId factor, const std::vector<AxisId>& axes) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  const auto tensor = static_cast<std::size_t>(arena[factor].index);
  return movement(arena, factor, axes.back(), context.specialisation.tensors[tensor]) == Movement::unit;
}

}  // namespace

SizeExpression PackedOperand::bytes() const {
  const MatrixDimension& outermost = view.dimensions.back();
  return outermost.size * outermost.stride * core::size_bytes(dtype);
}

PackedOperand packed_operand(const KernelContext& context, std::string name, ExpressionId factor,
                             const MatrixAxes& matrix) {
  const dsl::Function& graph = *context.plan.graph;
  const TensorId tensor{graph.arena[factor].index};
  MatrixDimension inner{.way = MatrixWay::columns,
                        .axes = matrix.columns,
                        .size = size_of(context, matrix.columns),
                        .stride = 1};
  MatrixDimension outer{
      .way = MatrixWay::rows, .axes = matrix.rows, .size = size_of(context, matrix.rows), .stride = 1};
  if (contiguous_along(context, factor, matrix.rows)) std::swap(inner, outer);
  outer.stride = core::ceil_divide(inner.size, padded_to) * padded_to;
  PackedOperand operand{std::move(name), factor, graph[tensor].dtype, {tensor, {inner, outer}}};
  if (!matrix.batch.empty())
    operand.view.dimensions.push_back({.way = MatrixWay::batch,
                                       .axes = matrix.batch,
                                       .size = size_of(context, matrix.batch),
                                       .stride = outer.size * outer.stride});
  return operand;
}

LaunchShape emit_packing(KernelWriter& kernel, const PackedOperand& operand) {
  ExpressionEmitter emitter(kernel);
  const MatrixDimension &inner = operand.view.dimensions[0], &outer = operand.view.dimensions[1];
  const bool batched = operand.view.dimensions.size() > 2;
  const SizeExpression chunks = core::ceil_divide(inner.size, padded_to) * (padded_to / elements_a_thread);
  SizeExpression items = chunks * outer.size;
  if (batched) items = items * operand.view.dimensions[2].size;

  TextWriter& body = kernel.body();
  const std::string packed = kernel.scratch(operand.name, operand.dtype, operand.bytes(), true);
  body.comment("Rows begin at multiples of 128 bytes; each thread copies 16 bytes of one.");
  const LinearGrid grid = open_linear_grid(kernel, items, threads);
  const auto declare = [&](std::string_view name, const std::string& value) {
    body.line(fmt::format("const {} {} = {};", kernel.index_type(), name, value));
  };
  declare("chunk", fmt::format("({0})({1} * {2} + threadIdx.x)", kernel.index_type(),
                               kernel.narrow() ? grid.block : "(long long)" + grid.block,
                               kernel.constant("threads", threads)));
  body.open(
      fmt::format("if ({}chunk < {})", kernel.narrow() ? "(unsigned)" : "", kernel.extent(items, "chunks")));
  declare("line", quotient_text(kernel, "chunk", chunks));
  declare("first", fmt::format("{} * {}", remainder_text(kernel, "chunk", chunks), elements_a_thread));
  {
    const ExpressionEmitter::Scope scope(emitter);
    std::string outer_index = "line";
    if (batched) {
      declare("outer", remainder_text(kernel, "line", outer.size));
      declare("batch", quotient_text(kernel, "line", outer.size));
      bind_axes_from_flat(emitter, "batch", operand.view.dimensions[2].axes);
      outer_index = "outer";
    }
    bind_axes_from_flat(emitter, outer_index, outer.axes);
    body.line(
        fmt::format("ek_vector<{}, {}> elements = {{}};", storage_type(operand.dtype), elements_a_thread));
    body.line("#pragma unroll");
    body.open(fmt::format("for (int i = 0; i < {}; ++i)", elements_a_thread));
    declare("at", "first + i");
    body.open(fmt::format("if (at < {})", kernel.extent(inner.size, "length")));
    {
      const ExpressionEmitter::Scope inside(emitter);
      bind_axes_from_flat(emitter, "at", inner.axes);
      const std::string value = emitter.value(operand.factor);
      body.line(fmt::format("elements.element[i] = {};",
                            converted_store(operand.dtype, kernel.graph().arena[operand.factor].type, value,
                                            emitter.arithmetic())));
    }
    body.close();
    body.close();
  }
  const std::string offset = kernel.narrow() ? "(long long)chunk" : "chunk";
  body.line(fmt::format("ek_store<{0}>({1} + {2} * {0}, elements);", elements_a_thread, packed, offset));
  body.close();
  close_linear_grid(kernel, grid);
  return {.grid = {grid.grid, 1, 1}, .threads = threads};
}

}  // namespace einkern::codegen::cuda
