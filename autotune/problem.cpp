#include "autotune/problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "autotune/exactness.h"
#include "codegen/plan/access.h"
#include "core/dtype.h"

namespace einkern::autotune {
namespace {

using codegen::KernelContext;
using core::BufferKind;
using dsl::ExpressionId;
using dsl::TensorId;

bool contains(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::vector<TensorId> tensors_of(const codegen::Kernel& kernel) {
  std::vector<TensorId> tensors = kernel.reads;
  for (const TensorId id : kernel.writes)
    if (!contains(tensors, id)) tensors.push_back(id);
  return tensors;
}

/// What an update combines with is read, too.
BufferKind kind_of(const codegen::Kernel& kernel, TensorId id) {
  if (!contains(kernel.writes, id)) return BufferKind::input;
  bool updated = contains(kernel.reads, id);
  for (const codegen::Store& store : kernel.stores)
    updated = updated || (store.target == id && store.update.has_value());
  return updated ? BufferKind::inout : BufferKind::output;
}

/// Every expression that the kernel computes.
std::vector<ExpressionId> roots_of(const codegen::Kernel& kernel) {
  std::vector<ExpressionId> roots;
  for (const codegen::Store& store : kernel.stores) {
    roots.push_back(store.value);
    roots.insert(roots.end(), store.indices.begin(), store.indices.end());
  }
  if (const auto* rows = std::get_if<codegen::RowReduction>(&kernel.form))
    for (const codegen::Fold& fold : rows->folds) roots.push_back(fold.body);
  if (const auto* product = std::get_if<codegen::Contraction>(&kernel.form)) {
    roots.push_back(product->a);
    roots.push_back(product->b);
  }
  return roots;
}

/// Limits of the values of integer tensors that index others: the least extent of what they index.
class IndexLimits {
 public:
  explicit IndexLimits(const KernelContext& context) : context_(context) {
    const dsl::Function& graph = *context.plan.graph;
    for (const ExpressionId read : codegen::reads_of(graph.arena, roots_of(context.kernel))) {
      const dsl::Expression& node = graph.arena[read];
      note(TensorId{node.index}, node.operands);
    }
    for (const codegen::Store& store : context.kernel.stores) note(store.target, store.indices);
  }
  std::int64_t of(TensorId id) const {
    const auto limit = limits_.find(id.value);
    return limit == limits_.end() ? 0 : limit->second;
  }

 private:
  void note(TensorId target, const std::vector<ExpressionId>& indices) {
    const dsl::Function& graph = *context_.plan.graph;
    const auto shape = codegen::shape_of(graph, target, context_.binding);
    for (std::size_t d = 0; d < std::min(indices.size(), shape.size()); ++d)
      for (const ExpressionId read : codegen::reads_of(graph.arena, {indices[d]})) {
        const TensorId source{graph.arena[read].index};
        if (!core::is_integer(graph[source].dtype)) continue;
        const auto largest = core::largest(graph[source].dtype);
        const auto limit = static_cast<std::int64_t>(std::min(static_cast<double>(shape[d]), largest));
        const auto [known, fresh] = limits_.emplace(source.value, limit);
        if (!fresh) known->second = std::min(known->second, limit);
      }
  }
  const KernelContext& context_;
  std::map<std::int32_t, std::int64_t> limits_;
};

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

double precision_epsilon(const dsl::Precision& precision) {
  switch (precision.kind) {
    case dsl::Precision::Kind::exact:
      return 0;
    case dsl::Precision::Kind::tf32:
    case dsl::Precision::Kind::f16:
      return 0x1p-10;
    case dsl::Precision::Kind::bf16:
      return 0x1p-7;
    case dsl::Precision::Kind::bounded:
      return precision.bound;
  }
  return 0;
}

/// None where every right kernel gives the same bits. Else the store's rounding, what the program's precision
/// allows, and rounding errors of the arithmetic, which grow with the square root of the number of terms and
/// do not shrink where terms cancel.
void set_tolerance(ProblemTensor& tensor, const KernelContext& context) {
  if (!core::is_float(tensor.dtype)) return;
  double elements = 1;
  for (const std::int64_t extent : tensor.shape) elements *= static_cast<double>(extent);
  const codegen::KernelCost cost = codegen::kernel_cost(context.plan, context.kernel, context.binding);
  const double terms = std::max(1.0, cost.operations / elements);
  const double arithmetic = 16 * core::epsilon(core::compute_type(tensor.dtype)) * std::sqrt(terms);
  const double allowed = arithmetic + 2 * precision_epsilon(context.plan.graph->precision);
  tensor.relative = 2 * core::epsilon(tensor.dtype) + allowed;
  tensor.absolute = allowed;
}

/// The default where there is one, else a number that is exact in every type.
std::uint64_t scalar_bits(const dsl::Function& graph, dsl::ScalarId id, const dsl::Binding& binding) {
  const dsl::Scalar& scalar = graph[id];
  double value = core::is_float(scalar.dtype) ? 1.5 : 1;
  if (scalar.default_value)
    if (const auto given = dsl::default_value(graph, id, binding.dims); given.ok()) value = *given;
  if (core::is_float(scalar.dtype)) return core::encode_float(scalar.dtype, value);
  return static_cast<std::uint64_t>(core::float_to_integer(DType::i64, value));
}

}  // namespace

bool is_empty(const KernelContext& context) {
  for (const TensorId id : tensors_of(context.kernel))
    if (codegen::elements_of(*context.plan.graph, id, context.binding) == 0) return true;
  return false;
}

core::Result<Problem> make_problem(const KernelContext& context,
                                   const std::vector<codegen::TensorPlacement>& placements,
                                   std::uint64_t seed) {
  const dsl::Function& graph = *context.plan.graph;
  const IndexLimits limits(context);
  Problem problem;
  problem.symbols = context.binding.symbols;
  const std::vector<TensorId> ids = tensors_of(context.kernel);
  for (const TensorId id : ids) {
    const auto number = static_cast<std::size_t>(id.value);
    const codegen::TensorPlacement placement =
        number < placements.size() ? placements[number] : codegen::TensorPlacement{};
    ProblemTensor tensor{.name = graph[id].name, .dtype = graph[id].dtype};
    tensor.kind = kind_of(context.kernel, id);
    tensor.shape = codegen::shape_of(graph, id, context.binding);
    tensor.strides = placement.strides.empty() ? dense_strides(tensor.shape) : placement.strides;
    tensor.first_byte = placement.address_modulo_16;
    tensor.index_limit = limits.of(id);
    tensor.seed = (seed + 1) * 0x9E3779B97F4A7C15u + number;  // no two tensors alike
    for (std::size_t d = 0; d < tensor.strides.size(); ++d)
      problem.symbols[codegen::stride_symbol(graph[id], static_cast<int>(d))] = tensor.strides[d];
    problem.tensors.push_back(std::move(tensor));
  }
  for (std::size_t i = 0; i < graph.scalars.size(); ++i)
    problem.scalars[graph.scalars[i].name] =
        scalar_bits(graph, dsl::ScalarId{static_cast<std::int32_t>(i)}, context.binding);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (problem.tensors[i].kind != BufferKind::input && !is_exact(context, problem, ids[i]))
      set_tolerance(problem.tensors[i], context);
  return problem;
}

}  // namespace einkern::autotune
