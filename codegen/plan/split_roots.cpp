#include "codegen/plan/split_roots.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "codegen/plan/axes.h"
#include "codegen/plan/folds.h"
#include "codegen/plan/inline_definitions.h"
#include "codegen/plan/root_shape.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;
using Nodes = std::vector<ExpressionId>;

namespace {

/// What a node needs directly: operands, and bounds of a fold's axes.
Nodes children(const CanonicalGraph& graph, ExpressionId id) {
  const Expression& node = graph[id];
  Nodes result = node.operands;
  if (node.op == Op::reduce)
    for (const AxisId axis : node.axes)
      for (const ExpressionId bound : {graph.function().arena[axis].low, graph.function().arena[axis].high})
        result.push_back(bound);
  return result;
}

/// Nodes of a kernel's value: NVRTC takes 14 s for 5,000 terms, and more than its share beyond.
constexpr std::size_t most_nodes = 2000;

class Splitter {
 public:
  Splitter(CanonicalGraph& graph, bool ordered, const FusionChoice& choice)
      : graph_(graph), ordered_(ordered), choice_(choice) {}

  std::vector<Root> run(std::vector<Root> roots) {
    given_ = roots;
    if (!ordered_)
      for (const Root& root : roots) remember_result(root);
    for (Root& root : roots) {
      settle(std::move(root));
      if (ordered_) stored_.clear();  // what was read may have changed
    }
    return ordered_ ? std::move(done_) : in_dependence_order();
  }

 private:
  /// A value that stands in memory: dimension d of the tensor is axis `places[d]` of the value's template.
  struct Stored {
    TensorId tensor;
    std::vector<std::size_t> places;
  };

  const Expression& node(ExpressionId id) const { return graph_[id]; }
  ExpressionId template_id(ExpressionId id) { return graph_.template_of(id).id; }

  static std::vector<std::size_t> places_of(const Axes& tensor_axes, const Axes& template_axes) {
    std::vector<std::size_t> places;
    for (const AxisId axis : tensor_axes)
      places.push_back(static_cast<std::size_t>(std::find(template_axes.begin(), template_axes.end(), axis) -
                                                template_axes.begin()));
    return places;
  }

  void remember_result(const Root& root) {
    if (root.update || root.recurrent) return;
    dsl::Function& function = graph_.function();
    const ExpressionId value = function.arena.cast(function[root.target].dtype, root.value);
    if (!same_set(graph_.free_axes(value), root.axes)) return;
    const CanonicalGraph::Template place = graph_.template_of(value);
    stored_.try_emplace(place.id, Stored{root.target, places_of(root.axes, place.axes)});
  }

  void settle(Root root) {
    while (const auto cut =
               oversized_cut(root))  // first: what follows takes more than its share of time on large values
      if (!replace(root, *cut)) break;
    while (const auto cut = find_cut(root))
      if (!replace(root, *cut)) break;
    done_.push_back(std::move(root));
  }

  /// A node to be read from memory: with all its instances everywhere in a root or in one fold's body, or it
  /// alone.
  struct Cut {
    ExpressionId node, fold;
    bool alone = false;
  };
  /// False if the root holds no such node.
  bool replace(Root& root, const Cut& cut) {
    const CanonicalGraph::Template place = graph_.template_of(cut.node);
    const auto known = stored_.find(place.id);
    const Stored stored = known != stored_.end() ? known->second : store(root, cut.node, place);
    bool found = false;
    for (ExpressionId* value : values_of(root)) {
      const ExpressionId scope = cut.fold.valid() ? cut.fold : *value;
      const Nodes places = cut.alone ? Nodes{cut.node} : instances(scope, place.id);
      dsl::Substitution replaced = reads_instead(places, stored);
      found = found || !replaced.nodes.empty();
      if (cut.fold.valid()) {
        const ExpressionId fold = graph_.rewrite(cut.fold, replaced);
        replaced.nodes = {{cut.fold, fold}};
      }
      *value = graph_.rewrite(*value, replaced);
    }
    return found;
  }

