#include "codegen/plan/inline_definitions.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace einkern::codegen {

using dsl::AxisId;
using dsl::Definition;
using dsl::Expression;
using dsl::ExpressionId;
using dsl::Guard;
using dsl::Op;
using dsl::TensorId;
using dsl::TensorRole;

dsl::TensorId add_temporary(CanonicalGraph& graph, DType dtype, const std::vector<AxisId>& axes) {
  dsl::Function& function = graph.function();
  dsl::Tensor tensor;
  const auto taken = [&](const std::string& name) {
    const auto same = [&](const auto& item) { return item.name == name; };
    return std::any_of(function.tensors.begin(), function.tensors.end(), same) ||
           std::any_of(function.scalars.begin(), function.scalars.end(), same) ||
           std::any_of(function.dims.begin(), function.dims.end(), same);
  };
  for (int number = 0; tensor.name.empty() || taken(tensor.name); ++number)
    tensor.name = fmt::format("t{}", number);
  tensor.dtype = dtype;
  tensor.role = TensorRole::temporary;
  for (const AxisId axis : axes) tensor.shape.push_back(function.arena[axis].high);
  function.tensors.push_back(std::move(tensor));
  return TensorId{static_cast<std::int32_t>(function.tensors.size()) - 1};
}

ExpressionId read_at(CanonicalGraph& graph, TensorId tensor, const std::vector<AxisId>& axes) {
  dsl::Function& function = graph.function();
  std::vector<ExpressionId> indices;
  for (const AxisId axis : axes) indices.push_back(function.arena.axis(axis));
  return function.arena.read(tensor, function[tensor].dtype, std::move(indices));
}

namespace {

/// Nodes that an inlined value may have before its tensor is kept in memory instead: NVRTC's time grows
/// faster than the size of an expression, and a chain of 10,000 definitions must not become one kernel.
constexpr std::size_t most_inlined_nodes = 300;

class Inliner {
 public:
  explicit Inliner(CanonicalGraph& graph) : graph_(graph), function_(graph.function()) {}

  InlinedFunction run() {
    survey();
    const std::size_t count = function_.definitions.size();
    roots_.resize(count);
    // The results' axes come first and give their names, so that the names of locals' axes change no plan.
    for (const Definition& of : function_.definitions)
      if (function_[of.target].role != TensorRole::local) graph_.free_axes_like(of.axes);
    for (std::size_t d = 0; d < count; ++d)
      if (live_[d]) define(d);
    InlinedFunction result;
    result.ordered = !changing_.empty();
    for (auto& at : roots_)
      for (Root& root : at) result.roots.push_back(std::move(root));
    return result;
  }

 private:
  /// What is known of a tensor's definition once its value is inlined.
  struct Inlined {
    std::size_t definition = 0;
    std::vector<AxisId> axes;  // canonical, so that a read at bare axes is the value as it stands
    ExpressionId value;        // over these
    bool in_memory = false;
  };

  const Definition& definition(std::size_t d) const { return function_.definitions[d]; }

  std::vector<ExpressionId> raw_roots(const Definition& of) const {
    std::vector<ExpressionId> roots = of.indices;
    roots.push_back(of.value);
    return roots;
  }

  template <typename Visit>
  void visit_reads(ExpressionId id, const Visit& visit) const {
    dsl::visit_nodes(function_.arena, id, [&](ExpressionId node) {
      if (function_.arena[node].op == Op::read) visit(function_.arena[node]);
    });
  }

  /// Which definitions matter, which tensors change in place, who is read last and how.
  void survey() {
    const std::size_t count = function_.definitions.size();
    live_.assign(count, false);
    std::set<TensorId> needed;
    for (std::size_t d = count; d-- > 0;) {
      const Definition& of = definition(d);
      const TensorRole role = function_[of.target].role;
      live_[d] = role != TensorRole::local || needed.count(of.target) > 0;
      if (!live_[d]) continue;
      if (of.update || role == TensorRole::inout) changing_.insert(of.target);
      for (const ExpressionId root : raw_roots(of))
        visit_reads(root, [&](const Expression& read) {
          const TensorId tensor{read.index};
          needed.insert(tensor);
          last_reader_[tensor] = std::max(last_reader_[tensor], d);
          if (!is_bare(read)) read_elsewhere_.insert(tensor);
        });
    }
  }

  std::size_t rank(const Expression& read) const { return function_[TensorId{read.index}].shape.size(); }

  bool covers(const Expression& read, std::size_t dimension) const {
    const Expression& index = function_.arena[read.operands[dimension]];
    if (index.op != Op::axis) return false;
    const dsl::Axis& axis = function_.arena[AxisId{index.index}];
    return dsl::constant_value(function_.arena, axis.low) == std::optional<std::int64_t>(0) &&
           axis.high == function_[TensorId{read.index}].shape[dimension];
  }

