#include "codegen/cpu/axis_group.h"

#include <algorithm>

#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {
namespace {

using dsl::Op;

struct Uses {
  const KernelContext& context;
  const std::vector<ExpressionId>& values;
  const std::vector<Store>& stores;

  const dsl::ExpressionArena& arena() const { return context.plan.graph->arena; }

  bool is_axis(ExpressionId id, AxisId axis) const {
    return arena()[id].op == Op::axis && arena()[id].index == axis.value;
  }

  /// Whether dimension `d` of a tensor is exactly the range of `axis`, and its layout lets d - 1 and d be
  /// one.
  bool is_whole_dimension(TensorId tensor, std::size_t d, AxisId axis) const {
    const TensorLayout& layout = context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
    return layout.dense && (*context.plan.graph)[tensor].shape[d] == arena()[axis].high;
  }

  /// Whether `outer` and `inner` occur only side by side, as indices of dense tensors.
  bool may_merge(AxisId outer, AxisId inner) const {
    for (AxisId axis : {outer, inner})
      if (dsl::constant_value(arena(), arena()[axis].low) != 0) return false;
    for (ExpressionId value : values) {
      bool allowed = true;
      dsl::visit_nodes(arena(), value,
                       [&](ExpressionId id) { allowed = allowed && node_allows(id, outer, inner); });
      if (!allowed || is_axis(value, outer) || is_axis(value, inner)) return false;
    }
    return std::all_of(stores.begin(), stores.end(), [&](const Store& store) {
      auto at = std::find(store.axes.begin(), store.axes.end(), outer);
      if (store.update || at == store.axes.end() || at + 1 == store.axes.end() || at[1] != inner)
        return false;
      return is_whole_dimension(store.target, static_cast<std::size_t>(at + 1 - store.axes.begin()), inner);
    });
  }

  bool node_allows(ExpressionId id, AxisId outer, AxisId inner) const {
    const dsl::Expression& node = arena()[id];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      bool is_outer = is_axis(node.operands[i], outer), is_inner = is_axis(node.operands[i], inner);
      if (!is_outer && !is_inner) continue;
      if (node.op != Op::read || node.guard != dsl::Guard::proven) return false;
      std::size_t first = is_outer ? i : i - 1;
      if ((is_inner && i == 0) || first + 1 >= node.operands.size()) return false;
      if (!is_axis(node.operands[first], outer) || !is_axis(node.operands[first + 1], inner)) return false;
      if (!is_whole_dimension(TensorId{node.index}, first + 1, inner)) return false;
    }
    return node.op != Op::reduce || (!bounds_use(node, outer) && !bounds_use(node, inner));
  }

  bool bounds_use(const dsl::Expression& reduce, AxisId axis) const {
    return std::any_of(reduce.axes.begin(), reduce.axes.end(), [&](AxisId reduced) {
      return depends_on(arena(), arena()[reduced].low, axis) ||
             depends_on(arena(), arena()[reduced].high, axis);
    });
  }
};

}  // namespace

AxisGroup::AxisGroup(const KernelContext& context, const std::vector<AxisId>& axes,
                     const std::vector<ExpressionId>& values, const std::vector<Store>& stores)
    : context_(context) {
  Uses uses{context, values, stores};
  for (AxisId axis : axes) {
    computed_ = computed_ && extent_size(context, axis).has_value();
    if (!runs_.empty() && uses.may_merge(runs_.back().back(), axis)) {
      runs_.back().push_back(axis);
    } else {
      runs_.push_back({axis});
    }
  }
}

core::SizeExpression AxisGroup::run_size(const std::vector<AxisId>& run) const {
  core::SizeExpression size = 1;
  for (AxisId axis : run) size = size * *extent_size(context_, axis);
  return size;
}

core::SizeExpression AxisGroup::size() const {
  core::SizeExpression size = 1;
  for (const std::vector<AxisId>& run : runs_) size = size * run_size(run);
  return size;
}

bool AxisGroup::keeps_lanes_together(int lanes) const {
  if (runs_.size() <= 1 || lanes == 1) return true;
  int divisor = 1;  // known to divide the innermost run
  for (AxisId axis : runs_.back()) {
    const dsl::ExpressionArena& arena = context_.plan.graph->arena;
    bool from_zero = dsl::constant_value(arena, arena[axis].low) == 0;
    if (from_zero) divisor *= known_divisor(arena, arena[axis].high, {}, context_.specialisation);
  }
  return divisor % lanes == 0;
}

void AxisGroup::set(ExpressionEmitter& emitter, const IrValue& index) const { set_lanes(emitter, index, 1); }

void AxisGroup::set_lanes(ExpressionEmitter& emitter, const IrValue& first, int lanes) const {
  EntryFrame& frame = emitter.frame();
  IrWriter& writer = frame.writer();
  const dsl::ExpressionArena& arena = frame.graph().arena;
  IrValue rest = first;
  for (std::size_t r = runs_.size(); r-- > 0;) {
    AxisId axis = runs_[r].back();
    const std::string& name = arena[axis].name;
    IrValue index = rest;
    if (r > 0) {
      // At least 1 here: there is a point.
      IrValue count = frame.size(run_size(runs_[r]), name + ".count");
      index = writer.binary("urem", rest, count, name);
      rest = writer.binary("udiv", rest, count, "rest");
    }
    for (AxisId outer : runs_[r]) emitter.set_axis(outer, IrWriter::integer(0));
    index = writer.add(index, frame.size(*size_of(context_, arena[axis].low), name + ".low"), name);
    if (r + 1 == runs_.size() && lanes > 1) {
      emitter.set_lane_axis(axis, index, lanes);
    } else {
      emitter.set_axis(axis, index);
    }
  }
}

}  // namespace einkern::codegen::cpu
