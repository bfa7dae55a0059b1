#include "codegen/plan/folds.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "codegen/plan/axes.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;

std::vector<ExpressionId> folds_of(const CanonicalGraph& graph, ExpressionId id) {
  std::vector<ExpressionId> folds;
  dsl::visit_nodes(graph.function().arena, id, [&](ExpressionId node) {
    if (graph[node].op == Op::reduce) folds.push_back(node);
  });
  return folds;
}

namespace {

/// Product of the axes' extents where all are literals.
std::optional<std::int64_t> literal_extent(const CanonicalGraph& graph, const Axes& axes) {
  std::int64_t extent = 1;
  for (const AxisId axis : axes) {
    const dsl::Axis& range = graph.function().arena[axis];
    const auto low = dsl::constant_value(graph.function().arena, range.low);
    const auto high = dsl::constant_value(graph.function().arena, range.high);
    if (!low || !high || *high - *low > 4096) return std::nullopt;
    extent *= std::max<std::int64_t>(0, *high - *low);
    if (extent > 4096) return std::nullopt;
  }
  return extent;
}

bool rectangular(const CanonicalGraph& graph, const Axes& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](AxisId axis) { return graph.is_rectangular(axis); });
}

/// Factors of a product, in order; at most 16 (what goes beyond stays one factor).
void collect_factors(const CanonicalGraph& graph, ExpressionId id, DType type,
                     std::vector<ExpressionId>& factors) {
  const Expression& node = graph[id];
  if (node.op != Op::multiply || node.type != type || factors.size() >= 16) {
    factors.push_back(id);
    return;
  }
  for (const ExpressionId operand : node.operands) collect_factors(graph, operand, type, factors);
}

/// Splits the factors of one product. Axes of the result shared by both parts are the batch.
class FactorSplit {
 public:
  FactorSplit(CanonicalGraph& graph, const Axes& result, const std::vector<ExpressionId>& factors)
      : result_(result), part_(factors.size()) {
    for (const ExpressionId factor : factors) {
      Axes used;
      for (const AxisId axis : graph.free_axes(factor))
        if (contains(result_, axis)) used.push_back(axis);
      used_.push_back(std::move(used));
    }
  }

  /// Tries batches from the smallest up, so that as many axes as possible end in m or n. Bit i of a batch:
  /// result axis i.
  bool run() {
    if (result_.size() > 10) return false;
    std::vector<unsigned> batches(std::size_t{1} << result_.size());
    std::iota(batches.begin(), batches.end(), 0U);
    std::stable_sort(batches.begin(), batches.end(),
                     [](unsigned a, unsigned b) { return __builtin_popcount(a) < __builtin_popcount(b); });
    return std::any_of(batches.begin(), batches.end(), [&](unsigned batch) { return split(batch); });
  }

  bool in_second(std::size_t factor) const { return part_[factor] != 0; }

 private:
  bool in_batch(unsigned batch, AxisId axis) const {
    const auto at = std::find(result_.begin(), result_.end(), axis) - result_.begin();
    return (batch >> at & 1U) != 0;
  }

  /// Ties factors that share an axis outside the batch; two or more groups that own an axis make a
  /// contraction. The group with the last axis of the result is the second part, every other the first;
  /// factors that own nothing join a part that has all their axes.
  bool split(unsigned batch) {
    const std::size_t count = used_.size();
    std::vector<std::size_t> group(count);
    std::iota(group.begin(), group.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (share_own_axis(batch, i, j)) {
          const std::size_t from = group[i], to = group[j];
          std::replace(group.begin(), group.end(), from, to);
        }
    std::set<std::size_t> owners;
    std::optional<std::size_t> second;
    for (std::size_t i = 0; i < count; ++i)
      for (const AxisId axis : used_[i]) {
        if (in_batch(batch, axis)) continue;
        owners.insert(group[i]);
      }
    if (owners.size() < 2) return false;
    for (auto axis = result_.rbegin(); axis != result_.rend() && !second; ++axis) {
      if (in_batch(batch, *axis)) continue;
      for (std::size_t i = 0; i < count; ++i)
        if (contains(used_[i], *axis)) second = group[i];
    }
    for (std::size_t i = 0; i < count; ++i) part_[i] = owners.count(group[i]) ? group[i] == *second : 0;
    return batch_in_both(batch);
  }

  bool share_own_axis(unsigned batch, std::size_t i, std::size_t j) const {
    return std::any_of(used_[i].begin(), used_[i].end(),
                       [&](AxisId axis) { return !in_batch(batch, axis) && contains(used_[j], axis); });
  }

  bool batch_in_both(unsigned batch) const {
    for (const AxisId axis : result_) {
      if (!in_batch(batch, axis)) continue;
      bool first = false, second = false;
      for (std::size_t i = 0; i < used_.size(); ++i)
        if (contains(used_[i], axis)) (part_[i] ? second : first) = true;
      if (!first || !second) return false;
    }
    return true;
  }

  const Axes& result_;
  std::vector<Axes> used_;  // by factor: axes of the result
  std::vector<int> part_;   // by factor: 1 in the second part
};

constexpr std::int64_t fewest_contracted = 8;  // below, a product is a few multiply-adds an element
constexpr std::int64_t fewest_columns = 32;    // below, one thread folds an element's columns on its own

}  // namespace

