#include "dsl/expression.h"

#include <algorithm>
#include <bit>
#include <set>

#include "dsl/scalar_operations.h"

namespace einkern::dsl {
namespace {

void combine(std::size_t& hash, std::uint64_t value) {
  hash ^= static_cast<std::size_t>(value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2));
}

std::size_t hash_of(const Expression& e) {
  std::size_t hash = static_cast<std::size_t>(e.op);
  for (std::uint64_t part : {static_cast<std::uint64_t>(e.type), static_cast<std::uint64_t>(e.target),
                             static_cast<std::uint64_t>(e.reduction), static_cast<std::uint64_t>(e.guard),
                             static_cast<std::uint64_t>(static_cast<std::uint32_t>(e.index)), e.bits})
    combine(hash, part);
  for (AxisId axis : e.axes) combine(hash, static_cast<std::uint64_t>(axis.value));
  for (ExpressionId operand : e.operands) combine(hash, static_cast<std::uint64_t>(operand.value));
  return hash;
}

/// i64 arithmetic on constants; nothing for operations that do not fold.
std::optional<std::int64_t> fold_integers(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::modulo:
    case Op::maximum:
    case Op::minimum:
      return apply_integer(op, DType::i64, a, b);
    default:
      return std::nullopt;
  }
}

/// Which operand an i64 operation leaves as it is (x + 0, x * 1, …); -1 if none.
int unchanged_operand(Op op, std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (b == 0 && (op == Op::add || op == Op::subtract)) return 0;
  if (b == 1 && (op == Op::multiply || op == Op::divide)) return 0;
  if (a == 0 && op == Op::add) return 1;
  if (a == 1 && op == Op::multiply) return 1;
  return -1;
}

}  // namespace

double Expression::float_value() const { return std::bit_cast<double>(bits); }

ExpressionId ExpressionArena::intern(Expression expression) {
  const std::size_t hash = hash_of(expression);
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if ((*this)[it->second] == expression) return it->second;
  const ExpressionId id{static_cast<std::int32_t>(nodes_.size())};
  nodes_.push_back(std::move(expression));
  index_.emplace(hash, id);
  return id;
}

ExpressionId ExpressionArena::constant_integer(DType type, std::int64_t value) {
  return intern({.op = Op::constant,
                 .type = type,
                 .bits = static_cast<std::uint64_t>(core::wrap_integer(type, value))});
}

ExpressionId ExpressionArena::constant_float(DType type, double value) {
  return intern(
      {.op = Op::constant, .type = type, .bits = std::bit_cast<std::uint64_t>(core::round_to(type, value))});
}

ExpressionId ExpressionArena::dim(DimId id) {
  return intern({.op = Op::dim, .type = DType::i64, .index = id.value});
}

ExpressionId ExpressionArena::scalar(ScalarId id, DType type) {
  return intern({.op = Op::scalar, .type = type, .index = id.value});
}

ExpressionId ExpressionArena::axis(AxisId id) {
  return intern({.op = Op::axis, .type = DType::i64, .index = id.value});
}

ExpressionId ExpressionArena::read(TensorId tensor, DType storage, std::vector<ExpressionId> indices,
                                   Guard guard, std::optional<ExpressionId> alternative) {
  if (alternative) indices.push_back(*alternative);
  return intern({.op = Op::read,
                 .type = core::compute_type(storage),
                 .guard = guard,
                 .index = tensor.value,
                 .operands = std::move(indices)});
}

ExpressionId ExpressionArena::reduce(Reduction reduction, DType type, std::vector<AxisId> axes,
                                     ExpressionId body, std::optional<ExpressionId> nth) {
  std::vector<ExpressionId> operands = {body};
  if (nth) operands.push_back(*nth);
  return intern({.op = Op::reduce,
                 .type = type,
                 .reduction = reduction,
                 .axes = std::move(axes),
                 .operands = std::move(operands)});
}

ExpressionId ExpressionArena::cast(DType target, ExpressionId operand) {
  const Expression& from = (*this)[operand];
  if (from.type == target) return operand;
  if (from.op == Op::constant && core::is_integer(target) && !core::is_storage(target) &&
      core::is_integer(from.type))
    return constant_integer(target, from.integer_value());
  return intern(
      {.op = Op::cast, .type = core::compute_type(target), .target = target, .operands = {operand}});
}

ExpressionId ExpressionArena::bitcast(DType target, ExpressionId operand) {
  return intern(
      {.op = Op::bitcast, .type = core::compute_type(target), .target = target, .operands = {operand}});
}

ExpressionId ExpressionArena::apply(Op op, DType type, std::vector<ExpressionId> operands) {
  if (type == DType::i64 && operands.size() == 2) {
    const auto a = constant_value(*this, operands[0]), b = constant_value(*this, operands[1]);
    if (a && b)
      if (const auto folded = fold_integers(op, *a, *b)) return constant_integer(type, *folded);
    if (const int kept = unchanged_operand(op, a, b); kept >= 0)
      return operands[static_cast<std::size_t>(kept)];
  }
  return intern({.op = op, .type = type, .operands = std::move(operands)});
}

