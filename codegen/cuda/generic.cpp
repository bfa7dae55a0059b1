// cuda.generic: one thread an element, reductions as loops inside it. Computes every kernel; the fallback of
// all others. cuda.reference: the same with floats in f64: what the tuner checks candidates with.
// cuda.sampled_reference: that at some points alone.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/roofline.h"
#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/schedules.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

std::vector<AxisId> sequential_axes(const Kernel& kernel) {
  const auto* generic = std::get_if<Generic>(&kernel.form);
  return generic != nullptr ? generic->sequential : std::vector<AxisId>{};
}

std::vector<AxisId> without(const std::vector<AxisId>& axes, const std::vector<AxisId>& removed) {
  std::vector<AxisId> rest;
  for (const AxisId axis : axes)
    if (std::find(removed.begin(), removed.end(), axis) == removed.end()) rest.push_back(axis);
  return rest;
}

/// The kernel's axes in their order, and columns of a row reduction whose stores run over them.
std::vector<AxisId> store_axes(const Store& store, const Kernel& kernel) {
  std::vector<AxisId> axes;
  for (const AxisId axis : kernel.axes)
    if (store.update || std::find(store.axes.begin(), store.axes.end(), axis) != store.axes.end())
      axes.push_back(axis);
  for (const AxisId axis : store.axes)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  return axes;
}

/// Stores over the same axes, in order.
struct StoreGroup {
  std::vector<AxisId> axes;
  std::vector<Store> stores;
};

std::vector<StoreGroup> group_stores(const Kernel& kernel) {
  std::vector<StoreGroup> groups;
  for (const Store& store : kernel.stores) {
    const std::vector<AxisId> axes = store_axes(store, kernel);
    if (groups.empty() || groups.back().axes != axes) groups.push_back({axes, {}});
    groups.back().stores.push_back(store);
  }
  return groups;
}

/// Which of a group's points are computed.
enum class Points { all, sampled };

void emit_group(ModuleWriter& module, const StoreGroup& group, const std::string& entry, int threads,
                Points points) {
  KernelWriter& kernel = module.add_kernel(entry);
  ExpressionEmitter emitter(kernel);
  const std::vector<AxisId> sequential = sequential_axes(kernel.context().kernel);
  const std::vector<AxisId> parallel = without(group.axes, sequential);
  const bool sampled = points == Points::sampled;
  const core::SizeExpression items = sampled
                                         ? core::SizeExpression::symbol(sample_name(kernel.context().kernel))
                                         : product_of_sizes(kernel, parallel);

  LaunchShape launch{.threads = threads};
  const LinearGrid grid = open_linear_grid(kernel, items, threads);
  launch.grid[0] = grid.grid;
  std::string item =
      kernel.names().unique("i", sampled                ? "sample"
                                 : parallel.size() == 1 ? kernel.graph().arena[parallel[0]].name
                                                        : "item");
  kernel.body().comment("one thread an element");
  kernel.body().line(fmt::format("const {0} {1} = ({0})({2} * {3} + threadIdx.x);", kernel.index_type(), item,
                                 grid.block, kernel.constant("threads", threads)));
  kernel.body().open(fmt::format("if ({} < {})", kernel.narrow() ? "(unsigned)" + item : item,
                                 kernel.extent(items, "items")));
  {
    const ExpressionEmitter::Scope scope(emitter);
    if (sampled) {
      const std::string list = kernel.scratch("sample", DType::i64, items * 8, false);
      const std::string number = kernel.names().unique("i", "item");
      kernel.body().line(
          fmt::format("const {0} {1} = ({0}){2}[{3}];", kernel.index_type(), number, list, item));
      item = number;
    }
    bind_axes_from_flat(emitter, item, parallel);
    const ExpressionEmitter::Scope inner(emitter);
    if (!sequential.empty())
      kernel.body().comment("these steps depend on one another: in order, in one thread");
    const int loops = emitter.open_loops(sequential);
    emitter.store_all(group.stores);
    emitter.close_blocks(loops);
  }
  kernel.body().close();
  close_linear_grid(kernel, grid);
  module.finish_kernel(kernel, launch);
}