  /// Each index an axis of its own over the whole dimension.
  bool is_bare(const Expression& read) const {
    std::set<ExpressionId> distinct;
    for (std::size_t d = 0; d < rank(read); ++d)
      if (!covers(read, d) || !distinct.insert(read.operands[d]).second) return false;
    return true;
  }

  bool holds(ExpressionId id, Op op) const {
    bool found = false;
    dsl::visit_nodes(function_.arena, id,
                     [&](ExpressionId node) { found = found || function_.arena[node].op == op; });
    return found;
  }

  std::size_t nodes(ExpressionId id) const {
    std::size_t count = 0;
    dsl::visit_nodes(function_.arena, id, [&](ExpressionId) { ++count; });
    return count;
  }

  /// A tensor that the value reads changes between definition `d` and the last reader of its target.
  bool outdated_before_read(std::size_t d, ExpressionId value) const {
    bool outdated = false;
    const auto reader = last_reader_.find(definition(d).target);
    if (reader == last_reader_.end()) return false;
    visit_reads(value, [&](const Expression& read) {
      for (std::size_t w = d + 1; w < reader->second; ++w)
        outdated = outdated || (definition(w).target == TensorId{read.index} &&
                                changing_.count(TensorId{read.index}) > 0);
    });
    return outdated;
  }

  void define(std::size_t d) {
    const Definition of = definition(d);
    const std::vector<AxisId> axes = graph_.free_axes_like(of.axes);
    dsl::Substitution canonical;
    for (std::size_t i = 0; i < axes.size(); ++i) canonical.axes[of.axes[i]] = function_.arena.axis(axes[i]);
    const ExpressionId value = inlined(graph_.rewrite(of.value, canonical));
    std::vector<ExpressionId> indices;
    for (const ExpressionId index : of.indices) indices.push_back(inlined(graph_.rewrite(index, canonical)));
    Inlined& known = known_[of.target];
    known = {d, axes, value};
    known.in_memory = changing_.count(of.target) > 0 || of.recurrent ||
                      (read_elsewhere_.count(of.target) > 0 && holds(known.value, Op::reduce)) ||
                      nodes(known.value) > most_inlined_nodes || outdated_before_read(d, known.value);
    const bool wanted = function_[of.target].role != TensorRole::local || of.update;
    if (!wanted && !known.in_memory) return;
    if (!wanted && last_reader_.count(of.target) == 0) return;
    if (function_[of.target].role == TensorRole::local)
      function_.tensors[at(of.target)].role = TensorRole::temporary;
    add_root(known, indices);
  }

  static std::size_t at(TensorId tensor) { return static_cast<std::size_t>(tensor.value); }

  /// The definition's own root; where it reads what it changes at other places, the value goes through memory
  /// first.
  void add_root(const Inlined& known, const std::vector<ExpressionId>& indices) {
    const std::size_t d = known.definition;
    const Definition& of = definition(d);
    Root root;
    root.target = of.target;
    root.axes = known.axes;
    root.value = known.value;
    if (!assigns_whole(of)) {
      root.update = of.update;
      root.indices = indices;
    }
    if (of.recurrent) {
      root.recurrent = root.axes[static_cast<std::size_t>(*of.recurrent)];
    } else if (changing_.count(of.target) > 0) {
      detach(d, root, root.value);
      for (ExpressionId& index : root.indices) detach(d, root, index);
    }
    if (function_[of.target].role == TensorRole::temporary) root.reason = memory_reason(d);
    roots_[d].push_back(std::move(root));
  }

  /// An assignment of every element at its own axes, in order: `m[i] = …` of an inout tensor.
  bool assigns_whole(const Definition& of) const {
    if (of.update != dsl::UpdateOperator::assign || of.indices.size() != of.axes.size()) return false;
    const std::vector<ExpressionId>& shape = function_[of.target].shape;
    for (std::size_t d = 0; d < of.axes.size(); ++d) {
      const Expression& index = function_.arena[of.indices[d]];
      const dsl::Axis& axis = function_.arena[of.axes[d]];
      if (index.op != Op::axis || AxisId{index.index} != of.axes[d] || axis.high != shape[d]) return false;
    }
    return true;
  }

  std::string memory_reason(std::size_t d) const {
    const Definition& of = definition(d);
    if (of.recurrent) return "a recurrence is kept whole";
    if (changing_.count(of.target) > 0 || !read_elsewhere_.count(of.target))
      return "kept for its later readers";
    return "a fold that is read at other places than its own axes";
  }

  /// Computes `value` into a temporary before the root runs, if it reads the target elsewhere than at the
  /// stored element.
  void detach(std::size_t d, Root& root, ExpressionId& value) {
    const ExpressionId own = root.update ? ExpressionId{} : read_at(graph_, root.target, root.axes);
    bool clash = false;
    dsl::visit_nodes(function_.arena, value, [&](ExpressionId id) {
      const Expression& node = function_.arena[id];
      clash = clash || (node.op == Op::read && TensorId{node.index} == root.target && id != own);
    });
    if (!clash) return;
    Root before;
    before.axes = root.axes;
    before.value = value;
    before.target = add_temporary(graph_, function_.arena[value].type, before.axes);
    before.reason = "the target changes while it is read";
    value = read_at(graph_, before.target, before.axes);
    roots_[d].push_back(std::move(before));
  }