AxisId ExpressionArena::add_axis(std::string name, ExpressionId low, ExpressionId high) {
  axes_.push_back({std::move(name), low, high});
  return {static_cast<std::int32_t>(axes_.size()) - 1};
}

std::optional<std::int64_t> constant_value(const ExpressionArena& arena, ExpressionId id) {
  const Expression& e = arena[id];
  if (e.op != Op::constant || core::is_float(e.type)) return std::nullopt;
  return e.integer_value();
}

void visit_nodes(const ExpressionArena& arena, ExpressionId id,
                 const std::function<void(ExpressionId)>& visit) {
  std::vector<bool> entered(arena.size()), done(arena.size());
  std::vector<ExpressionId> stack = {id};
  while (!stack.empty()) {
    const ExpressionId node = stack.back();
    const auto at = static_cast<std::size_t>(node.value);
    if (entered[at]) {
      stack.pop_back();
      if (!done[at]) {
        done[at] = true;
        visit(node);
      }
      continue;
    }
    entered[at] = true;
    const auto push = [&](ExpressionId operand) {
      if (!entered[static_cast<std::size_t>(operand.value)]) stack.push_back(operand);
    };
    const Expression& e = arena[node];
    for (auto it = e.operands.rbegin(); it != e.operands.rend(); ++it) push(*it);
    for (AxisId axis : e.axes) {
      push(arena[axis].high);
      push(arena[axis].low);
    }
  }
}

std::vector<AxisId> free_axes(const ExpressionArena& arena, ExpressionId id) {
  // Bottom up: what a node uses is the union of what its parts use, less what it binds.
  std::unordered_map<ExpressionId, std::set<AxisId>> used;
  visit_nodes(arena, id, [&](ExpressionId node) {
    const Expression& e = arena[node];
    std::set<AxisId>& mine = used[node];
    if (e.op == Op::axis) mine.insert({e.index});
    for (ExpressionId operand : e.operands) mine.insert(used[operand].begin(), used[operand].end());
    for (AxisId axis : e.axes)
      for (ExpressionId bound : {arena[axis].low, arena[axis].high})
        mine.insert(used[bound].begin(), used[bound].end());
    for (AxisId axis : e.axes) mine.erase(axis);
  });
  const std::set<AxisId>& result = used[id];
  return {result.begin(), result.end()};
}

namespace {

/// One pass of substitute(): rewritten nodes by old id; bound axes get replaced as their reduction is
/// reached.
class Substituter {
 public:
  Substituter(ExpressionArena& arena, const Substitution& replacements)
      : arena_(arena), axes_(replacements.axes), nodes_(replacements.nodes) {}

  ExpressionId rewrite(ExpressionId id) {
    if (const auto it = nodes_.find(id); it != nodes_.end()) return it->second;
    const Expression e = arena_[id];  // a copy: the arena grows below
    ExpressionId result = id;
    if (e.op == Op::axis) {
      const auto it = axes_.find({e.index});
      if (it != axes_.end()) result = it->second;
    } else if (e.op == Op::reduce) {
      result = rewrite_reduction(id, e);
    } else if (!e.operands.empty()) {
      result = rewrite_operands(e);
    }
    nodes_.emplace(id, result);
    return result;
  }

 private:
  ExpressionId rewrite_operands(Expression e) {
    for (ExpressionId& operand : e.operands) operand = rewrite(operand);
    if (e.op >= first_scalar_op && e.guard == Guard::proven)
      return arena_.apply(e.op, e.type, std::move(e.operands));
    return arena_.intern(std::move(e));
  }

  ExpressionId rewrite_reduction(ExpressionId id, const Expression& e) {
    Expression copy = e;
    bool changed = false;
    for (AxisId axis : e.axes) {
      const Axis old = arena_[axis];
      changed |= rewrite(old.low) != old.low || rewrite(old.high) != old.high;
    }
    for (ExpressionId& operand : copy.operands) {
      const ExpressionId rewritten = rewrite(operand);
      changed |= rewritten != operand;
      operand = rewritten;
    }
    if (!changed) return id;
    // A changed body needs axes of its own: the old ones stay bound in the original.
    Substitution fresh;
    for (AxisId& axis : copy.axes) {
      const Axis old = arena_[axis];
      const ExpressionId low = substitute(arena_, rewrite(old.low), fresh);
      const ExpressionId high = substitute(arena_, rewrite(old.high), fresh);
      const AxisId renamed = arena_.add_axis(old.name, low, high);
      fresh.axes[axis] = arena_.axis(renamed);
      axis = renamed;
    }
    for (ExpressionId& operand : copy.operands) operand = substitute(arena_, operand, fresh);
    return arena_.intern(std::move(copy));
  }

  ExpressionArena& arena_;
  std::map<AxisId, ExpressionId> axes_;
  std::map<ExpressionId, ExpressionId> nodes_;
};

}  // namespace

ExpressionId substitute(ExpressionArena& arena, ExpressionId id, const Substitution& replacements) {
  if (replacements.axes.empty() && replacements.nodes.empty()) return id;
  return Substituter(arena, replacements).rewrite(id);
}

}  // namespace einkern::dsl
