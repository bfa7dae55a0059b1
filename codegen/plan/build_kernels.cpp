#include "codegen/plan/build_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/plan/access.h"
#include "codegen/plan/axes.h"
#include "codegen/plan/explain.h"
#include "codegen/plan/folds.h"
#include "codegen/plan/root_shape.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;

namespace {

/// Axes of `group` in the order of `order`.
Axes in_order(const Axes& group, const Axes& order) {
  Axes result;
  for (const AxisId axis : order)
    if (contains(group, axis)) result.push_back(axis);
  return result;
}

class KernelBuilder {
 public:
  KernelBuilder(CanonicalGraph& graph, bool ordered) : graph_(graph), ordered_(ordered) {}

  std::vector<Kernel> run(const std::vector<Root>& roots) {
    for (const Root& root : roots) {
      const std::size_t place = add(root);
      writer_[root.target] = place;
      if (!root.reason.empty()) reasons_[place].insert(root.reason);
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      Kernel& kernel = kernels_[k];
      kernel.name = fmt::format("{}_{}", graph_.function().name, k);
      for (const Store& store : kernel.stores) kernel.writes.push_back(store.target);
      kernel.explanation = explain_kernel(graph_.function(), kernel, reasons_[k]);
    }
    return std::move(kernels_);
  }

 private:
  Kernel build(const Root& root) {
    Kernel kernel;
    kernel.axes = root.axes;
    kernel.stores = {{root.target, root.axes, root.value, root.update, root.indices}};
    const std::vector<ExpressionId> folds = folds_of(graph_, root.value);
    if (root.update || root.recurrent) {
      kernel.form = Generic{serial_axes(root)};
    } else if (folds.empty()) {
      kernel.form = Pointwise{};
    } else if (auto contraction = main_contraction(graph_, root); contraction && folds.size() == 1) {
      orient(*contraction, root.axes);
      kernel.form = *std::move(contraction);
    } else if (const auto shape = match_rows(graph_, root)) {
      kernel.form = row_reduction(folds, *shape);
      if (shape->stores_columns) {
        kernel.axes = shape->rows;
        kernel.axes.insert(kernel.axes.end(), shape->columns.begin(), shape->columns.end());
      }
    } else {
      kernel.form = Generic{};
    }
    collect_reads(kernel);
    return kernel;
  }

  /// Of a recurrence see recurrent_axes; of an update that may collide every axis that does not choose the
  /// element on its own.
  Axes serial_axes(const Root& root) const {
    if (root.recurrent) return recurrent_axes(root);
    Axes serial;
    if (root.update == dsl::UpdateOperator::assign) return serial;  // of colliding elements any one survives
    for (const AxisId axis : root.axes) {
      const bool alone = std::any_of(root.indices.begin(), root.indices.end(), [&](ExpressionId index) {
        return graph_[index].op == Op::axis && AxisId{graph_[index].index} == axis;
      });
      if (!alone) serial.push_back(axis);
    }
    return serial;
  }

  /// The recurrent axis, then those along which an element reads others of the step before.
  Axes recurrent_axes(const Root& root) const {
    Axes serial = {*root.recurrent};
    for (std::size_t d = 0; d < root.axes.size(); ++d) {
      bool alone = true;
      dsl::visit_nodes(graph_.function().arena, root.value, [&](ExpressionId id) {
        const Expression& node = graph_[id];
        if (node.op != Op::read || TensorId{node.index} != root.target) return;
        const Expression& index = graph_[node.operands[d]];
        alone = alone && index.op == Op::axis && AxisId{index.index} == root.axes[d];
      });
      if (!alone && root.axes[d] != *root.recurrent) serial.push_back(root.axes[d]);
    }
    return serial;
  }