  /// The expression with reads of inlined tensors replaced by their values.
  ExpressionId inlined(ExpressionId root) {
    std::vector<ExpressionId> order;
    dsl::visit_nodes(function_.arena, root, [&](ExpressionId id) { order.push_back(id); });
    dsl::Substitution replaced;
    std::size_t budget = 8 * most_inlined_nodes;
    for (const ExpressionId id : order) {
      const Expression node = function_.arena[id];
      if (node.op != Op::read) continue;
      const auto entry = known_.find(TensorId{node.index});
      if (entry == known_.end() || entry->second.in_memory) continue;
      const std::size_t size = nodes(entry->second.value);
      if (size > budget && size > 8) {
        keep(entry->second);
        continue;
      }
      budget -= std::min(budget, size);
      replaced.nodes[id] = value_at(node, entry->second, replaced);
    }
    return graph_.rewrite(root, replaced);
  }

  /// From now on the tensor is read from memory.
  void keep(Inlined& inlined) {
    inlined.in_memory = true;
    if (!roots_[inlined.definition].empty()) return;
    function_.tensors[at(definition(inlined.definition).target)].role = TensorRole::temporary;
    add_root(inlined, {});
  }

  /// The value of a read of an inlined tensor: the definition's, at the read's indices, rounded as its type
  /// says.
  ExpressionId value_at(const Expression& read, const Inlined& inlined, const dsl::Substitution& replaced) {
    dsl::ExpressionArena& arena = function_.arena;
    const Definition& of = definition(inlined.definition);
    const bool guarded = read.guard != Guard::proven;
    dsl::Substitution places;
    ExpressionId inside = arena.constant_integer(DType::boolean, 1);
    bool always = true;
    for (std::size_t d = 0; d < inlined.axes.size(); ++d) {
      const ExpressionId index = arena.cast(DType::i64, graph_.rewrite(read.operands[d], replaced));
      places.axes[inlined.axes[d]] = index;
      if (!guarded || covers(read, d)) continue;
      const ExpressionId low =
          arena.apply(Op::less_equal, DType::boolean, {arena.constant_integer(DType::i64, 0), index});
      const ExpressionId high = arena.apply(Op::less, DType::boolean, {index, function_[of.target].shape[d]});
      const ExpressionId both = arena.apply(Op::logical_and, DType::boolean, {low, high});
      inside = always ? both : arena.apply(Op::logical_and, DType::boolean, {inside, both});
      always = false;
    }
    // Under a guard the value is asked for at places outside its tensor, where its own reads were never
    // proven.
    const ExpressionId placed =
        graph_.rewrite(guarded && !always ? guard_reads(inlined.value) : inlined.value, places);
    const ExpressionId value = arena.cast(function_[of.target].dtype, placed);
    if (always) return value;
    const ExpressionId otherwise =
        read.guard == Guard::alternative ? graph_.rewrite(read.operands.back(), replaced) : zero(read.type);
    return arena.apply(Op::where, read.type, {inside, value, otherwise});
  }

  ExpressionId zero(DType type) {
    return core::is_float(type) ? function_.arena.constant_float(type, 0)
                                : function_.arena.constant_integer(type, 0);
  }

  /// Every proven read becomes a gather, so that nothing outside is accessed even where both sides of a
  /// `where` are computed.
  ExpressionId guard_reads(ExpressionId root) {
    std::vector<ExpressionId> order;
    dsl::visit_nodes(function_.arena, root, [&](ExpressionId id) { order.push_back(id); });
    dsl::Substitution guarded;
    for (const ExpressionId id : order) {
      Expression node = function_.arena[id];
      if (node.op != Op::read || node.guard != Guard::proven || node.operands.empty()) continue;
      node.guard = Guard::gather;
      for (ExpressionId& operand : node.operands) operand = graph_.rewrite(operand, guarded);
      guarded.nodes[id] = function_.arena.intern(std::move(node));
    }
    return graph_.rewrite(root, guarded);
  }

  CanonicalGraph& graph_;
  dsl::Function& function_;
  std::vector<bool> live_;
  std::set<TensorId> changing_;        // inout, or updated
  std::set<TensorId> read_elsewhere_;  // read at other places than bare axes
  std::map<TensorId, std::size_t> last_reader_;
  std::map<TensorId, Inlined> known_;
  std::vector<std::vector<Root>> roots_;  // by definition
};

}  // namespace

InlinedFunction inline_definitions(CanonicalGraph& graph) { return Inliner(graph).run(); }

}  // namespace einkern::codegen
