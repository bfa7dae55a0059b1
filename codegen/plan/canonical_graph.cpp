#include "codegen/plan/canonical_graph.h"

#include <algorithm>
#include <set>

namespace einkern::codegen {

using dsl::AxisId;
using dsl::Expression;
using dsl::ExpressionId;
using dsl::Op;

AxisId CanonicalGraph::free_axis(ExpressionId low, ExpressionId high, int ordinal, const std::string& name) {
  const auto [entry, added] = free_.try_emplace({low, high, ordinal});
  if (!added) return entry->second;
  std::string distinct = name;
  for (int number = 1; !free_names_.insert(distinct).second; ++number)
    distinct = name + std::to_string(number);
  return entry->second = function_.arena.add_axis(distinct, low, high);
}

std::vector<AxisId> CanonicalGraph::free_axes_like(const std::vector<AxisId>& axes,
                                                   const std::vector<AxisId>& kept) {
  std::vector<AxisId> result, taken = kept;
  for (const AxisId axis : axes) {
    const dsl::Axis range = function_.arena[axis];
    AxisId candidate;
    for (int ordinal = 0; !candidate.valid() || std::count(taken.begin(), taken.end(), candidate) > 0;
         ++ordinal)
      candidate = free_axis(range.low, range.high, ordinal, range.name);
    result.push_back(candidate);
    taken.push_back(candidate);
  }
  return result;
}

bool CanonicalGraph::same_range(AxisId a, AxisId b) const {
  const dsl::Axis &left = function_.arena[a], &right = function_.arena[b];
  return left.low == right.low && left.high == right.high;
}

bool CanonicalGraph::is_rectangular(AxisId axis) const {
  const dsl::Axis& range = function_.arena[axis];
  if (dsl::constant_value(function_.arena, range.low) != std::optional<std::int64_t>(0)) return false;
  bool dims_only = true;
  dsl::visit_nodes(function_.arena, range.high, [&](ExpressionId id) {
    const Op op = function_.arena[id].op;
    dims_only = dims_only && op != Op::axis && op != Op::read && op != Op::scalar && op != Op::reduce;
  });
  return dims_only;
}

AxisId CanonicalGraph::bound_axis(ExpressionId low, ExpressionId high, int level, const std::string& name) {
  const auto [entry, added] = bound_.try_emplace({low, high, level});
  if (added) {
    entry->second = function_.arena.add_axis(name, low, high);
    levels_[entry->second] = level;
  }
  return entry->second;
}

/// One more than the deepest level of an axis of that range bound inside `body`.
int CanonicalGraph::nested_level(ExpressionId body, ExpressionId low, ExpressionId high) const {
  int level = 0;
  dsl::visit_nodes(function_.arena, body, [&](ExpressionId id) {
    const Expression& node = function_.arena[id];
    if (node.op != Op::reduce) return;
    for (const AxisId axis : node.axes) {
      const dsl::Axis& range = function_.arena[axis];
      const auto known = levels_.find(axis);
      if (known != levels_.end() && range.low == low && range.high == high)
        level = std::max(level, known->second + 1);
    }
  });
  return level;
}

/// One rewriting: images of nodes, operands first, so that the depth of an expression costs no stack.
/// Renaming a fold's own axes starts a second rewriting of its body; those nest only as deep as folds do.
class CanonicalGraph::Rewriter {
 public:
  Rewriter(CanonicalGraph& graph, const dsl::Substitution& replacements)
      : graph_(graph), replacements_(replacements) {
    for (const auto& [axis, value] : replacements.axes) {
      const std::vector<AxisId>& axes = graph_.free_axes(value);
      brought_.insert(axes.begin(), axes.end());
    }
  }

  ExpressionId operator()(ExpressionId root) {
    std::vector<ExpressionId> order;
    dsl::visit_nodes(graph_.function_.arena, root, [&](ExpressionId id) { order.push_back(id); });
    for (const ExpressionId id : order)
      if (!images_.count(id)) images_[id] = image(id);
    return images_.at(root);
  }

 private:
  ExpressionId image(ExpressionId id) {
    if (const auto node = replacements_.nodes.find(id); node != replacements_.nodes.end())
      return node->second;
    Expression node = graph_.function_.arena[id];
    if (node.op == Op::axis) {
      const auto axis = replacements_.axes.find(AxisId{node.index});
      return axis != replacements_.axes.end() ? axis->second : id;
    }
    if (node.operands.empty()) return id;
    if (node.op == Op::reduce && binds_replaced(node)) return rewrite_in_scope(id, node);
    for (ExpressionId& operand : node.operands) operand = images_.at(operand);
    if (node.op == Op::reduce) return reduce(std::move(node));
    // The builders fold constants, which shows equal ranges and indices to be equal.
    if (node.op >= dsl::first_scalar_op)
      return graph_.function_.arena.apply(node.op, node.type, std::move(node.operands));
    return graph_.function_.arena.intern(std::move(node));
  }

  bool binds_replaced(const Expression& reduce) const {
    return std::any_of(reduce.axes.begin(), reduce.axes.end(), [&](AxisId axis) {
      return replacements_.axes.count(axis) > 0 || brought_.count(axis) > 0;
    });
  }