  /// The reads that take the place of instances of a stored value.
  dsl::Substitution reads_instead(const Nodes& places, const Stored& stored) {
    dsl::Substitution replaced;
    for (const ExpressionId id : places) {
      const Axes axes = graph_.template_of(id).axes;
      Axes at;
      for (const std::size_t i : stored.places) at.push_back(axes[i]);
      replaced.nodes[id] = read_at(graph_, stored.tensor, at);
    }
    return replaced;
  }

  static std::vector<ExpressionId*> values_of(Root& root) {
    std::vector<ExpressionId*> values = {&root.value};
    for (ExpressionId& index : root.indices) values.push_back(&index);
    return values;
  }

  Nodes instances(ExpressionId root, ExpressionId template_of_it) {
    const Expression like = node(template_of_it);
    Nodes order, result;
    dsl::visit_nodes(graph_.function().arena, root, [&](ExpressionId id) {
      if (node(id).op == like.op && node(id).type == like.type) order.push_back(id);
    });
    for (const ExpressionId id : order)
      if (template_id(id) == template_of_it) result.push_back(id);
    return result;
  }

  /// A new temporary, its axes in the root's order with those of folds last, and the root that computes it.
  Stored store(const Root& reader, ExpressionId value, const CanonicalGraph::Template& place) {
    Axes order = place.axes;
    const auto rank = [&](AxisId axis) { return std::find(reader.axes.begin(), reader.axes.end(), axis); };
    std::stable_sort(order.begin(), order.end(), [&](AxisId a, AxisId b) { return rank(a) < rank(b); });
    Root root;
    root.axes = graph_.free_axes_like(order);
    dsl::Substitution renamed;
    for (std::size_t i = 0; i < order.size(); ++i)
      renamed.axes[order[i]] = graph_.function().arena.axis(root.axes[i]);
    root.value = graph_.rewrite(value, renamed);
    const Expression& top = node(value);
    const bool rounds = top.op == Op::cast && core::is_storage(top.target);
    root.target = add_temporary(graph_, rounds ? top.target : top.type, root.axes);
    root.reason = reason_;
    const Stored stored{root.target, places_of(order, place.axes)};
    stored_[place.id] = stored;
    settle(std::move(root));
    return stored;
  }

  // --- choosing what to cut ---

  /// A node of the root's value that must stand in memory before; nothing if the rest fits one kernel.
  std::optional<Cut> find_cut(Root& root) {
    if (folds_of(graph_, root.value).empty()) return std::nullopt;
    if (root.update || root.recurrent) return generic_cut(root);
    if (auto cut = nested_contraction(root)) return cut;
    if (auto contraction = main_contraction(graph_, root)) return cut_beside(root, *contraction);
    for (const ExpressionId fold : top_folds(graph_, root.value))
      if (match_contraction(graph_, fold))
        if (auto cut = widen(root, fold, "a product with fewer axes than its reader")) return cut;
    if (auto shape = choose_rows(graph_, root)) return row_cut(root, *shape);
    return generic_cut(root);
  }

  std::optional<Cut> nested_contraction(Root& root) {
    const Nodes folds = folds_of(graph_, root.value);
    for (const ExpressionId outer : folds) {
      for (const ExpressionId inner : folds_of(graph_, outer)) {
        if (inner == outer || !match_contraction(graph_, inner)) continue;
        if (auto cut = widen(root, inner, "a product that another fold needs")) return cut;
      }
    }
    return std::nullopt;
  }

