#include "codegen/plan/build_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/plan/access.h"
#include "codegen/plan/explain.h"
#include "codegen/plan/folds.h"
#include "codegen/plan/split_roots.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;
using Axes = std::vector<AxisId>;

namespace {

bool contains(const Axes& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

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
      Kernel kernel = build(root);
      const std::size_t place = ordered_ ? kernels_.size() : partner(kernel);
      if (place == kernels_.size()) {
        kernels_.push_back(std::move(kernel));
        reasons_.push_back({});
      } else {
        merge(kernels_[place], kernel);
      }
      writer_[root.target] = place;
      if (!root.reason.empty()) reasons_[place].insert(root.reason);
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      kernels_[k].name = fmt::format("{}_{}", graph_.function().name, k);
      finish(kernels_[k]);
      kernels_[k].explanation = explain_kernel(graph_.function(), kernels_[k], reasons_[k]);
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

  /// The recurrent axis; of an update that may collide every axis that does not choose the element on its
  /// own.
  Axes serial_axes(const Root& root) const {
    if (root.recurrent) return {*root.recurrent};
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

  /// The first kernel that can compute this one's stores as well: the same form over the same axes, after all
  /// that is read has been written. The number of kernels if there is none.
  std::size_t partner(const Kernel& kernel) const {
    std::size_t first = 0;  // behind the writers of what is read
    for (const TensorId tensor : kernel.reads)
      if (const auto entry = writer_.find(tensor); entry != writer_.end())
        first = std::max(first, entry->second + 1);
    for (std::size_t k = first; k < kernels_.size(); ++k)
      if (kernels_[k].form.index() == kernel.form.index() && can_share(kernels_[k], kernel)) return k;
    return kernels_.size();
  }

  static bool can_share(const Kernel& host, const Kernel& guest) {
    if (std::holds_alternative<Pointwise>(host.form)) return host.axes == guest.axes;
    if (const auto* rows = std::get_if<RowReduction>(&host.form)) {
      const auto& other = std::get<RowReduction>(guest.form);
      return rows->rows == other.rows && rows->columns == other.columns;
    }
    if (const auto* contraction = std::get_if<Contraction>(&host.form))
      return host.axes == guest.axes && contraction->fold == std::get<Contraction>(guest.form).fold;
    return false;
  }

  void merge(Kernel& host, const Kernel& guest) {
    if (auto* rows = std::get_if<RowReduction>(&host.form)) {
      for (const Fold& fold : std::get<RowReduction>(guest.form).folds) {
        const auto same = [&](const Fold& other) { return other.node == fold.node; };
        if (std::none_of(rows->folds.begin(), rows->folds.end(), same)) rows->folds.push_back(fold);
      }
      if (guest.axes.size() > host.axes.size()) host.axes = guest.axes;
    }
    host.stores.insert(host.stores.end(), guest.stores.begin(), guest.stores.end());
    collect_reads(host);
  }

  void finish(Kernel& kernel) const {
    for (const Store& store : kernel.stores) kernel.writes.push_back(store.target);
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
