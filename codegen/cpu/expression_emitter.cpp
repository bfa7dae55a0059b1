#include "codegen/cpu/expression_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/cpu/conversions.h"
#include "codegen/cpu/operations.h"
#include "codegen/cpu/reductions.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {

using dsl::Expression;
using dsl::Op;

ExpressionEmitter::ExpressionEmitter(EntryFrame& frame)
    : frame_(frame), writer_(frame.writer()), arena_(frame.graph().arena), holds_reduction_(arena_.size()) {
  // Operands are older than the nodes that use them, so one pass in the order of ids is enough.
  for (std::size_t i = 0; i < arena_.size(); ++i) {
    const Expression& node = arena_[ExpressionId{static_cast<std::int32_t>(i)}];
    auto holds = [&](ExpressionId operand) {
      return holds_reduction_[static_cast<std::size_t>(operand.value)];
    };
    holds_reduction_[i] =
        node.op == Op::reduce || std::any_of(node.operands.begin(), node.operands.end(), holds);
  }
}

void ExpressionEmitter::set_axis(AxisId axis, const IrValue& value) { state_.axes[axis] = value; }

void ExpressionEmitter::set_lane_axis(AxisId axis, const IrValue& first, int lanes) {
  state_.axes[axis] = first;
  state_.lane_axis = lanes > 1 ? axis : AxisId{};
  state_.lanes = lanes;
}

void ExpressionEmitter::set_value(ExpressionId node, const IrValue& value) {
  state_.values[node] = value;
  if (value.type.lanes == 1) state_.first_values[node] = value;
}

std::optional<IrValue> ExpressionEmitter::known(ExpressionId id) const {
  auto found = state_.values.find(id);
  if (found == state_.values.end()) return std::nullopt;
  return found->second;
}

IrValue ExpressionEmitter::value(ExpressionId id) { return evaluate(id); }

IrValue ExpressionEmitter::lanes_value(ExpressionId id) { return writer_.splat(evaluate(id), state_.lanes); }

IrValue ExpressionEmitter::first_lane_value(ExpressionId id) {
  if (state_.lanes == 1) return evaluate(id);
  int lanes = std::exchange(state_.lanes, 1);
  AxisId axis = std::exchange(state_.lane_axis, AxisId{});
  std::swap(state_.values, state_.first_values);
  in_first_lane_ = true;
  IrValue result = evaluate(id);
  in_first_lane_ = false;
  std::swap(state_.values, state_.first_values);
  state_.lanes = lanes;
  state_.lane_axis = axis;
  return result;
}

void ExpressionEmitter::hoist_reductions(ExpressionId below) {
  if (!holds_reduction_[static_cast<std::size_t>(below.value)]) return;
  std::vector<ExpressionId> reductions;
  dsl::visit_nodes(arena_, below, [&](ExpressionId id) {
    if (arena_[id].op == Op::reduce) reductions.push_back(id);
  });
  // Outer reductions come after those inside them, and cover them.
  std::reverse(reductions.begin(), reductions.end());
  for (ExpressionId id : reductions) {
    std::vector<AxisId> free = dsl::free_axes(arena_, id);
    bool fixed =
        std::all_of(free.begin(), free.end(), [&](AxisId axis) { return state_.axes.contains(axis); });
    for (ExpressionId read : reads_of(arena_, {id}))
      fixed = fixed && frame_.is_constant(TensorId{arena_[read].index});
    if (fixed) evaluate(id);
  }
}

IrValue ExpressionEmitter::low(AxisId axis) { return first_lane_value(arena_[axis].low); }
IrValue ExpressionEmitter::high(AxisId axis) { return first_lane_value(arena_[axis].high); }

/// In scalar code a side that holds a reduction is worth a branch. Reading what is not chosen is harmless:
/// every read is proven inside or checked, so vectors, and sides without a loop, compute both and select.
bool ExpressionEmitter::is_lazy(ExpressionId id) const {
  const Expression& node = arena_[id];
  if (state_.lanes > 1) return false;
  if (node.op != Op::where && node.op != Op::logical_and && node.op != Op::logical_or) return false;
  return std::any_of(node.operands.begin() + 1, node.operands.end(), [&](ExpressionId side) {
    return holds_reduction_[static_cast<std::size_t>(side.value)];
  });
}