class OneThreadAnElement : public Schedule {
 public:
  core::Backend backend() const override { return core::Backend::cuda; }
  std::optional<std::string> reason_against(const KernelContext&) const override { return std::nullopt; }

  ConfigurationSpace space(const KernelContext&) const override {
    return {.parameters = {
                {.name = "threads", .domain = {128, 256, 64, 32, 512}, .documentation = "threads a block"}}};
  }

  Estimate estimate(const KernelContext& context, const Configuration& configuration) const override {
    const std::int64_t threads = configuration.get("threads");
    std::int64_t blocks = 0;
    for (const StoreGroup& group : group_stores(context.kernel)) {
      const std::int64_t items = extent_of(
          *context.plan.graph, without(group.axes, sequential_axes(context.kernel)), context.binding);
      blocks += items / threads + 1;
    }
    // Serial loops reuse through caches alone, and a thread has one read in flight.
    Estimate estimate = roofline(context, {.blocks = blocks,
                                           .threads = static_cast<int>(threads),
                                           .bytes_in_flight = 4,
                                           .traffic_factor = serial_factor(context)});
    return estimate;
  }

  core::Result<core::Emission> emit(const KernelContext& context,
                                    const Configuration& configuration) const override {
    ModuleWriter module(
        context, fmt::format("{}: {} ({})", context.kernel.name, name(), configuration.text()), arithmetic());
    const std::string entry = entry_name(context, *this, configuration);
    const std::vector<StoreGroup> groups = group_stores(context.kernel);
    for (std::size_t i = 0; i < groups.size(); ++i)
      emit_group(module, groups[i], i == 0 ? entry : fmt::format("{}_{}", entry, i),
                 static_cast<int>(configuration.get("threads")), points());
    return std::move(module).finish();
  }

 protected:
  virtual Arithmetic arithmetic() const = 0;
  virtual Points points() const { return Points::all; }

 private:
  /// How much more than the least traffic the loops of contractions and row reductions cause, roughly.
  static double serial_factor(const KernelContext& context) {
    if (std::holds_alternative<Contraction>(context.kernel.form)) return 40;
    return std::holds_alternative<RowReduction>(context.kernel.form) ? 20 : 2;
  }
};

class GenericSchedule final : public OneThreadAnElement {
 public:
  std::string_view name() const override { return "cuda.generic"; }
  int version() const override { return 1; }

 protected:
  Arithmetic arithmetic() const override { return Arithmetic::as_typed; }
};

class ReferenceSchedule final : public OneThreadAnElement {
 public:
  std::string_view name() const override { return "cuda.reference"; }
  int version() const override { return 1; }

 protected:
  Arithmetic arithmetic() const override { return Arithmetic::wide; }
};

class SampledReferenceSchedule final : public OneThreadAnElement {
 public:
  std::string_view name() const override { return "cuda.sampled_reference"; }
  int version() const override { return 1; }
  std::optional<std::string> reason_against(const KernelContext& context) const override {
    const Kernel& kernel = context.kernel;
    if (!sequential_axes(kernel).empty()) return "elements depend on one another";
    for (const Store& store : kernel.stores)
      if (store.update) return "several points may change one element";
    if (group_stores(kernel).size() > 1) return "the stores run over different axes";
    return std::nullopt;
  }

 protected:
  Arithmetic arithmetic() const override { return Arithmetic::wide; }
  Points points() const override { return Points::sampled; }
};

}  // namespace

std::string sample_name(const Kernel& kernel) { return kernel.name + ".sample"; }

std::vector<AxisId> sampled_axes(const Kernel& kernel) { return group_stores(kernel).front().axes; }

const Schedule& sampled_reference_schedule() {
  static const SampledReferenceSchedule schedule;
  return schedule;
}

const Schedule& generic_schedule() {
  static const GenericSchedule schedule;
  return schedule;
}

const Schedule& reference_schedule() {
  static const ReferenceSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