  /// A fold whose own axes have the names of axes that are replaced, which inside of it are others, or that
  /// come with the replacements, which it may not bind: it gets axes of its own, then is rewritten.
  ExpressionId rewrite_in_scope(ExpressionId id, Expression reduce) {
    dsl::ExpressionArena& arena = graph_.function_.arena;
    dsl::Substitution fresh;
    for (AxisId& axis : reduce.axes) {
      dsl::Axis range = arena[axis];
      if (!fresh.axes.empty()) {
        range.low = graph_.rewrite(range.low, fresh);
        range.high = graph_.rewrite(range.high, fresh);
      }
      const AxisId other = arena.add_axis(range.name, range.low, range.high);
      fresh.axes[axis] = arena.axis(other);
      axis = other;
    }
    reduce.operands[0] = graph_.rewrite(graph_[id].operands[0], fresh);
    return graph_.rewrite(arena.intern(std::move(reduce)), replacements_);
  }

  /// Picks the canonical axes of a fold whose operands and bounds are rewritten already.
  ExpressionId reduce(Expression node) {
    dsl::ExpressionArena& arena = graph_.function_.arena;
    dsl::Substitution renamed;
    std::vector<AxisId> axes;
    for (const AxisId axis : node.axes) {
      const dsl::Axis range = arena[axis];
      ExpressionId low = images_.at(range.low), high = images_.at(range.high);
      if (!renamed.axes.empty()) {  // a bound may use an axis that stands before it in the list
        low = graph_.rewrite(low, renamed);
        high = graph_.rewrite(high, renamed);
      }
      int level = graph_.nested_level(node.operands[0], low, high);
      AxisId canonical = graph_.bound_axis(low, high, level, range.name);
      while (std::count(axes.begin(), axes.end(), canonical) > 0 || captures(node, canonical))
        canonical = graph_.bound_axis(low, high, ++level, range.name);
      axes.push_back(canonical);
      if (canonical != axis) renamed.axes[axis] = arena.axis(canonical);
    }
    if (!renamed.axes.empty()) node.operands[0] = graph_.rewrite(node.operands[0], renamed);
    node.axes = std::move(axes);
    return arena.intern(std::move(node));
  }

  /// An outer fold's axis is used in the body: it may not become this fold's own.
  bool captures(const Expression& reduce, AxisId axis) {
    return std::count(reduce.axes.begin(), reduce.axes.end(), axis) == 0 &&
           graph_.uses(reduce.operands[0], axis);
  }

  CanonicalGraph& graph_;
  const dsl::Substitution& replacements_;
  std::set<AxisId> brought_;  // free axes of the values that take the place of axes
  std::unordered_map<ExpressionId, ExpressionId> images_;
};

ExpressionId CanonicalGraph::rewrite(ExpressionId id, const dsl::Substitution& replacements) {
  return Rewriter(*this, replacements)(id);
}

namespace {

using Axes = std::vector<AxisId>;

void unite(Axes& into, const Axes& more) {
  Axes both;
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(both));
  into = std::move(both);
}

}  // namespace

const Axes& CanonicalGraph::free_axes(ExpressionId root) {
  if (const auto known = free_axes_.find(root); known != free_axes_.end()) return known->second;
  dsl::visit_nodes(function_.arena, root, [&](ExpressionId id) {
    if (free_axes_.count(id)) return;
    const Expression& node = function_.arena[id];
    Axes axes;
    if (node.op == Op::axis) axes.push_back(AxisId{node.index});
    for (const ExpressionId operand : node.operands) unite(axes, free_axes_.at(operand));
    if (node.op == Op::reduce) {
      // A bound may use an axis before it in the list, which the fold binds as well: bounds come in, axes go
      // out.
      for (const AxisId axis : node.axes)
        for (const ExpressionId bound : {function_.arena[axis].low, function_.arena[axis].high})
          unite(axes, free_axes_.at(bound));
      Axes own = node.axes, outer;
      std::sort(own.begin(), own.end());
      std::set_difference(axes.begin(), axes.end(), own.begin(), own.end(), std::back_inserter(outer));
      axes = std::move(outer);
    }
    free_axes_[id] = std::move(axes);
  });
  return free_axes_.at(root);
}

bool CanonicalGraph::uses(ExpressionId id, AxisId axis) {
  const Axes& axes = free_axes(id);
  return std::binary_search(axes.begin(), axes.end(), axis);
}

/// Free axes in the order in which a walk from the left meets them.
Axes CanonicalGraph::axes_in_order(ExpressionId root) {
  const Axes free = free_axes(root);
  Axes order;
  dsl::visit_nodes(function_.arena, root, [&](ExpressionId id) {
    const Expression& node = function_.arena[id];
    const AxisId axis{node.op == Op::axis ? node.index : -1};
    if (std::binary_search(free.begin(), free.end(), axis)) order.push_back(axis);
  });
  return order;
}

const CanonicalGraph::Template& CanonicalGraph::template_of(ExpressionId id) {
  if (const auto known = templates_.find(id); known != templates_.end()) return known->second;
  Template result;
  result.axes = axes_in_order(id);
  const bool movable = std::all_of(result.axes.begin(), result.axes.end(), [&](AxisId axis) {
    return free_axes(function_.arena[axis].low).empty() && free_axes(function_.arena[axis].high).empty();
  });
  result.id = id;
  if (movable) {
    const Axes places = free_axes_like(result.axes);
    dsl::Substitution renamed;
    for (std::size_t i = 0; i < places.size(); ++i)
      renamed.axes[result.axes[i]] = function_.arena.axis(places[i]);
    result.id = rewrite(id, renamed);
  }
  return templates_[id] = std::move(result);
}

}  // namespace einkern::codegen