  /// What a contraction's kernel cannot hold: heavy or folded operands, other folds, a product that other
  /// roots need too.
  std::optional<Cut> cut_beside(Root& root, const Contraction& main) {
    if (auto cut = shared_product(root, main)) return cut;
    const Axes points = joined(root.axes, main.contracted);
    for (const ExpressionId heavy : repeated_heavy_nodes(graph_, node(main.fold).operands[0], points, points))
      if (auto cut = accept(root, heavy, "costly, and a product needs it many times", main.fold)) return cut;
    const Nodes folds = folds_of(graph_, root.value);
    for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold)
      if (*fold != main.fold)
        if (auto cut = widen(root, *fold, "a fold beside a product")) return cut;
    if (!choice_.computed_operands)
      if (auto cut = computed_operand(root, main)) return cut;
    if (!choice_.epilogues && root.value != main.fold)
      return accept(root, main.fold, "this plan stores products as they are");
    return std::nullopt;
  }

  bool is_plain(ExpressionId operand) const {
    while (node(operand).op == Op::cast) operand = node(operand).operands[0];
    return node(operand).op == Op::read;
  }

  /// An operand that is not just read; the fold is first rewritten as the product of its two operands.
  std::optional<Cut> computed_operand(Root& root, const Contraction& main) {
    for (const ExpressionId operand : {main.a, main.b}) {
      if (is_plain(operand)) continue;
      dsl::ExpressionArena& arena = graph_.function().arena;
      Expression fold = node(main.fold);
      fold.operands[0] = arena.apply(Op::multiply, fold.type, {main.a, main.b});
      dsl::Substitution replaced;
      replaced.nodes[main.fold] = arena.intern(std::move(fold));
      root.value = graph_.rewrite(root.value, replaced);
      if (auto cut = accept(root, operand, "this plan stores a product's computed operand")) return cut;
    }
    return std::nullopt;
  }

  /// A product that other given roots hold at other places, unless they read it from this root's tensor, or
  /// store at the same points, where one kernel serves all.
  std::optional<Cut> shared_product(Root& root, const Contraction& main) {
    if (ordered_) return std::nullopt;
    const ExpressionId product = template_id(main.fold);
    const auto own = std::find_if(stored_.begin(), stored_.end(),
                                  [&](const auto& entry) { return entry.second.tensor == root.target; });
    for (const Root& other : given_) {
      if (other.target == root.target || instances(other.value, product).empty()) continue;
      const Nodes top = top_folds(graph_, other.value);
      const bool beside = other.axes == root.axes && instances(other.value, product).size() == 1 &&
                          std::count(top.begin(), top.end(), main.fold) > 0;
      const bool from_here = own != stored_.end() && !reaches(other.value, product, own->first);
      if (!beside && !from_here) return widen(root, main.fold, "a product that several results need");
    }
    return std::nullopt;
  }