  /// Groups in the result's order, and the result's last axis in n: rows of b lie along the rows that are
  /// stored.
  void orient(Contraction& contraction, const Axes& axes) const {
    for (Axes* group : {&contraction.batch, &contraction.m, &contraction.n}) *group = in_order(*group, axes);
    const auto position = [&](AxisId axis) { return std::find(axes.begin(), axes.end(), axis); };
    if (position(contraction.m.back()) > position(contraction.n.back())) {
      std::swap(contraction.m, contraction.n);
      std::swap(contraction.a, contraction.b);
    }
  }

  RowReduction row_reduction(const std::vector<ExpressionId>& folds, const RowShape& shape) {
    RowReduction form;
    form.rows = shape.rows;
    form.columns = shape.columns;
    for (const ExpressionId fold : folds) {
      const Expression node = graph_[fold];
      dsl::Substitution columns;
      for (std::size_t i = 0; i < node.axes.size(); ++i)
        columns.axes[node.axes[i]] = graph_.function().arena.axis(shape.columns[i]);
      form.folds.push_back({fold, node.reduction, graph_.rewrite(node.operands[0], columns)});
    }
    return form;
  }

  void collect_reads(Kernel& kernel) const {
    std::vector<ExpressionId> roots;
    for (const Store& store : kernel.stores) {
      roots.insert(roots.end(), store.indices.begin(), store.indices.end());
      roots.push_back(store.value);
    }
    for (const AxisId axis : kernel.axes) {
      roots.push_back(graph_.function().arena[axis].low);
      roots.push_back(graph_.function().arena[axis].high);
    }
    kernel.reads.clear();
    for (const ExpressionId read : reads_of(graph_.function().arena, roots)) {
      const TensorId tensor{graph_[read].index};
      if (std::find(kernel.reads.begin(), kernel.reads.end(), tensor) == kernel.reads.end())
        kernel.reads.push_back(tensor);
    }
  }

  // --- sharing a kernel ---

  /// Puts a root into a kernel that can compute it as well, else into one of its own; the kernel's place.
  std::size_t add(const Root& root) {
    Kernel kernel = build(root);
    for (std::size_t k = ordered_ ? kernels_.size() : first_place(kernel); k < kernels_.size(); ++k)
      if (can_share(kernels_[k], kernel)) return merge(k, kernel);
    for (const std::size_t k : writers_to_join(kernel)) {
      const auto inlined = with_values_of(kernels_[k], root);
      if (!inlined) continue;
      const Kernel joined = build(*inlined);
      if ((ordered_ || first_place(joined) <= k) && can_share(kernels_[k], joined)) return merge(k, joined);
    }
    kernels_.push_back(std::move(kernel));
    reasons_.push_back({});
    return kernels_.size() - 1;
  }

  /// The place behind the writers of all that a kernel reads.
  std::size_t first_place(const Kernel& kernel) const {
    std::size_t first = 0;
    for (const TensorId tensor : kernel.reads)
      if (const auto entry = writer_.find(tensor); entry != writer_.end())
        first = std::max(first, entry->second + 1);
    return first;
  }

  /// Kernels whose stored values this one might compute along: where folds over the same rows read each
  /// other, and where elements that change in place follow one another.
  std::set<std::size_t> writers_to_join(const Kernel& kernel) const {
    std::set<std::size_t> places;
    if (ordered_) {
      if (std::holds_alternative<Pointwise>(kernel.form) && !kernels_.empty())
        places.insert(kernels_.size() - 1);
    } else if (std::holds_alternative<RowReduction>(kernel.form)) {
      for (const TensorId tensor : kernel.reads)
        if (const auto entry = writer_.find(tensor); entry != writer_.end()) places.insert(entry->second);
    }
    return places;
  }