/// Operands first, with a stack of our own: the depth of an expression must not overflow the machine's.
IrValue ExpressionEmitter::evaluate(ExpressionId root) {
  std::vector<ExpressionId> pending = {root};
  while (!pending.empty()) {
    ExpressionId id = pending.back();
    if (known(id)) {
      pending.pop_back();
      continue;
    }
    const Expression& node = arena_[id];
    std::size_t before = pending.size();
    if (node.op == Op::reduce || node.op == Op::read) {
      // writes its operands itself, at other points
    } else if (is_lazy(id)) {
      if (!known(node.operands[0])) pending.push_back(node.operands[0]);
    } else {
      for (ExpressionId operand : node.operands)
        if (!known(operand)) pending.push_back(operand);
    }
    if (pending.size() > before) continue;
    pending.pop_back();
    IrValue written = write_node(id);
    state_.values[id] = written;
    if (!in_first_lane_ && written.type.lanes == 1) state_.first_values[id] = written;
  }
  return *known(root);
}

IrValue ExpressionEmitter::write_axis(AxisId axis) {
  const IrValue& first = state_.axes.at(axis);
  if (axis != state_.lane_axis) return first;
  IrType type = ir_i64.with_lanes(state_.lanes);
  return writer_.binary("add nsw", writer_.splat(first, state_.lanes), IrWriter::lane_numbers(type),
                        first.text.substr(1) + ".lanes");
}

IrValue ExpressionEmitter::write_node(ExpressionId id) {
  const Expression& node = arena_[id];
  switch (node.op) {
    case Op::constant:
      return constant_value(writer_, node);
    case Op::dim:
      return frame_.dim(dsl::DimId{node.index});
    case Op::scalar: {
      dsl::ScalarId scalar{node.index};
      return from_storage(writer_, frame_.scalar(scalar), frame_.graph()[scalar].dtype);
    }
    case Op::axis:
      return write_axis(AxisId{node.index});
    case Op::read:
      return write_read(id);
    case Op::reduce:
      return node.operands.size() > 1 ? write_nth(id) : write_reduction(id);
    case Op::cast:
      return cast_value(writer_, *known(node.operands[0]), arena_[node.operands[0]].type, node.target);
    case Op::bitcast: {
      IrValue operand = *known(node.operands[0]);
      IrType type = compute_ir_type(node.target).with_lanes(operand.type.lanes);
      return operand.type == type ? operand : writer_.cast("bitcast", operand, type);
    }
    default:
      break;
  }
  if (is_lazy(id)) return write_lazy(id);
  std::vector<IrValue> operands;
  int lanes = 1;
  for (ExpressionId operand : node.operands) {
    operands.push_back(*known(operand));
    lanes = std::max(lanes, operands.back().type.lanes);
  }
  for (IrValue& operand : operands) operand = writer_.splat(operand, lanes);
  return operation(writer_, node.op, arena_[node.operands[node.op == Op::where ? 1 : 0]].type, operands);
}

IrValue ExpressionEmitter::write_lazy(ExpressionId id) {
  const Expression& node = arena_[id];
  auto side = [&](ExpressionId operand) {
    State before = state_;
    IrWriter::Values values = {evaluate(operand)};
    state_ = std::move(before);
    return values;
  };
  IrValue condition = *known(node.operands[0]);
  IrWriter::Values decided = {IrWriter::integer(node.op == Op::logical_or ? 1 : 0, ir_i1)};
  auto then = [&] { return node.op == Op::logical_or ? decided : side(node.operands[1]); };
  auto otherwise = [&] {
    if (node.op == Op::logical_and) return decided;
    return side(node.operands[node.op == Op::where ? 2 : 1]);
  };
  return writer_.if_else(condition, then, otherwise)[0];
}

