#include "codegen/cpu/point_schedule.h"

#include <algorithm>
#include <set>

#include "codegen/cpu/cost.h"
#include "codegen/cpu/expression_emitter.h"
#include "codegen/cpu/task_grid.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {
namespace {

using dsl::Op;

const std::vector<AxisId>& sequential_axes(const Kernel& kernel) {
  static const std::vector<AxisId> none;
  const auto* generic = std::get_if<Generic>(&kernel.form);
  return generic != nullptr ? generic->sequential : none;
}

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

const std::vector<AxisId>& axes_of(const Kernel& kernel, const Store& store) {
  return store.update ? kernel.axes : store.axes;
}

/// Stores over the same axes share a loop.
std::vector<std::vector<const Store*>> store_groups(const Kernel& kernel) {
  std::vector<std::vector<const Store*>> groups;
  for (const Store& store : kernel.stores) {
    auto same = [&](const std::vector<const Store*>& group) {
      return axes_of(kernel, *group[0]) == axes_of(kernel, store);
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), std::vector<const Store*>());
    group->push_back(&store);
  }
  return groups;
}

/// Whether all stores read and write dense tensors at exactly (axes…), so that the axes may be run through as
/// one.
bool may_flatten(const KernelContext& context, const std::vector<const Store*>& stores) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  const std::vector<AxisId>& axes = stores[0]->axes;
  auto dense = [&](TensorId tensor) {
    return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)].dense;
  };
  auto is_axis = [&](ExpressionId id, AxisId axis) {
    return arena[id].op == Op::axis && arena[id].index == axis.value;
  };
  bool flat = axes.size() > 1;
  for (AxisId axis : axes) flat = flat && dsl::constant_value(arena, arena[axis].low) == 0;
  for (const Store* store : stores) {
    flat = flat && !store->update && dense(store->target);
    std::vector<ExpressionId> uses, visited;
    dsl::visit_nodes(arena, store->value, [&](ExpressionId id) { visited.push_back(id); });
    for (ExpressionId id : visited) {
      const dsl::Expression& node = arena[id];
      if (node.op == Op::reduce) return false;
      bool read = node.op == Op::read && node.guard == dsl::Guard::proven && dense(TensorId{node.index});
      bool whole = read && node.operands.size() == axes.size();
      for (std::size_t d = 0; d < axes.size() && whole; ++d) whole = is_axis(node.operands[d], axes[d]);
      if (whole) continue;
      for (ExpressionId operand : node.operands) flat = flat && arena[operand].op != Op::axis;
    }
    flat = flat && arena[store->value].op != Op::axis;
  }
  return flat;
}

class PointSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cpu.points"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cpu; }
  std::optional<std::string> reason_against(const KernelContext&) const override { return std::nullopt; }

  ConfigurationSpace space(const KernelContext& context) const override {
    ConfigurationSpace space;
    std::vector<std::int64_t> axes;
    for (std::size_t i = context.kernel.axes.size(); i-- > 0;)
      if (may_be_vector(context, context.kernel.axes[i])) axes.push_back(static_cast<std::int64_t>(i));
    std::int64_t natural = natural_lanes(context);
    std::vector<std::int64_t> lanes = {natural};
    if (axes.empty()) axes = {0}, lanes = {1};
    if (lanes[0] > 2) lanes.push_back(natural / 2);
    space.parameters = {
        {"axis", axes, true,
         "axis of the result whose neighbours share a vector, counted from the outermost"},
        {"lanes", lanes, true, "elements in a vector"},
        {"unroll", {1, 2, 4}, true, "vectors in one turn of the innermost loop"},
        {"block", {4096, 1024, 16384}, false, "elements along the axis that make one task"},
        {"tile", tiles(context), true,
         "values of the axis along which strided reads are contiguous that a task takes together"}};
    return space;
  }

  Estimate estimate(const KernelContext& context, const Configuration& configuration) const override {
    const Kernel& kernel = context.kernel;
    KernelCost cost = kernel_cost(context.plan, kernel, context.binding);
    double lanes = static_cast<double>(configuration.get("lanes"));
    if (lanes > 1) {
      AxisId axis = kernel.axes[static_cast<std::size_t>(configuration.get("axis"))];
      double extent = static_cast<double>(extent_of(*context.plan.graph, axis, context.binding));
      double filled = std::min(1.0, extent / lanes);  // a short axis leaves lanes empty
      lanes = std::max(1.0, lanes * filled * contiguity(context, axis));
    }
    Estimate estimate = roofline(context, cost, lanes);
    // Without a tile every strided access moves a whole cache line for one element.
    if (tiles(context)[0] > 1 && configuration.get("tile") == 1) estimate.seconds *= 4;
    return estimate;
  }

  core::Result<core::Emission> emit(const KernelContext& context,
                                    const Configuration& configuration) const override {
    KernelModule module(context, *this, configuration);
    int ordinal = 0;
    for (const std::vector<const Store*>& group : store_groups(context.kernel)) {
      std::string suffix = ordinal == 0 ? "" : "_" + std::to_string(ordinal);
      ++ordinal;
      emit_group(context, configuration, module, suffix, group);
    }
    return module.finish();
  }

 private:
  static std::vector<std::int64_t> tiles(const KernelContext& context) {
    for (AxisId axis : context.kernel.axes)
      if (tile_axis(context, axis)) return {16, 1};
    return {1};
  }

  /// The axis along which reads are contiguous that are strided along `lane_axis`: a transposition's other
  /// axis.
  static std::optional<AxisId> tile_axis(const KernelContext& context, AxisId lane_axis) {
    const dsl::Function& graph = *context.plan.graph;
    for (const Store& store : context.kernel.stores) {
      if (store.update || !may_be_vector(context, lane_axis)) return std::nullopt;
      for (ExpressionId read : reads_of(graph.arena, {store.value})) {
        const TensorLayout& layout =
            context.specialisation.tensors[static_cast<std::size_t>(graph.arena[read].index)];
        if (movement(graph.arena, read, lane_axis, layout) != Movement::strided) continue;
        for (AxisId axis : store.axes)
          if (axis != lane_axis && may_be_vector(context, axis) &&
              movement(graph.arena, read, axis, layout) == Movement::unit)
            return axis;
      }
    }
    return std::nullopt;
  }

  /// An axis that must run in order, or on which a reduction's bounds depend, cannot lie across lanes; nor
  /// can any axis of an update, whose lanes might collide.
  static bool may_be_vector(const KernelContext& context, AxisId axis) {
    const Kernel& kernel = context.kernel;
    if (contains(sequential_axes(kernel), axis)) return false;
    return std::all_of(kernel.stores.begin(), kernel.stores.end(), [&](const Store& store) {
      return !store.update && may_be_lane_axis(context.plan.graph->arena, store.value, axis);
    });
  }

  /// Share of the tensors' accesses that vectors along the axis make with one instruction.
  static double contiguity(const KernelContext& context, AxisId axis) {
    const dsl::Function& graph = *context.plan.graph;
    double good = 0, all = 0;
    auto layout = [&](TensorId tensor) {
      return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
    };
    for (const Store& store : context.kernel.stores) {
      for (ExpressionId read : reads_of(graph.arena, {store.value})) {
        Movement moves = movement(graph.arena, read, axis, layout(TensorId{graph.arena[read].index}));
        good += moves == Movement::none || moves == Movement::unit ? 1 : 0.1;
        ++all;
      }
      int unit = layout(store.target).unit_axis;
      bool contiguous = unit >= 0 && static_cast<std::size_t>(unit) < store.axes.size() &&
                        store.axes[static_cast<std::size_t>(unit)] == axis;
      good += contiguous ? 1 : 0.1;
      ++all;
    }
    return good / all;
  }

  static void emit_group(const KernelContext& context, const Configuration& configuration,
                         KernelModule& module, const std::string& suffix,
                         const std::vector<const Store*>& group) {
    const Kernel& kernel = context.kernel;
    const std::vector<AxisId>& axes = axes_of(kernel, *group[0]);
    TaskGrid grid;
    for (AxisId axis : axes)
      if (!contains(sequential_axes(kernel), axis)) grid.axes.push_back(axis);
    int lanes = static_cast<int>(configuration.get("lanes")),
        unroll = static_cast<int>(configuration.get("unroll"));
    std::optional<AxisId> lane_axis;
    if (lanes > 1) lane_axis = kernel.axes[static_cast<std::size_t>(configuration.get("axis"))];
    if (lane_axis && !contains(grid.axes, *lane_axis)) lane_axis.reset();
    if (!lane_axis && !grid.axes.empty()) lane_axis = grid.axes.back(), lanes = 1, unroll = 1;
    if (lanes > 1 && may_flatten(context, group))
      return emit_flat(context, configuration, module, suffix, group);
    std::optional<AxisId> tiled;
    if (lanes > 1 && configuration.get("tile") > 1) tiled = tile_axis(context, *lane_axis);
    if (lane_axis) grid.blocks[*lane_axis] = configuration.get("block");
    if (tiled) grid.blocks[*tiled] = configuration.get("tile");

    LoopShape shape;
    shape.tasks = task_count(context, grid);
    core::SizeExpression points = 1;
    for (const auto& [axis, block] : grid.blocks)
      points = points * core::minimum(block, *extent_size(context, axis));
    shape.grain = grain_for(points * core::SizeExpression(operations_of_point(context)));
    module.entry(suffix, shape, [&](EntryFrame& frame) {
      ExpressionEmitter emitter(frame);
      for_each_task(frame, grid, [&](const TaskPoint& point) {
        ExpressionEmitter::State before = emitter.state();
        for (AxisId axis : grid.axes)
          if (!grid.blocks.contains(axis)) emitter.set_axis(axis, point.values.at(axis));
        for (const Store* store : group) emitter.hoist_reductions(store->value);
        auto stores = [&] { in_order(emitter, axes, sequential_axes(kernel), 0, group); };
        write_blocks(emitter, point, lane_axis, tiled, lanes, unroll, stores);
        emitter.restore(std::move(before));
      });
    });
  }

  /// The loops inside a task: vectors along the lane axis, and for each of them the tile, so that the lines
  /// of memory which one vector's strided reads touch are still there for the next.
  static void write_blocks(ExpressionEmitter& emitter, const TaskPoint& point,
                           std::optional<AxisId> lane_axis, std::optional<AxisId> tiled, int lanes,
                           int unroll, const std::function<void()>& stores) {
    if (!lane_axis) return stores();
    IrWriter& writer = emitter.writer();
    const dsl::ExpressionArena& arena = emitter.frame().graph().arena;
    for_each_vector(writer, arena[*lane_axis].name, point.values.at(*lane_axis), point.ends.at(*lane_axis),
                    lanes, unroll, [&](const IrValue& first, int count) {
                      ExpressionEmitter::State outer = emitter.state();
                      emitter.set_lane_axis(*lane_axis, first, count);
                      if (!tiled) {
                        stores();
                      } else {
                        writer.loop(arena[*tiled].name, point.values.at(*tiled), point.ends.at(*tiled),
                                    IrWriter::integer(1), [&](const IrValue& index) {
                                      ExpressionEmitter::State inside = emitter.state();
                                      emitter.set_axis(*tiled, index);
                                      stores();
                                      emitter.restore(std::move(inside));
                                    });
                      }
                      emitter.restore(std::move(outer));
                    });
  }

  /// Loops over the axes that run in order, then the stores.
  static void in_order(ExpressionEmitter& emitter, const std::vector<AxisId>& axes,
                       const std::vector<AxisId>& sequential, std::size_t depth,
                       const std::vector<const Store*>& group) {
    while (depth < axes.size() && !contains(sequential, axes[depth])) ++depth;
    if (depth == axes.size()) {
      for (const Store* store : group) emitter.store(*store);
      return;
    }
    AxisId axis = axes[depth];
    IrValue from = emitter.low(axis), to = emitter.high(axis);
    emitter.writer().loop(emitter.frame().graph().arena[axis].name, from, to, IrWriter::integer(1),
                          [&](const IrValue& index) {
                            ExpressionEmitter::State outer = emitter.state();
                            emitter.set_axis(axis, index);
                            in_order(emitter, axes, sequential, depth + 1, group);
                            emitter.restore(std::move(outer));
                          });
  }

  /// All axes as one: the last stands for the element's number, the others stay 0, and dense strides do the
  /// rest.
  static void emit_flat(const KernelContext& context, const Configuration& configuration,
                        KernelModule& module, const std::string& suffix,
                        const std::vector<const Store*>& group) {
    const std::vector<AxisId>& axes = group[0]->axes;
    core::SizeExpression total = 1, block = configuration.get("block");
    for (AxisId axis : axes) total = total * *extent_size(context, axis);
    LoopShape shape;
    shape.tasks = core::ceil_divide(total, block);
    shape.grain = grain_for(block * core::SizeExpression(operations_of_point(context)));
    module.entry(suffix, shape, [&](EntryFrame& frame) {
      IrWriter& writer = frame.writer();
      ExpressionEmitter emitter(frame);
      IrValue size = frame.size(block, "block");
      IrValue from = writer.multiply(frame.begin(), size, "from");
      IrValue to = writer.minimum(writer.multiply(frame.end(), size), frame.size(total, "elements"), "to");
      for (AxisId axis : axes) emitter.set_axis(axis, IrWriter::integer(0));
      for_each_vector(writer, "element", from, to, static_cast<int>(configuration.get("lanes")),
                      static_cast<int>(configuration.get("unroll")), [&](const IrValue& first, int count) {
                        ExpressionEmitter::State outer = emitter.state();
                        emitter.set_lane_axis(axes.back(), first, count);
                        for (const Store* store : group) emitter.store(*store);
                        emitter.restore(std::move(outer));
                      });
    });
  }
};

}  // namespace

const Schedule& point_schedule() {
  static const PointSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cpu
