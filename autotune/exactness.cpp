#include "autotune/exactness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "codegen/plan/access.h"
#include "core/dtype.h"
#include "dsl/interval.h"

namespace einkern::autotune {
namespace {

using codegen::KernelContext;
using dsl::Expression;
using dsl::ExpressionId;
using dsl::Op;

/// Values that are multiples of `step` (a power of two) no larger than `largest`.
struct Grid {
  double largest = 0;
  double step = 1;
  double points() const { return largest / step; }
};
using MaybeGrid = std::optional<Grid>;

constexpr Grid truth = {1, 1};
constexpr double small_integer = 3;  // what inputs are filled with, at most
constexpr double f8_sum_points = 1 << 13;

/// Integers of so many points and no more are exact in a float type.
double exact_points(DType type) { return 2 / core::epsilon(type); }

MaybeGrid grid_of_number(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0) return Grid{0, 1};
  double step = std::exp2(std::ilogb(value));
  while (std::fmod(value, step) != 0) step /= 2;
  return Grid{std::fabs(value), step};
}

Grid united(const Grid& a, const Grid& b) {
  return {std::max(a.largest, b.largest), std::min(a.step, b.step)};
}
Grid added(const Grid& a, const Grid& b) { return {a.largest + b.largest, std::min(a.step, b.step)}; }
Grid multiplied(const Grid& a, const Grid& b) { return {a.largest * b.largest, a.step * b.step}; }

class Analysis {
 public:
  Analysis(const KernelContext& context, const Problem& problem)
      : context_(context), problem_(problem), graph_(*context.plan.graph) {}

  bool exact(ExpressionId root) {
    dsl::visit_nodes(graph_.arena, root, [&](ExpressionId id) {
      if (!grids_.contains(id)) grids_[id] = fitting(graph_.arena[id], grid(id));
    });
    return grids_[root].has_value();
  }

 private:
  /// A result that its type rounds is not exact.
  static MaybeGrid fitting(const Expression& node, MaybeGrid grid) {
    if (grid && core::is_float(node.type) && grid->points() > exact_points(node.type)) return std::nullopt;
    return grid;
  }

  MaybeGrid grid(ExpressionId id) {
    const Expression& node = graph_.arena[id];
    switch (node.op) {
      case Op::constant:
        return core::is_float(node.type) ? grid_of_number(node.float_value())
                                         : grid_of_number(static_cast<double>(node.integer_value()));
      case Op::dim:
      case Op::axis:
        return grid_of_index(id);
      case Op::scalar:
        return grid_of_scalar(graph_[dsl::ScalarId{node.index}]);
      case Op::read:
        return grid_of_read(node);
      case Op::reduce:
        return grid_of_reduction(node);
      case Op::cast:
        return grid_of_cast(node);
      case Op::bitcast:
        return std::nullopt;
      default:
        return node.type == DType::i64 ? grid_of_index(id) : grid_of_operation(node);
    }
  }

  MaybeGrid operand(const Expression& node, std::size_t i) { return grids_[node.operands[i]]; }

  MaybeGrid grid_of_index(ExpressionId id) const {
    const dsl::Interval interval = dsl::interval_of(graph_, id, context_.binding.dims);
    return Grid{
        std::max(std::fabs(static_cast<double>(interval.low)), std::fabs(static_cast<double>(interval.high))),
        1};
  }

  MaybeGrid grid_of_scalar(const dsl::Scalar& scalar) const {
    const auto bits = problem_.scalars.find(scalar.name);
    if (bits == problem_.scalars.end()) return std::nullopt;
    return grid_of_number(
        core::is_float(scalar.dtype)
            ? core::decode_float(scalar.dtype, bits->second)
            : static_cast<double>(core::wrap_integer(scalar.dtype, static_cast<std::int64_t>(bits->second))));
  }

  MaybeGrid grid_of_read(const Expression& node) {
    const auto& writes = context_.kernel.writes;
    const dsl::TensorId id{node.index};
    if (std::find(writes.begin(), writes.end(), id) != writes.end()) return std::nullopt;
    for (const ProblemTensor& tensor : problem_.tensors)
      if (tensor.name == graph_[id].name && tensor.index_limit > 0)
        return Grid{static_cast<double>(tensor.index_limit), 1};
    const Grid values{small_integer, 1};
    if (node.guard != dsl::Guard::alternative) return values;
    const MaybeGrid alternative = grids_[node.operands.back()];
    return alternative ? MaybeGrid(united(values, *alternative)) : alternative;
  }

