#include "codegen/cuda/linear_grid.h"

#include <fmt/format.h>

namespace einkern::codegen::cuda {

using core::SizeExpression;

namespace {

constexpr std::int64_t most_blocks = 2147483647;  // of a grid's first dimension

}  // namespace

SizeExpression product_of_sizes(const KernelWriter& kernel, const std::vector<AxisId>& axes) {
  SizeExpression product = 1;
  bool first = true;
  for (const AxisId axis : axes) {
    const SizeExpression size = kernel.axis_size(axis).value_or(SizeExpression(0));
    product = first ? size : product * size;
    first = false;
  }
  return product;
}

std::string quotient_text(KernelWriter& kernel, const std::string& index, const SizeExpression& size) {
  if (!kernel.narrow() || size.is_constant())
    return fmt::format("{} / {}", index, kernel.extent(size, "size"));
  return fmt::format("ek_quotient({}, {})", without_parentheses(index), kernel.divisor(size, "size"));
}

std::string remainder_text(KernelWriter& kernel, const std::string& index, const SizeExpression& size) {
  if (!kernel.narrow() || size.is_constant())
    return fmt::format("{} % {}", index, kernel.extent(size, "size"));
  return fmt::format("ek_remainder({}, {})", without_parentheses(index), kernel.divisor(size, "size"));
}

void bind_axes_from_flat(ExpressionEmitter& emitter, const std::string& flat,
                         const std::vector<AxisId>& axes) {
  KernelWriter& kernel = emitter.kernel();
  std::string rest = flat;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const dsl::Axis& axis = kernel.graph().arena[axes[i]];
    std::string digit = rest;
    if (i > 0) {
      const SizeExpression size = kernel.axis_size(axes[i]).value_or(SizeExpression(0));
      digit = kernel.names().unique("i", axis.name);
      kernel.body().line(
          fmt::format("const {} {} = {};", kernel.index_type(), digit, remainder_text(kernel, rest, size)));
      const std::string above = i == 1 ? kernel.names().unique("i", kernel.graph().arena[axes[0]].name)
                                       : kernel.names().unique("i", "outer");
      kernel.body().line(
          fmt::format("const {} {} = {};", kernel.index_type(), above, quotient_text(kernel, rest, size)));
      rest = above;
    }
    const std::string low = emitter.value(axis.low);
    emitter.bind_axis(axes[i], low == "0" || low == "0ll" ? digit : fmt::format("({} + {})", digit, low));
  }
}

LinearGrid open_linear_grid(KernelWriter& kernel, const SizeExpression& items, int items_per_block) {
  const SizeExpression blocks = core::ceil_divide(items, items_per_block);
  if (kernel.narrow()) return {"blockIdx.x", blocks, false};
  const std::string block = kernel.names().unique("i", "block");
  kernel.body().comment("more blocks than a grid may have take turns");
  kernel.body().open(fmt::format("for (long long {0} = blockIdx.x; {0} < {1}; {0} += gridDim.x)", block,
                                 kernel.extent(blocks, "blocks")));
  return {block, core::minimum(blocks, most_blocks), true};
}

void close_linear_grid(KernelWriter& kernel, const LinearGrid& grid) {
  if (grid.loop) kernel.body().close();
}

}  // namespace einkern::codegen::cuda
