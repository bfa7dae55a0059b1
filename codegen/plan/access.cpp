#include "codegen/plan/access.h"

#include <algorithm>
#include <map>
#include <set>

#include "dsl/interval.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::ExpressionArena;
using dsl::Op;

std::vector<ExpressionId> reads_of(const ExpressionArena& arena, const std::vector<ExpressionId>& roots) {
  std::vector<ExpressionId> reads;
  std::set<ExpressionId> seen;
  for (const ExpressionId root : roots)
    dsl::visit_nodes(arena, root, [&](ExpressionId id) {
      if (arena[id].op == Op::read && seen.insert(id).second) reads.push_back(id);
    });
  return reads;
}

bool depends_on(const ExpressionArena& arena, ExpressionId id, AxisId axis) {
  const std::vector<AxisId> axes = dsl::free_axes(arena, id);
  return std::binary_search(axes.begin(), axes.end(), axis);
}

std::optional<std::int64_t> axis_coefficient(const ExpressionArena& arena, ExpressionId id, AxisId axis) {
  const Expression& node = arena[id];
  if (node.op == Op::axis) return node.index == axis.value ? 1 : 0;
  if (!depends_on(arena, id, axis)) return 0;
  const auto operand = [&](std::size_t i) { return axis_coefficient(arena, node.operands[i], axis); };
  std::int64_t result = 0;
  if (node.op == Op::negate) {
    const auto of = operand(0);
    if (of && !__builtin_sub_overflow(std::int64_t{0}, *of, &result)) return result;
  } else if (node.op == Op::add || node.op == Op::subtract) {
    const auto left = operand(0), right = operand(1);
    if (!left || !right) return std::nullopt;
    const bool overflow = node.op == Op::add ? __builtin_add_overflow(*left, *right, &result)
                                             : __builtin_sub_overflow(*left, *right, &result);
    if (!overflow) return result;
  } else if (node.op == Op::multiply) {
    for (const std::size_t side : {0, 1}) {
      const auto factor = dsl::constant_value(arena, node.operands[1 - side]);
      const auto of = factor ? operand(side) : std::nullopt;
      if (of && !__builtin_mul_overflow(*of, *factor, &result)) return result;
    }
  }
  return std::nullopt;
}

Movement movement(const ExpressionArena& arena, ExpressionId read, AxisId axis, const TensorLayout& layout) {
  const Expression& node = arena[read];
  const std::size_t rank = node.operands.size() - (node.guard == dsl::Guard::alternative ? 1 : 0);
  Movement result = Movement::none;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto coefficient = axis_coefficient(arena, node.operands[d], axis);
    if (!coefficient) return Movement::general;
    if (*coefficient == 0) continue;
    const bool unit =
        result == Movement::none && *coefficient == 1 && static_cast<int>(d) == layout.unit_axis;
    result = unit ? Movement::unit : Movement::strided;
  }
  return result;
}

int known_divisor(const ExpressionArena& arena, ExpressionId id, const std::vector<AxisId>& multiples,
                  const Specialisation& specialisation) {
  constexpr int most = 16;
  const Expression& node = arena[id];
  const auto of = [&](std::size_t i) {
    return known_divisor(arena, node.operands[i], multiples, specialisation);
  };
  switch (node.op) {
    case Op::constant: {
      int divisor = 1;
      while (divisor < most && node.integer_value() % (2 * divisor) == 0) divisor *= 2;
      return divisor;
    }
    case Op::dim:
      return specialisation.dim_divisor[static_cast<std::size_t>(node.index)];
    case Op::axis:
      return std::find(multiples.begin(), multiples.end(), AxisId{node.index}) != multiples.end() ? most : 1;
    case Op::add:
    case Op::subtract:
      return std::min(of(0), of(1));
    case Op::negate:
      return of(0);
    case Op::multiply:
      return std::min(most, of(0) * of(1));
    default:
      return 1;
  }
}

namespace {

int widest(DType type, int alignment) {
  return std::max(1, std::min(alignment, 16) / core::size_bytes(type));
}

}  // namespace

int vector_width(const dsl::Function& graph, ExpressionId read, AxisId axis,
                 const Specialisation& specialisation) {
  const Expression& node = graph.arena[read];
  const TensorLayout& layout = specialisation.tensors[static_cast<std::size_t>(node.index)];
  if (movement(graph.arena, read, axis, layout) != Movement::unit) return 1;
  const ExpressionId index = node.operands[static_cast<std::size_t>(layout.unit_axis)];
  return std::min(widest(graph[TensorId{node.index}].dtype, layout.alignment),
                  known_divisor(graph.arena, index, {axis}, specialisation));
}

int vector_width(const dsl::Function& graph, const Store& store, AxisId axis,
                 const Specialisation& specialisation) {
  const TensorLayout& layout = specialisation.tensors[static_cast<std::size_t>(store.target.value)];
  if (store.update || layout.unit_axis < 0) return 1;
  if (store.axes[static_cast<std::size_t>(layout.unit_axis)] != axis) return 1;
  return widest(graph[store.target].dtype, layout.alignment);
}

