#include "codegen/plan/verify.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/plan/axes.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;
using dsl::TensorRole;
using Violation = std::optional<std::string>;

namespace {

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan), graph_(*plan.graph), arena_(graph_.arena) {}

  Violation run() {
    if (plan_.kernels.empty()) return "the plan has no kernel";
    for (const Kernel& kernel : plan_.kernels) {
      if (auto violation = check_tensors(kernel)) return in(kernel, *violation);
      if (auto violation = check_stores(kernel)) return in(kernel, *violation);
      auto violation = std::visit([&](const auto& form) { return check_form(kernel, form); }, kernel.form);
      if (violation) return in(kernel, *violation);
    }
    for (const TensorId result : graph_.results)
      if (!written_.count(result)) return fmt::format("result {} is never written", graph_[result].name);
    return std::nullopt;
  }

 private:
  static Violation in(const Kernel& kernel, const std::string& what) {
    return fmt::format("kernel {}: {}", kernel.name, what);
  }
  const std::string& name(TensorId tensor) const { return graph_[tensor].name; }

  Violation check_tensors(const Kernel& kernel) {
    for (const TensorId tensor : kernel.reads) {
      const TensorRole role = graph_[tensor].role;
      const bool given = role == TensorRole::input || role == TensorRole::inout;
      const bool own = std::count(kernel.writes.begin(), kernel.writes.end(), tensor) > 0;
      if (!given && !own && !written_.count(tensor))
        return fmt::format("{} is read before it is written", name(tensor));
      if (role == TensorRole::local) return fmt::format("local {} is read from memory", name(tensor));
    }
    if (kernel.writes.size() != kernel.stores.size()) return "writes and stores differ in number";
    for (std::size_t i = 0; i < kernel.stores.size(); ++i) {
      const Store& store = kernel.stores[i];
      if (kernel.writes[i] != store.target)
        return fmt::format("store of {} is not among the writes", name(store.target));
      const TensorRole role = graph_[store.target].role;
      if (role == TensorRole::input || role == TensorRole::local)
        return fmt::format("{} is not to be written", name(store.target));
      const bool again = !written_.insert(store.target).second;
      if (again && !store.update && role != TensorRole::inout)
        return fmt::format("{} is written twice", name(store.target));
    }
    return std::nullopt;
  }

  Violation check_stores(const Kernel& kernel) {
    if (kernel.stores.empty()) return "nothing is stored";
    const std::set<TensorId> reads(kernel.reads.begin(), kernel.reads.end());
    for (const Store& store : kernel.stores) {
      const std::size_t places = store.update ? store.indices.size() : store.axes.size();
      if (places != graph_[store.target].shape.size())
        return fmt::format("store of {} has the wrong rank", name(store.target));
      if (!is_subset(store.axes, kernel.axes))
        return fmt::format("store of {} uses an axis of no kernel", name(store.target));
      for (std::size_t d = 0; d < store.axes.size() && !store.update; ++d) {
        const dsl::Axis& axis = arena_[store.axes[d]];
        if (dsl::constant_value(arena_, axis.low) != std::optional<std::int64_t>(0) ||
            axis.high != graph_[store.target].shape[d])
          return fmt::format("axis {} does not cover its dimension of {}", axis.name, name(store.target));
      }
      std::vector<ExpressionId> roots = store.indices;
      roots.push_back(store.value);
      for (const ExpressionId root : roots)
        if (auto violation = check_value(root, store.axes, reads)) return violation;
    }
    return std::nullopt;
  }

  Violation check_value(ExpressionId value, const Axes& bound, const std::set<TensorId>& reads) {
    if (!is_subset(dsl::free_axes(arena_, value), bound))
      return std::string("a value uses an axis that nothing binds");
    Violation violation;
    dsl::visit_nodes(arena_, value, [&](ExpressionId id) {
      const Expression& node = arena_[id];
      if (node.op == Op::read && !reads.count(TensorId{node.index}))
        violation = fmt::format("{} is not among the reads", name(TensorId{node.index}));
    });
    return violation;
  }

  std::vector<ExpressionId> folds(ExpressionId id) const {
    std::vector<ExpressionId> result;
    dsl::visit_nodes(arena_, id, [&](ExpressionId node) {
      if (arena_[node].op == Op::reduce) result.push_back(node);
    });
    return result;
  }

  Violation check_form(const Kernel& kernel, const Pointwise&) {
    for (const Store& store : kernel.stores) {
      if (!folds(store.value).empty()) return "a pointwise value holds a fold";
      if (store.axes != kernel.axes || store.update)
        return "a pointwise store has other axes than its kernel";
    }
    return std::nullopt;
  }

  Violation check_form(const Kernel& kernel, const Generic& form) {
    if (!is_subset(form.sequential, kernel.axes))
      return "an axis that runs in order is not among the kernel's";
    return std::nullopt;
  }

  Violation check_form(const Kernel& kernel, const RowReduction& form) {
    const Axes all = joined(form.rows, form.columns);
    std::set<ExpressionId> known;
    for (const Fold& fold : form.folds) {
      if (!is_subset(dsl::free_axes(arena_, fold.body), all))
        return "a fold's body uses an axis beyond rows and columns";
      for (const ExpressionId inner : folds(fold.body))
        if (!known.count(inner)) return "a fold needs one that stands after it, or none of the kernel's";
      known.insert(fold.node);
    }
    for (const Store& store : kernel.stores) {
      if (store.update) return "a row reduction updates";
      if (!same_set(store.axes, form.rows) && !same_set(store.axes, all))
        return "a store names some columns, or not all rows";
      for (const ExpressionId fold : folds(store.value))
        if (!known.count(fold)) return "a store needs a fold that the kernel does not compute";
    }
    return std::nullopt;
  }

  Violation check_form(const Kernel& kernel, const Contraction& form) {
    const Axes outer = joined(joined(form.batch, form.m), form.n);
    if (!same_set(outer, kernel.axes)) return "batch, m and n are not the kernel's axes";
    if (form.m.empty() || form.n.empty() || form.contracted.empty())
      return "m, n or the contracted axes are missing";
    const Axes in_a = joined(joined(form.batch, form.m), form.contracted),
               in_b = joined(joined(form.batch, form.n), form.contracted);
    if (!is_subset(dsl::free_axes(arena_, form.a), in_a))
      return "operand a uses other axes than batch, m and contracted";
    if (!is_subset(dsl::free_axes(arena_, form.b), in_b))
      return "operand b uses other axes than batch, n and contracted";
    if (!folds(form.a).empty() || !folds(form.b).empty()) return "an operand holds a fold";
    for (const Store& store : kernel.stores) {
      if (store.update || !same_set(store.axes, kernel.axes))
        return "a store has other axes than the product";
      for (const ExpressionId fold : folds(store.value))
        if (fold != form.fold) return "a store needs another fold than the product";
    }
    return std::nullopt;
  }

  const Plan& plan_;
  const dsl::Function& graph_;
  const dsl::ExpressionArena& arena_;
  std::set<TensorId> written_;
};

}  // namespace

std::optional<std::string> plan_violation(const Plan& plan) { return Verifier(plan).run(); }

}  // namespace einkern::codegen