  std::optional<Cut> row_cut(Root& root, const RowShape& shape) {
    const Nodes folds = folds_of(graph_, root.value);
    for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold)
      if (!fits_rows(graph_, *fold, shape))
        if (auto cut = widen(root, *fold, "a fold over other rows or columns")) return cut;
    if (auto cut = heavy_cut(root)) return cut;
    // One row would keep one block busy; and some plans finish rows in a kernel of their own.
    const bool split = shape.stores_columns && (shape.rows.empty() || !choice_.row_stores);
    if (split)
      return widen(root, folds.back(),
                   shape.rows.empty() ? "there is one row: all elements wait for it"
                                      : "this plan folds rows before it stores them");
    return std::nullopt;
  }

  std::optional<Cut> heavy_cut(Root& root) {
    for (const ExpressionId fold : folds_of(graph_, root.value)) {
      const Expression folded = node(fold);
      const Axes points = joined(graph_.free_axes(fold), folded.axes);
      for (const ExpressionId heavy : repeated_heavy_nodes(graph_, folded.operands[0], points, folded.axes))
        if (auto cut = accept(root, heavy, "costly, and a fold needs it many times", fold)) return cut;
    }
    return std::nullopt;
  }

  /// In a kernel of serial loops: folds that would run again for the same values, and large folds that rows
  /// can compute.
  std::optional<Cut> generic_cut(Root& root) {
    const Nodes folds = folds_of(graph_, root.value), top = top_folds(graph_, root.value);
    for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold) {
      const Axes free = graph_.free_axes(*fold);
      const auto uses_all = [&](const Axes& axes) {
        return std::all_of(axes.begin(), axes.end(), [&](AxisId axis) { return contains(free, axis); });
      };
      bool repeated = !uses_all(root.axes);
      for (const ExpressionId outer : folds)
        if (outer != *fold && !uses_all(node(outer).axes)) {
          const Nodes inner = folds_of(graph_, outer);
          repeated = repeated || std::count(inner.begin(), inner.end(), *fold) > 0;
        }
      const bool rows =
          std::count(top.begin(), top.end(), *fold) > 0 && !reason_against_columns(graph_, *fold);
      if (repeated || rows)
        if (auto cut = widen(root, *fold, "a fold that serial loops would repeat")) return cut;
    }
    return heavy_cut(root);
  }

  /// A part of about half the limit, where a value is larger than a compiler takes in reasonable time.
  std::optional<Cut> oversized_cut(const Root& root) {
    Nodes order;
    std::unordered_map<ExpressionId, std::size_t> size;  // of the tree below, shared nodes counted again
    dsl::visit_nodes(graph_.function().arena, root.value, [&](ExpressionId id) {
      std::size_t total = 1;
      for (const ExpressionId operand : node(id).operands)
        total = std::min(total + size.at(operand), 2 * most_nodes);
      size[id] = total;
      order.push_back(id);
    });
    if (order.size() <= most_nodes) return std::nullopt;
    std::stable_sort(order.begin(), order.end(),
                     [&](ExpressionId a, ExpressionId b) { return size[a] > size[b]; });
    for (const ExpressionId id : order)
      if (size[id] <= most_nodes / 2 && size[id] > 16)
        if (auto cut = accept(root, id, "a part of a large expression")) return Cut{cut->node, {}, true};
    return std::nullopt;
  }

  /// The node itself if it may stand in memory: not the whole value, over whole dimensions, free of the
  /// root's own state.
  std::optional<Cut> accept(const Root& root, ExpressionId id, const char* reason, ExpressionId fold = {}) {
    if (id == root.value || node(id).operands.empty()) return std::nullopt;
    const Axes axes = graph_.free_axes(id);
    const bool rectangular =
        std::all_of(axes.begin(), axes.end(), [&](AxisId a) { return graph_.is_rectangular(a); });
    if (!rectangular || axes.size() > 16) return std::nullopt;
    if (node(id).op == Op::read && is_at_bare_axes(id)) return std::nullopt;
    bool own_state = false;
    if (root.recurrent || root.update)
      dsl::visit_nodes(graph_.function().arena, id, [&](ExpressionId below) {
        own_state = own_state || (node(below).op == Op::read && TensorId{node(below).index} == root.target);
      });
    if (own_state) return std::nullopt;
    reason_ = reason;
    return Cut{id, fold, false};
  }

  bool is_at_bare_axes(ExpressionId read) const {
    const Nodes& indices = node(read).operands;
    return std::all_of(indices.begin(), indices.end(),
                       [&](ExpressionId i) { return node(i).op == Op::axis; });
  }

  /// Whether a node of template `target` is reached from `root` without passing one of template `barrier`.
  bool reaches(ExpressionId root, ExpressionId target, ExpressionId barrier) {
    std::set<ExpressionId> seen;
    Nodes pending = {root};
    while (!pending.empty()) {
      const ExpressionId id = pending.back();
      pending.pop_back();
      if (!seen.insert(id).second) continue;
      const Expression& at = node(id);
      const bool may_be_barrier = at.op == node(barrier).op, may_be_target = at.op == node(target).op;
      if (may_be_barrier && template_id(id) == barrier) continue;
      if (may_be_target && template_id(id) == target) return true;
      const Nodes below = children(graph_, id);
      pending.insert(pending.end(), below.begin(), below.end());
    }
    return false;
  }

  /// The largest node around a fold that has the fold's axes and that every use of the fold passes; where
  /// some result holds such a value already, that one. A product is never put inside another fold.
  std::optional<Cut> widen(const Root& root, ExpressionId fold, const char* reason) {
    Nodes order;
    std::set<ExpressionId> above = {fold};
    dsl::visit_nodes(graph_.function().arena, root.value, [&](ExpressionId id) {
      const Nodes below = children(graph_, id);
      if (std::any_of(below.begin(), below.end(), [&](ExpressionId child) { return above.count(child) > 0; }))
        above.insert(id);
      if (above.count(id)) order.push_back(id);
    });
    const ExpressionId target = template_id(fold);
    const bool product = match_contraction(graph_, fold).has_value();
    const Axes axes = graph_.free_axes(fold);
    std::optional<Cut> widest;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const auto cut = graph_.free_axes(*id) == axes ? accept(root, *id, reason) : std::nullopt;
      if (!cut) continue;
      const auto known = stored_.find(template_id(*id));
      if (known != stored_.end() && known->second.tensor != root.target) return cut;
      if (widest || (product && is_folded_within(*id, target))) continue;
      if (!reaches_around(root, target, template_id(*id))) widest = cut;
    }
    return widest;
  }

  bool is_folded_within(ExpressionId id, ExpressionId product) {
    for (const ExpressionId fold : folds_of(graph_, id)) {
      const Expression folded = node(fold);
      for (const ExpressionId operand : folded.operands)
        if (template_id(fold) != product && !instances(operand, product).empty()) return true;
    }
    return false;
  }

  /// Some use of `target`, in this root or in another given one that holds `barrier` too, goes around
  /// `barrier`.
  bool reaches_around(const Root& root, ExpressionId target, ExpressionId barrier) {
    if (target == barrier) return false;
    if (reaches(root.value, target, barrier)) return true;
    return std::any_of(given_.begin(), given_.end(), [&](const Root& other) {
      return other.target != root.target && !ordered_ && reaches(other.value, target, barrier);
    });
  }

  /// Results that read other results may stand before them: sorts by what is read, otherwise stably.
  std::vector<Root> in_dependence_order() {
    std::map<TensorId, std::size_t> writer;
    for (std::size_t i = 0; i < done_.size(); ++i) writer[done_[i].target] = i;
    std::vector<int> state(done_.size(), 0);
    std::vector<Root> result;
    for (std::size_t i = 0; i < done_.size(); ++i) append_after_reads(i, writer, state, result);
    return result;
  }

  void append_after_reads(std::size_t i, const std::map<TensorId, std::size_t>& writer,
                          std::vector<int>& state, std::vector<Root>& result) {
    if (state[i]) return;
    state[i] = 1;
    std::set<std::size_t> before;
    dsl::visit_nodes(graph_.function().arena, done_[i].value, [&](ExpressionId id) {
      if (node(id).op != Op::read) return;
      const auto entry = writer.find(TensorId{node(id).index});
      if (entry != writer.end() && entry->second != i) before.insert(entry->second);
    });
    for (const std::size_t earlier : before) append_after_reads(earlier, writer, state, result);
    result.push_back(done_[i]);
  }

  CanonicalGraph& graph_;
  const bool ordered_;
  const FusionChoice choice_;
  const char* reason_ = "";
  std::vector<Root> given_, done_;
  std::map<ExpressionId, Stored> stored_;  // by template
};

}  // namespace

std::vector<Root> split_roots(CanonicalGraph& graph, std::vector<Root> roots, bool ordered,
                              const FusionChoice& choice) {
  return Splitter(graph, ordered, choice).run(std::move(roots));
}

}  // namespace einkern::codegen