  /// The root with reads of a kernel's targets replaced by the values that the kernel stores there, rounded
  /// as stored. Where tensors change in place, both must keep to their own element of whatever either of them
  /// writes.
  std::optional<Root> with_values_of(const Kernel& host, const Root& root) {
    if (ordered_ && (host.axes != root.axes || !keeps_to_element(host, root.target))) return std::nullopt;
    Root result = root;
    dsl::Substitution values;
    for (const ExpressionId id : reads_of(graph_.function().arena, {root.value})) {
      const Expression read = graph_[id];
      const TensorId tensor{read.index};
      const bool own = is_own_element(read, root.axes);
      if (ordered_ && tensor == root.target && !own) return std::nullopt;
      for (const Store& store : host.stores) {
        if (store.target != tensor) continue;
        const auto value = value_at(store, read);

        if (!value || (ordered_ && !own)) return std::nullopt;
        values.nodes[id] = *value;
      }
    }
    result.value = graph_.rewrite(root.value, values);
    return result;
  }

  /// What a store puts at the place of a read: nothing if the read is not at bare axes over whole dimensions.
  std::optional<ExpressionId> value_at(const Store& store, const Expression& read) {
    if (store.update || read.guard != dsl::Guard::proven) return std::nullopt;
    dsl::Substitution places;
    for (std::size_t d = 0; d < store.axes.size(); ++d) {
      const Expression& index = graph_[read.operands[d]];
      if (index.op != Op::axis || !graph_.same_range(AxisId{index.index}, store.axes[d])) return std::nullopt;
      places.axes[store.axes[d]] = read.operands[d];
    }
    const ExpressionId value = graph_.rewrite(store.value, places);
    return graph_.function().arena.cast(graph_.function()[store.target].dtype, value);
  }

  bool is_own_element(const Expression& read, const Axes& axes) const {
    if (read.operands.size() != axes.size()) return false;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const Expression& index = graph_[read.operands[d]];
      if (index.op != Op::axis || AxisId{index.index} != axes[d]) return false;
    }
    return true;
  }

  /// The kernel does not write the tensor, and reads it at its own element alone.
  bool keeps_to_element(const Kernel& host, TensorId tensor) const {
    for (const Store& store : host.stores) {
      if (store.target == tensor) return false;
      for (const ExpressionId id : reads_of(graph_.function().arena, {store.value}))
        if (TensorId{graph_[id].index} == tensor && !is_own_element(graph_[id], host.axes)) return false;
    }
    return true;
  }

  /// Whether the first kernel can compute the second one's stores as well: the same form over the same axes.
  static bool can_share(const Kernel& host, const Kernel& guest) {
    if (host.form.index() != guest.form.index()) return false;
    if (std::holds_alternative<Pointwise>(host.form)) return host.axes == guest.axes;
    if (const auto* rows = std::get_if<RowReduction>(&host.form)) {
      const auto& other = std::get<RowReduction>(guest.form);
      return rows->rows == other.rows && rows->columns == other.columns;
    }
    if (const auto* contraction = std::get_if<Contraction>(&host.form))
      return host.axes == guest.axes && contraction->fold == std::get<Contraction>(guest.form).fold;
    return false;
  }

  std::size_t merge(std::size_t place, const Kernel& guest) {
    Kernel& host = kernels_[place];
    if (auto* rows = std::get_if<RowReduction>(&host.form)) {
      for (const Fold& fold : std::get<RowReduction>(guest.form).folds) {
        const auto same = [&](const Fold& other) { return other.node == fold.node; };
        if (std::none_of(rows->folds.begin(), rows->folds.end(), same)) rows->folds.push_back(fold);
      }
      if (guest.axes.size() > host.axes.size()) host.axes = guest.axes;
    }
    host.stores.insert(host.stores.end(), guest.stores.begin(), guest.stores.end());
    collect_reads(host);
    return place;
  }

  CanonicalGraph& graph_;
  const bool ordered_;
  std::vector<Kernel> kernels_;
  std::vector<std::set<std::string>> reasons_;  // by kernel: why its temporaries exist
  std::map<TensorId, std::size_t> writer_;      // by tensor: the kernel
};

}  // namespace

std::vector<Kernel> build_kernels(CanonicalGraph& graph, const std::vector<Root>& roots, bool ordered) {
  return KernelBuilder(graph, ordered).run(roots);
}

}  // namespace einkern::codegen
