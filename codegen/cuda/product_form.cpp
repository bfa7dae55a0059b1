#include "codegen/cuda/product_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

core::Result<const Contraction*> product_form(const KernelContext& context) {
  const auto* form = std::get_if<Contraction>(&context.kernel.form);
  if (form == nullptr) return core::Error{.message = "the kernel is no contraction"};
  if (form->m.empty() || form->n.empty()) return core::Error{.message = "one factor has no axis of its own"};
  const dsl::Function& graph = *context.plan.graph;
  for (const auto* axes : {&form->batch, &form->m, &form->n, &form->contracted})
    for (const AxisId axis : *axes)
      if (!dsl::size_expression(graph, graph.arena[axis].low) ||
          !dsl::size_expression(graph, graph.arena[axis].high))
        return core::Error{
            .message = fmt::format("the range of '{}' depends on more than sizes", graph.arena[axis].name)};
  for (const Store& store : context.kernel.stores)
    if (store.update) return core::Error{.message = "it updates its result"};
  return form;
}

ProductExtents product_extents(const KernelContext& context) {
  const auto& form = std::get<Contraction>(context.kernel.form);
  const auto extent = [&](const std::vector<AxisId>& axes) {
    if (axes.empty()) return 1.0;
    return static_cast<double>(
        std::max<std::int64_t>(extent_of(*context.plan.graph, axes, context.binding), 1));
  };
  return {
      .batch = extent(form.batch), .m = extent(form.m), .n = extent(form.n), .sum = extent(form.contracted)};
}

}  // namespace einkern::codegen::cuda
