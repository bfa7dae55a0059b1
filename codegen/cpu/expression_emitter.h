// Expressions of the program as LLVM IR, one point at a time or several neighbouring points in the lanes of a
// vector.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/cpu/ir_writer.h"
#include "codegen/cpu/kernel_module.h"
#include "codegen/plan/plan.h"

namespace einkern::codegen::cpu {

/// Writes values of expressions at the current point: every free axis has been given a value. One axis may
/// stand for `lanes` consecutive values; what depends on it comes out as a vector, everything else as a
/// scalar. What was written once is used again as long as the point stays.
class ExpressionEmitter {
 public:
  explicit ExpressionEmitter(EntryFrame& frame);

  /// The axis has this one value (i64).
  void set_axis(AxisId axis, const IrValue& value);
  /// The axis has the values first, first + 1, … in `lanes` lanes; 1 lane is the same as set_axis.
  void set_lane_axis(AxisId axis, const IrValue& first, int lanes);
  /// The value of a node, computed elsewhere: a fold's result or an accumulator. Scalar, or a vector of the
  /// lanes.
  void set_value(ExpressionId node, const IrValue& value);

  /// The value in the node's compute type (ir type of it); a scalar if it is the same in all lanes.
  IrValue value(ExpressionId id);
  /// The value in all lanes.
  IrValue lanes_value(ExpressionId id);
  /// The value in the first lane.
  IrValue first_lane_value(ExpressionId id);
  /// Computes every reduction below the node that depends on no axis without a value, so that it is not
  /// computed again at each point of a loop that is about to begin.
  void hoist_reductions(ExpressionId below);
  /// A bound or another i64 expression.
  IrValue low(AxisId axis);
  IrValue high(AxisId axis);
  int lanes() const { return state_.lanes; }

  /// Writes the store at the current point: all lanes, or the one point.
  void store(const Store& store);

  /// Everything known at this point. Values written inside a loop or a branch are not known after it, so
  /// callers keep the state before and put it back.
  struct State {
    std::map<AxisId, IrValue> axes;  // of the lane axis the first value
    AxisId lane_axis;
    int lanes = 1;
    std::map<ExpressionId, IrValue> values, first_values;
  };
  const State& state() const { return state_; }
  void restore(State state) { state_ = std::move(state); }

  EntryFrame& frame() { return frame_; }
  IrWriter& writer() { return writer_; }

 private:
  bool is_lazy(ExpressionId id) const;
  IrValue evaluate(ExpressionId root);
  IrValue write_node(ExpressionId id);
  IrValue write_lazy(ExpressionId id);
  IrValue write_reduction(ExpressionId id);
  IrValue write_nth(ExpressionId id);
  IrValue write_axis(AxisId axis);
  std::optional<IrValue> known(ExpressionId id) const;

  // reads (expression_reads.cpp)
  IrValue write_read(ExpressionId id);
  IrValue read_point(ExpressionId id);
  IrValue read_contiguous(ExpressionId id);
  IrValue read_strided(ExpressionId id);
  IrValue read_scattered(ExpressionId id);
  IrValue index_value(ExpressionId index, bool all_lanes);
  IrValue offset_of(TensorId tensor, const std::vector<IrValue>& indices);
  IrValue inside(TensorId tensor, const std::vector<IrValue>& indices);
  IrValue load_element(TensorId tensor, IrType type, const IrValue& address);
  void store_update(const Store& store);

  EntryFrame& frame_;
  IrWriter& writer_;
  const dsl::ExpressionArena& arena_;
  std::vector<bool> holds_reduction_;  // by ExpressionId
  State state_;
  bool in_first_lane_ = false;  // values and first_values are swapped
};

/// Whether all reductions below `root` have bounds that do not depend on `axis`, so that it may be a lane
/// axis.
bool may_be_lane_axis(const dsl::ExpressionArena& arena, ExpressionId root, AxisId axis);

}  // namespace einkern::codegen::cpu
