#include "codegen/cuda/wgmma_problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/epilogue.h"
#include "codegen/cuda/product_form.h"
#include "codegen/cuda/vector_block.h"
#include "codegen/cuda/wgmma_tile.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

/// Coordinates of the copy engine are 32-bit, and a box may hang over the edge.
constexpr std::int64_t longest_dimension = INT32_MAX - 512;

core::Result<DType> operand_type(const KernelContext& context, const Contraction& form) {
  const dsl::Function& graph = *context.plan.graph;
  const auto type_of = [&](ExpressionId factor) {
    const dsl::Expression& e = graph.arena[factor];
    return e.op == dsl::Op::read ? graph[TensorId{e.index}].dtype : DType::boolean;
  };
  const DType type = type_of(form.a);
  if (type != type_of(form.b) || (type != DType::bf16 && type != DType::f16))
    return core::Error{.message = "the factors are not both elements of f16, or of bf16, tensors"};
  return type;
}

core::Result<void> check_sizes(const KernelContext& context, const Contraction& form) {
  for (const auto* axes : {&form.m, &form.n, &form.contracted, &form.batch}) {
    if (axes->empty()) continue;
    const std::int64_t extent = extent_of(*context.plan.graph, *axes, context.binding);
    if (extent == 0) return core::Error{.message = "a dimension is empty"};
    if (extent > longest_dimension)
      return core::Error{.message = fmt::format("a dimension of {} > {}", extent, longest_dimension)};
  }
  return {};
}

/// A copy costs a pass over the operand, which the products must be worth, and pads rows.
bool worth_packing(const KernelContext& context, const Contraction& form, const MatrixView& packed) {
  const dsl::Function& graph = *context.plan.graph;
  const auto extent = [&](const std::vector<AxisId>& axes) {
    return extent_of(graph, axes, context.binding);
  };
  constexpr std::int64_t least_products = 64, least_row = 32;
  return std::min(extent(form.m), extent(form.n)) >= least_products &&
         extent(packed.dimensions[0].axes) >= least_row;
}

core::Result<WgmmaOperand> operand(const KernelContext& context, const std::string& name, ExpressionId factor,
                                   const MatrixAxes& matrix) {
  auto view = operand_view(context, factor, matrix);
  if (view.ok()) return WgmmaOperand{*std::move(view), std::nullopt};
  PackedOperand packed = packed_operand(context, name, factor, matrix);
  const auto& form = std::get<Contraction>(context.kernel.form);
  if (!worth_packing(context, form, packed.view))
    return core::Error{.message = view.error().message + ", and the product is too small for a copy"};
  MatrixView copied = packed.view;
  return WgmmaOperand{std::move(copied), std::move(packed)};
}

}  // namespace

core::Result<WgmmaProblem> wgmma_problem(const KernelContext& context) {
  if (context.device.compute_capability != 90)
    return core::Error{.message = fmt::format("wgmma is an instruction of sm_90a, and the device is {}",
                                              context.device.architecture)};
  EINKERN_TRY(const Contraction* const form, product_form(context));
  if (form->accumulator != DType::f32) return core::Error{.message = "the sum is not in f32"};
  EINKERN_TRY(const DType type, operand_type(context, *form));
  EINKERN_CHECK_OK(check_sizes(context, *form));
  EINKERN_TRY(WgmmaOperand a, operand(context, "a", form->a, {form->m, form->contracted, form->batch}));
  EINKERN_TRY(WgmmaOperand b, operand(context, "b", form->b, {form->n, form->contracted, form->batch}));
  WgmmaProblem problem{.a = std::move(a), .b = std::move(b), .result = std::nullopt, .type = type};
  // The copy engine cuts what it stores at multiples of 16 bytes along a row: the last piece must be whole.
  if (can_pack(context, form->n) && divides_axis(context, form->n.back(), 16 / WgmmaTile::element_bytes)) {
    const Store& store = context.kernel.stores.front();
    auto result = matrix_view(context, store.target, store.axes, {form->m, form->n, form->batch});
    if (result.ok() && result->columns_contiguous()) problem.result = *std::move(result);
  }
  return problem;
}

double packing_seconds(const WgmmaProblem& problem, const ProductExtents& extents, double bandwidth,
                       double launch) {
  double seconds = 0;
  for (const auto& [operand, rows] : {std::pair{&problem.a, extents.m}, {&problem.b, extents.n}})
    if (operand->packed)
      seconds += 2 * extents.batch * rows * extents.sum * WgmmaTile::element_bytes / bandwidth + launch;
  return seconds;
}

void emit_packing(ModuleWriter& module, const WgmmaProblem& problem, const std::string& entry) {
  for (const WgmmaOperand* operand : {&problem.a, &problem.b}) {
    if (!operand->packed) continue;
    KernelWriter& packing = module.add_kernel(fmt::format("{}_pack_{}", entry, operand->packed->name));
    const LaunchShape launch = emit_packing(packing, *operand->packed);
    module.finish_kernel(packing, launch);
  }
}

}  // namespace einkern::codegen::cuda