/// Nested loops over the axes, carrying the reduction; the outermost axis is the first.
IrValue ExpressionEmitter::write_reduction(ExpressionId id) {
  const Expression& node = arena_[id];
  ExpressionId body = node.operands[0];
  ReductionEmitter reduction(writer_, node.reduction, arena_[body].type);
  bool varies = state_.lanes > 1 && depends_on(arena_, id, state_.lane_axis);
  int lanes = varies ? state_.lanes : 1;
  const Expression& inner = arena_[body];
  bool is_product = node.reduction == dsl::Reduction::sum && inner.op == Op::multiply;
  State before = state_;
  std::function<IrWriter::Values(std::size_t, const IrWriter::Values&)> nest =
      [&](std::size_t depth, const IrWriter::Values& carried) -> IrWriter::Values {
    if (depth == node.axes.size()) {
      if (is_product)
        return reduction.combine_product(carried, writer_.splat(evaluate(inner.operands[0]), lanes),
                                         writer_.splat(evaluate(inner.operands[1]), lanes));
      IrValue place =
          reduction.has_position() ? writer_.splat(state_.axes.at(node.axes.back()), lanes) : IrValue{};
      return reduction.combine(carried, writer_.splat(evaluate(body), lanes), place);
    }
    AxisId axis = node.axes[depth];
    hoist_reductions(body);
    IrValue from = low(axis), to = high(axis);
    return writer_.loop(arena_[axis].name, from, to, IrWriter::integer(1), carried,
                        [&](const IrValue& index, const IrWriter::Values& inside) {
                          State outer = state_;
                          set_axis(axis, index);
                          IrWriter::Values next = nest(depth + 1, inside);
                          state_ = std::move(outer);
                          return next;
                        });
  };
  IrWriter::Values carried = nest(0, reduction.identity(lanes));
  state_ = std::move(before);
  return ReductionEmitter::result(carried);
}

/// Of all elements the one that exactly nth others precede; where there is none, what an empty range gives.
/// Quadratic, and it needs no memory.
IrValue ExpressionEmitter::write_nth(ExpressionId id) {
  const Expression& node = arena_[id];
  ExpressionId body = node.operands[0];
  AxisId axis = node.axes[0];
  int lanes = state_.lanes > 1 && depends_on(arena_, id, state_.lane_axis) ? state_.lanes : 1;
  IrType i64 = ir_i64.with_lanes(lanes);
  ReductionEmitter reduction(writer_, node.reduction, arena_[body].type);
  IrValue nth = writer_.splat(index_value(node.operands[1], lanes > 1), lanes);
  IrValue from = low(axis), to = high(axis), one = IrWriter::integer(1);
  auto element_at = [&](const IrValue& index) {
    State outer = state_;
    set_axis(axis, index);
    IrWriter::Values element = {writer_.splat(evaluate(body), lanes), writer_.splat(index, lanes)};
    state_ = std::move(outer);
    return element;
  };
  IrWriter::Values found = {reduction.identity(lanes)[0], writer_.integers(-1, i64)};
  found = writer_.loop(
      arena_[axis].name, from, to, one, found, [&](const IrValue& index, const IrWriter::Values& carried) {
        IrWriter::Values candidate = element_at(index);
        IrValue rank =
            writer_.loop(arena_[axis].name + ".other", from, to, one, {IrWriter::zero(i64)},
                         [&](const IrValue& other, const IrWriter::Values& count) -> IrWriter::Values {
                           IrValue ahead = reduction.precedes(element_at(other), candidate);
                           return {writer_.binary("add", count[0], writer_.cast("zext", ahead, i64), "rank")};
                         })[0];
        IrValue is_it = writer_.compare("eq", rank, nth, "is.nth");
        return IrWriter::Values{writer_.select(is_it, candidate[0], carried[0]),
                                writer_.select(is_it, candidate[1], carried[1])};
      });
  return found[reduction.has_position() ? 1 : 0];
}

bool may_be_lane_axis(const dsl::ExpressionArena& arena, ExpressionId root, AxisId axis) {
  bool allowed = true;
  dsl::visit_nodes(arena, root, [&](ExpressionId id) {
    const Expression& node = arena[id];
    if (node.op != Op::reduce) return;
    for (AxisId reduced : node.axes)
      allowed = allowed && !depends_on(arena, arena[reduced].low, axis) &&
                !depends_on(arena, arena[reduced].high, axis);
  });
  return allowed;
}

}  // namespace einkern::codegen::cpu