  MaybeGrid grid_of_reduction(const Expression& node) {
    const MaybeGrid body = operand(node, 0);
    if (!body) return body;
    switch (node.reduction) {
      case dsl::Reduction::sum: {
        const auto terms = static_cast<double>(codegen::extent_of(graph_, node.axes, context_.binding));
        const Grid sum{terms * body->largest, body->step};
        if (reads_f8(node.operands[0]) && sum.points() > f8_sum_points) return std::nullopt;
        return sum;
      }
      case dsl::Reduction::product:
        return std::nullopt;
      case dsl::Reduction::maximum:
      case dsl::Reduction::minimum:
        return body;
      case dsl::Reduction::any:
      case dsl::Reduction::all:
        return truth;
      case dsl::Reduction::argmax:
      case dsl::Reduction::argmin:
        return Grid{static_cast<double>(codegen::extent_of(graph_, node.axes, context_.binding)), 1};
    }
    return std::nullopt;
  }

  bool reads_f8(ExpressionId body) const {
    for (const ExpressionId read : codegen::reads_of(graph_.arena, {body})) {
      const DType stored = graph_[dsl::TensorId{graph_.arena[read].index}].dtype;
      if (stored == DType::f8e4m3 || stored == DType::f8e5m2) return true;
    }
    return false;
  }

  MaybeGrid grid_of_cast(const Expression& node) {
    const MaybeGrid from = operand(node, 0);
    if (!from || from->largest > core::largest(node.target)) return std::nullopt;
    if (!core::is_float(node.target)) return Grid{from->largest, 1};
    return from->points() <= exact_points(node.target) ? from : std::nullopt;
  }

  MaybeGrid grid_of_operation(const Expression& node) {
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (!operand(node, i)) return std::nullopt;
    const auto at = [&](std::size_t i) { return *operand(node, i); };
    if (node.type == DType::boolean) return truth;
    switch (node.op) {
      case Op::negate:
      case Op::absolute:
        return at(0);
      case Op::sign:
        return truth;
      case Op::add:
      case Op::subtract:
        return added(at(0), at(1));
      case Op::multiply:
        return multiplied(at(0), at(1));
      case Op::fma:
        return added(multiplied(at(0), at(1)), at(2));
      case Op::maximum:
      case Op::minimum:
        return united(at(0), at(1));
      case Op::where:
        return united(at(1), at(2));
      case Op::floor:
      case Op::ceil:
      case Op::round:
      case Op::trunc:
        return Grid{at(0).largest + 1, 1};
      default:  // integer operations never round; of floats the rest does
        return core::is_float(node.type) ? MaybeGrid() : Grid{core::largest(node.type), 1};
    }
  }

  const KernelContext& context_;
  const Problem& problem_;
  const dsl::Function& graph_;
  std::map<ExpressionId, MaybeGrid> grids_;

 public:
  /// Points of a factor's values; nothing if they are not exact.
  std::optional<double> points(ExpressionId factor) {
    return exact(factor) ? std::optional<double>(grids_[factor]->points()) : std::nullopt;
  }
};

/// What factors of products may be rounded to.
double factor_points(const dsl::Precision& precision) {
  switch (precision.kind) {
    case dsl::Precision::Kind::exact:
      return exact_points(DType::f64);
    case dsl::Precision::Kind::tf32:
    case dsl::Precision::Kind::f16:
      return exact_points(DType::f16);
    case dsl::Precision::Kind::bf16:
    case dsl::Precision::Kind::bounded:
      return exact_points(DType::bf16);
  }
  return 0;
}

}  // namespace

bool is_exact(const KernelContext& context, const Problem& problem, dsl::TensorId target) {
  Analysis analysis(context, problem);
  if (const auto* product = std::get_if<codegen::Contraction>(&context.kernel.form))
    for (const ExpressionId factor : {product->a, product->b}) {
      const std::optional<double> points = analysis.points(factor);
      if (!points || *points > factor_points(context.plan.graph->precision)) return false;
    }
  for (const codegen::Store& store : context.kernel.stores) {
    if (store.target != target) continue;
    // How many updates meet in one element depends on the data.
    if (store.update || !analysis.exact(store.value)) return false;
  }
  return true;
}

}  // namespace einkern::autotune
