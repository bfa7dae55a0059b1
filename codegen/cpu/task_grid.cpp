#include "codegen/cpu/task_grid.h"

#include <algorithm>

namespace einkern::codegen::cpu {
namespace {

// Waking a thread costs 5-50 µs; a core does one or two simple operations on an element in a nanosecond.
constexpr std::int64_t least_operations_of_thread = 32768;

core::SizeExpression blocks_of(const KernelContext& context, const TaskGrid& grid, AxisId axis) {
  core::SizeExpression extent = *extent_size(context, axis);
  auto block = grid.blocks.find(axis);
  return block == grid.blocks.end() ? extent : core::ceil_divide(extent, block->second);
}

}  // namespace

core::SizeExpression task_count(const KernelContext& context, const TaskGrid& grid) {
  core::SizeExpression count = 1;
  for (AxisId axis : grid.axes) count = count * blocks_of(context, grid, axis);
  return count;
}

void for_each_task(EntryFrame& frame, const TaskGrid& grid,
                   const std::function<void(const TaskPoint&)>& body) {
  IrWriter& writer = frame.writer();
  const dsl::ExpressionArena& arena = frame.graph().arena;
  writer.loop("task", frame.begin(), frame.end(), IrWriter::integer(1), [&](const IrValue& task) {
    TaskPoint point;
    IrValue rest = task;
    for (std::size_t i = grid.axes.size(); i-- > 0;) {
      AxisId axis = grid.axes[i];
      std::string name = arena[axis].name;
      IrValue index = rest;
      if (i > 0) {
        // Both are at least 1 here: the loop runs only if there are tasks.
        IrValue count = frame.size(blocks_of(frame.context(), grid, axis), name + ".count");
        index = writer.binary("urem", rest, count, name);
        rest = writer.binary("udiv", rest, count, "rest");
      }
      IrValue low = frame.size(*size_of(frame.context(), arena[axis].low), name + ".low");
      auto block = grid.blocks.find(axis);
      if (block != grid.blocks.end()) {
        IrValue size = frame.size(block->second, name + ".block");
        IrValue high = frame.size(*size_of(frame.context(), arena[axis].high), name + ".high");
        index = writer.multiply(index, size, name + ".first");
        point.ends[axis] = writer.minimum(writer.add(writer.add(index, size), low), high, name + ".end");
      }
      point.values[axis] = writer.add(index, low, name);
    }
    body(point);
  });
}

void for_each_vector(IrWriter& writer, std::string_view name, const IrValue& from, const IrValue& to,
                     int lanes, int unroll,
                     const std::function<void(const IrValue& first, int lanes)>& body) {
  IrValue begin = from;
  for (int vectors : {unroll, 1}) {
    if (lanes * vectors == 1 || (vectors == 1 && unroll == 1 && begin.text != from.text)) continue;
    IrValue whole =
        writer.binary("and", writer.subtract(to, begin), IrWriter::integer(-lanes * vectors), "whole");
    IrValue end = writer.add(begin, whole, "vectors.end");
    writer.loop(name, begin, end, IrWriter::integer(lanes * vectors), [&](const IrValue& first) {
      for (int v = 0; v < vectors; ++v) body(writer.add(first, IrWriter::integer(v * lanes), name), lanes);
    });
    begin = end;
  }
  writer.loop(name, begin, to, IrWriter::integer(1), [&](const IrValue& first) { body(first, 1); });
}

core::SizeExpression grain_for(const core::SizeExpression& operations_of_task) {
  return core::ceil_divide(least_operations_of_thread, core::maximum(operations_of_task, 1));
}

}  // namespace einkern::codegen::cpu
