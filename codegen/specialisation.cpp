#include "codegen/specialisation.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/plan/access.h"
#include "dsl/interval.h"

namespace einkern::codegen {

namespace {

using Strides = std::vector<std::int64_t>;

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

Strides dense_strides(const std::vector<std::int64_t>& shape) {
  Strides strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = saturating_multiply(strides[d], shape[d]);
  return strides;
}

/// Largest power of two up to 16 that divides a number; 16 for 0.
int divisor_class(std::int64_t value) {
  int divisor = 1;
  while (divisor < 16 && value % (2 * divisor) == 0) divisor *= 2;
  return divisor;
}

/// The last dimension of stride 1. A dimension of extent 1 never moves, so it is taken only where no other
/// fits.
int unit_dimension(const std::vector<std::int64_t>& shape, const Strides& strides) {
  int alone = -1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    if (strides[at] == 1 && shape[at] != 1) return d;
    if (strides[at] == 1 && alone < 0) alone = d;
  }
  return alone;
}

bool is_dense(const std::vector<std::int64_t>& shape, const Strides& strides) {
  if (std::count(shape.begin(), shape.end(), 0) > 0) return true;
  const Strides dense = dense_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

TensorLayout layout_of(DType dtype, const std::vector<std::int64_t>& shape,
                       const TensorPlacement& placement) {
  TensorLayout layout;
  layout.dense = placement.strides.empty() || is_dense(shape, placement.strides);
  const Strides strides = layout.dense ? dense_strides(shape) : placement.strides;
  layout.unit_axis = layout.dense ? static_cast<int>(shape.size()) - 1 : unit_dimension(shape, strides);
  layout.alignment = divisor_class(placement.address_modulo_16);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int>(d) == layout.unit_axis || shape[d] <= 1) continue;
    const std::int64_t bytes = saturating_multiply(strides[d], core::size_bytes(dtype));
    layout.alignment = std::min(layout.alignment, divisor_class(bytes));
    layout.forward = layout.forward && strides[d] > 0;
  }
  return layout;
}

/// Largest distance in elements between two elements of a tensor.
std::int64_t reach(const std::vector<std::int64_t>& shape, const TensorPlacement& placement) {
  const Strides strides = placement.strides.empty() ? dense_strides(shape) : placement.strides;
  std::int64_t total = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] <= 1 || strides[d] == 0) continue;
    const std::int64_t stride = strides[d] == INT64_MIN ? INT64_MAX : std::abs(strides[d]);
    if (__builtin_add_overflow(total, saturating_multiply(stride, shape[d] - 1), &total)) return INT64_MAX;
  }
  return total;
}

/// Most elements or iterations of a narrow kernel: above them is room for the indices of a tile that reaches
/// past an edge.
constexpr std::int64_t most_narrow = INT32_MAX - (1 << 12);

/// Every i64 value of a kernel, and the number of points it iterates over, fit 32 bits.
bool is_narrow(const Kernel& kernel, const dsl::Function& graph, const dsl::Binding& binding) {
  std::vector<ExpressionId> roots;
  for (const Store& store : kernel.stores) {
    roots.push_back(store.value);
    roots.insert(roots.end(), store.indices.begin(), store.indices.end());
  }
  if (const auto* rows = std::get_if<RowReduction>(&kernel.form)) {
    for (const Fold& fold : rows->folds) roots.push_back(fold.body);
    if (extent_of(graph, rows->columns, binding) > most_narrow) return false;
  }
  if (const auto* contraction = std::get_if<Contraction>(&kernel.form))
    if (extent_of(graph, contraction->contracted, binding) > most_narrow) return false;
  if (extent_of(graph, kernel.axes, binding) > most_narrow) return false;
  bool narrow = true;
  for (const ExpressionId root : roots)
    dsl::visit_nodes(graph.arena, root, [&](ExpressionId id) {
      if (graph.arena[id].type == DType::i64)
        narrow = narrow && dsl::interval_of(graph, id, binding.dims).inside(INT32_MIN, INT32_MAX);
    });
  return narrow;
}

std::set<TensorId> tensors_of(const Plan& plan) {
  std::set<TensorId> tensors;
  for (const Kernel& kernel : plan.kernels) {
    tensors.insert(kernel.reads.begin(), kernel.reads.end());
    tensors.insert(kernel.writes.begin(), kernel.writes.end());
  }
  return tensors;
}

}  // namespace

Specialisation specialise(const Plan& plan, const dsl::Binding& binding,
                          const std::vector<TensorPlacement>& placements) {
  const dsl::Function& graph = *plan.graph;
  Specialisation result;
  result.index_bits = 32;
  result.tensors.resize(graph.tensors.size());
  for (const TensorId tensor : tensors_of(plan)) {
    const auto at = static_cast<std::size_t>(tensor.value);
    const TensorPlacement placement = at < placements.size() ? placements[at] : TensorPlacement{};
    const std::vector<std::int64_t> shape = shape_of(graph, tensor, binding);
    result.tensors[at] = layout_of(graph[tensor].dtype, shape, placement);
    if (reach(shape, placement) > most_narrow) result.index_bits = 64;
  }
  for (const std::int64_t dim : binding.dims) result.dim_divisor.push_back(divisor_class(dim));
  result.baked.resize(binding.dims.size());
  for (const Kernel& kernel : plan.kernels)
    if (result.index_bits == 32 && !is_narrow(kernel, graph, binding)) result.index_bits = 64;
  return result;
}

std::string Specialisation::text(const dsl::Function& graph) const {
  std::string text = fmt::format("index{}", index_bits);
  for (std::size_t d = 0; d < dim_divisor.size(); ++d)
    text += baked[d] ? fmt::format(" {}={}", graph.dims[d].name, *baked[d])
                     : fmt::format(" {}%{}", graph.dims[d].name, dim_divisor[d]);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (graph.tensors[t].role == dsl::TensorRole::local) continue;  // inlined: no plan stores it
    const TensorLayout& layout = tensors[t];
    text += fmt::format(" {}:{}/{}/{}{}", graph.tensors[t].name, layout.dense ? "dense" : "strided",
                        layout.unit_axis, layout.alignment, layout.forward ? "" : "/backward");
  }
  return text;
}

std::string stride_symbol(const dsl::Tensor& tensor, int dimension) {
  return fmt::format("{}.stride.{}", tensor.name, dimension);
}

}  // namespace einkern::codegen
