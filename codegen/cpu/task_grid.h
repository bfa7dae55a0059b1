// A kernel's points as numbered tasks: some axes are numbered, one of them in blocks.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "codegen/cpu/kernel_module.h"

namespace einkern::codegen::cpu {

/// Tasks over `axes`, the last varying fastest. Of an axis with a block, a task takes that many consecutive
/// values.
struct TaskGrid {
  std::vector<AxisId> axes;
  std::map<AxisId, core::SizeExpression> blocks;
};

/// Number of tasks; 0 if any axis is empty. Every axis must have bounds over dims.
core::SizeExpression task_count(const KernelContext& context, const TaskGrid& grid);

/// What one task stands for: the value of each axis, or the first of its block, and the end of each block
/// (past its last value).
struct TaskPoint {
  std::map<AxisId, IrValue> values, ends;
};

/// Writes the loop over the entry's tasks around `body`.
void for_each_task(EntryFrame& frame, const TaskGrid& grid,
                   const std::function<void(const TaskPoint&)>& body);

/// Writes `body(first, lanes)` for the values [from, to): whole vectors of `lanes`, `unroll` of them a turn,
/// then the rest one by one.
void for_each_vector(IrWriter& writer, std::string_view name, const IrValue& from, const IrValue& to,
                     int lanes, int unroll, const std::function<void(const IrValue& first, int lanes)>& body);

/// Tasks worth a thread when one costs `operations_of_task`: about 20 µs of work.
core::SizeExpression grain_for(const core::SizeExpression& operations_of_task);

}  // namespace einkern::codegen::cpu