std::vector<std::int64_t> shape_of(const dsl::Function& graph, TensorId tensor, const dsl::Binding& binding) {
  if (static_cast<std::size_t>(tensor.value) < binding.shapes.size())
    return binding.shapes[static_cast<std::size_t>(tensor.value)];
  std::vector<std::int64_t> shape;
  for (const ExpressionId dimension : graph[tensor].shape) {
    const auto value = dsl::evaluate_dims(graph, dimension, binding.dims);
    shape.push_back(value.ok() ? std::max<std::int64_t>(0, *value) : 0);
  }
  return shape;
}

std::int64_t elements_of(const dsl::Function& graph, TensorId tensor, const dsl::Binding& binding) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape_of(graph, tensor, binding))
    if (__builtin_mul_overflow(elements, extent, &elements)) return INT64_MAX;
  return elements;
}

std::int64_t extent_of(const dsl::Function& graph, AxisId axis, const dsl::Binding& binding) {
  const dsl::Interval low = dsl::interval_of(graph, graph.arena[axis].low, binding.dims);
  const dsl::Interval high = dsl::interval_of(graph, graph.arena[axis].high, binding.dims);
  std::int64_t extent = 0;
  if (low.empty() || high.empty()) return 0;
  if (__builtin_sub_overflow(high.high, low.low, &extent)) return INT64_MAX;
  return std::max<std::int64_t>(0, extent);
}

std::int64_t extent_of(const dsl::Function& graph, const std::vector<AxisId>& axes,
                       const dsl::Binding& binding) {
  std::int64_t extent = 1;
  for (const AxisId axis : axes)
    if (__builtin_mul_overflow(extent, extent_of(graph, axis, binding), &extent)) return INT64_MAX;
  return extent;
}

namespace {

/// Adds up what a kernel does, each distinct value once a point of the axes around it.
class CostCounter {
 public:
  CostCounter(const Plan& plan, const dsl::Binding& binding)
      : graph_(*plan.graph), arena_(graph_.arena), binding_(binding) {}

  double extent(const std::vector<AxisId>& axes) const {
    return static_cast<double>(extent_of(graph_, axes, binding_));
  }

  /// A node whose value another part of the kernel has: free here.
  void provide(ExpressionId id) { provided_.insert(id); }

  /// Counts `value` at each of `points` points: its operations, and the elements its reads fetch.
  void count(ExpressionId value, double points) {
    std::set<ExpressionId> seen;
    std::vector<ExpressionId> pending = {value};
    while (!pending.empty()) {
      const ExpressionId id = pending.back();
      pending.pop_back();
      if (provided_.count(id) || !seen.insert(id).second) continue;
      const Expression& node = arena_[id];
      if (node.op == Op::reduce) {
        const double inner = points * extent(node.axes);
        operations += inner;
        for (const ExpressionId operand : node.operands) count(operand, inner);
        continue;
      }
      if (node.op == Op::read) fetched_[TensorId{node.index}] += points;
      if (node.op >= dsl::first_scalar_op &&
          (core::is_float(node.type) || node.type == DType::i32 || node.type == DType::u32))
        operations += points * dsl::facts(node.op).cost;
      pending.insert(pending.end(), node.operands.begin(), node.operands.end());
    }
  }

  double bytes_read() const {
    double bytes = 0;
    for (const auto& [tensor, elements] : fetched_)
      bytes += core::size_bytes(graph_[tensor].dtype) *
               std::min(elements, static_cast<double>(elements_of(graph_, tensor, binding_)));
    return bytes;
  }

  double operations = 0;

 private:
  const dsl::Function& graph_;
  const ExpressionArena& arena_;
  const dsl::Binding& binding_;
  std::set<ExpressionId> provided_;
  std::map<TensorId, double> fetched_;
};

void count_form(CostCounter& counter, const RowReduction& form) {
  const double points = counter.extent(form.rows) * counter.extent(form.columns);
  for (const Fold& fold : form.folds) {
    counter.count(fold.body, points);
    counter.operations += points;
    counter.provide(fold.node);
  }
}

void count_form(CostCounter& counter, const Contraction& form) {
  const double batch = counter.extent(form.batch), m = counter.extent(form.m), n = counter.extent(form.n);
  const double k = counter.extent(form.contracted);
  counter.count(form.a, batch * m * k);
  counter.count(form.b, batch * n * k);
  counter.operations += 2 * batch * m * n * k;
  counter.provide(form.fold);
}

}  // namespace

KernelCost kernel_cost(const Plan& plan, const Kernel& kernel, const dsl::Binding& binding) {
  CostCounter counter(plan, binding);
  if (const auto* rows = std::get_if<RowReduction>(&kernel.form)) count_form(counter, *rows);
  if (const auto* contraction = std::get_if<Contraction>(&kernel.form)) count_form(counter, *contraction);
  KernelCost cost;
  for (const Store& store : kernel.stores) {
    const double points = counter.extent(store.update ? kernel.axes : store.axes);
    counter.count(store.value, points);
    for (const ExpressionId index : store.indices) counter.count(index, points);
    const double elements =
        std::min(points, static_cast<double>(elements_of(*plan.graph, store.target, binding)));
    cost.bytes += elements * core::size_bytes((*plan.graph)[store.target].dtype) * (store.update ? 2 : 1);
  }
  cost.bytes += counter.bytes_read();
  cost.operations = counter.operations;
  return cost;
}

}  // namespace einkern::codegen