std::optional<Contraction> match_contraction(CanonicalGraph& graph, ExpressionId fold) {
  const Expression node = graph[fold];
  if (node.op != Op::reduce || node.reduction != dsl::Reduction::sum || node.operands.size() != 1)
    return std::nullopt;
  if (!rectangular(graph, node.axes)) return std::nullopt;
  if (const auto extent = literal_extent(graph, node.axes); extent && *extent < fewest_contracted)
    return std::nullopt;
  const Axes result = graph.free_axes(fold);
  if (result.size() < 2 || !rectangular(graph, result)) return std::nullopt;
  std::vector<ExpressionId> factors;
  collect_factors(graph, node.operands[0], node.type, factors);
  if (factors.size() < 2) return std::nullopt;
  FactorSplit split(graph, result, factors);
  if (!split.run()) return std::nullopt;
  Contraction contraction;
  contraction.fold = fold;
  contraction.accumulator = node.type;
  contraction.contracted = node.axes;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    ExpressionId& part = split.in_second(i) ? contraction.b : contraction.a;
    part =
        part.valid() ? graph.function().arena.apply(Op::multiply, node.type, {part, factors[i]}) : factors[i];
  }
  for (const AxisId axis : result) {
    const bool in_a = graph.uses(contraction.a, axis), in_b = graph.uses(contraction.b, axis);
    (in_a && in_b ? contraction.batch : in_a ? contraction.m : contraction.n).push_back(axis);
  }
  return contraction;
}

namespace {

/// Whether a dimension's index mixes a column with other axes so that elements repeat: `x[h + u]`. Not a
/// window: `x[g * D + c]` with c over 0..D, which splits a dimension in groups, and an index that is itself
/// read.
bool is_window(CanonicalGraph& graph, ExpressionId index, const Axes& columns) {
  bool data_dependent = false;
  dsl::visit_nodes(graph.function().arena, index,
                   [&](ExpressionId id) { data_dependent = data_dependent || graph[id].op == Op::read; });
  if (data_dependent) return false;
  const Axes axes = graph.free_axes(index);
  const auto column =
      std::find_if(axes.begin(), axes.end(), [&](AxisId axis) { return contains(columns, axis); });
  const bool others =
      std::any_of(axes.begin(), axes.end(), [&](AxisId axis) { return !contains(columns, axis); });
  if (column == axes.end() || !others) return false;
  const Expression& sum = graph[index];
  if (sum.op != Op::add) return true;
  for (const std::size_t side : {0, 1}) {
    const Expression &scaled = graph[sum.operands[side]], &bare = graph[sum.operands[1 - side]];
    if (scaled.op != Op::multiply || bare.op != Op::axis || !contains(columns, AxisId{bare.index})) continue;
    const ExpressionId extent = graph.function().arena[AxisId{bare.index}].high;
    if (scaled.operands[0] == extent || scaled.operands[1] == extent) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> reason_against_columns(CanonicalGraph& graph, ExpressionId fold) {
  const Expression node = graph[fold];
  if (node.operands.size() != 1) return "it takes the n-th largest";
  if (!rectangular(graph, node.axes)) return "its range depends on more than sizes";
  const bool argument = node.reduction == dsl::Reduction::argmax || node.reduction == dsl::Reduction::argmin;
  if (argument && node.axes.size() != 1) return "its argument has several axes";
  if (const auto extent = literal_extent(graph, node.axes); extent && *extent <= fewest_columns)
    return "it has few elements";
  std::vector<ExpressionId> reads;
  dsl::visit_nodes(graph.function().arena, node.operands[0], [&](ExpressionId id) {
    if (graph[id].op == Op::read) reads.push_back(id);
  });
  for (const ExpressionId id : reads) {
    const Expression read = graph[id];
    const std::size_t rank = graph.function()[TensorId{read.index}].shape.size();
    for (std::size_t d = 0; d < rank; ++d)
      if (is_window(graph, read.operands[d], node.axes)) return "it slides over a window";
  }
  return std::nullopt;
}

bool is_heavy(const Expression& node) {
  switch (node.op) {
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
    case Op::erf:
    case Op::pow:
    case Op::random:
    case Op::uniform:
      return true;
    default:
      return false;
  }
}

std::vector<ExpressionId> repeated_heavy_nodes(CanonicalGraph& graph, ExpressionId root, const Axes& points,
                                               const Axes& swept) {
  std::set<ExpressionId> heavy;
  std::vector<ExpressionId> order, largest;
  dsl::visit_nodes(graph.function().arena, root, [&](ExpressionId id) { order.push_back(id); });
  const auto repeated = [&](ExpressionId id) {
    const Axes& axes = graph.free_axes(id);
    const bool inside =
        std::all_of(axes.begin(), axes.end(), [&](AxisId axis) { return contains(points, axis); });
    const bool moves =
        std::any_of(axes.begin(), axes.end(), [&](AxisId axis) { return contains(swept, axis); });
    return inside && moves && axes.size() < points.size();
  };
  for (const ExpressionId id : order) {
    const Expression& node = graph[id];
    const bool below = std::any_of(node.operands.begin(), node.operands.end(),
                                   [&](ExpressionId operand) { return heavy.count(operand) > 0; });
    if (is_heavy(node) || below) heavy.insert(id);
  }
  // From the top: a node that is repeated hides what is below it.
  std::set<ExpressionId> seen;
  std::vector<ExpressionId> pending = {root};
  while (!pending.empty()) {
    const ExpressionId id = pending.back();
    pending.pop_back();
    if (!heavy.count(id) || !seen.insert(id).second) continue;
    if (repeated(id)) {
      largest.push_back(id);
      continue;
    }
    const Expression& node = graph[id];
    pending.insert(pending.end(), node.operands.begin(), node.operands.end());
  }
  return largest;
}

}  // namespace einkern::codegen
