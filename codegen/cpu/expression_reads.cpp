// Reads and stores of tensors: the part of ExpressionEmitter that knows layouts.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/conversions.h"
#include "codegen/cpu/expression_emitter.h"
#include "codegen/cpu/operations.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {

using dsl::Expression;
using dsl::Guard;
using dsl::Op;

namespace {

std::size_t rank_of(const Expression& read) {
  return read.operands.size() - (read.guard == Guard::alternative ? 1 : 0);
}

/// Vectors of halves are moved as integers: not every version of LLVM can select masked forms of them.
IrType movable(IrType type) { return type.kind == IrType::Kind::half ? ir_i16.with_lanes(type.lanes) : type; }

IrValue as_type(IrWriter& writer, const IrValue& value, IrType type) {
  return value.type == type ? value : writer.cast("bitcast", value, type);
}

}  // namespace

/// An index of any integer type as i64.
IrValue ExpressionEmitter::index_value(ExpressionId index, bool all_lanes) {
  IrValue value = all_lanes ? evaluate(index) : first_lane_value(index);
  return cast_value(writer_, value, arena_[index].type, DType::i64);
}

IrValue ExpressionEmitter::offset_of(TensorId tensor, const std::vector<IrValue>& indices) {
  int lanes = 1;
  for (const IrValue& index : indices) lanes = std::max(lanes, index.type.lanes);
  IrValue offset = writer_.splat(IrWriter::integer(0), lanes);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    IrValue stride = frame_.stride(tensor, static_cast<int>(d));
    if (lanes == 1) {
      offset = writer_.add(offset, writer_.multiply(indices[d], stride), "offset");
    } else {
      IrValue moved =
          writer_.binary("mul nsw", writer_.splat(indices[d], lanes), writer_.splat(stride, lanes));
      offset = writer_.binary("add nsw", offset, moved, "offset");
    }
  }
  return offset;
}

/// Whether every index is from 0 up to its extent: one unsigned comparison each, as extents are not negative.
IrValue ExpressionEmitter::inside(TensorId tensor, const std::vector<IrValue>& indices) {
  int lanes = 1;
  for (const IrValue& index : indices) lanes = std::max(lanes, index.type.lanes);
  IrValue all = writer_.integers(1, ir_i1.with_lanes(lanes));
  for (std::size_t d = 0; d < indices.size(); ++d) {
    IrValue extent = writer_.splat(frame_.extent(tensor, static_cast<int>(d)), indices[d].type.lanes);
    IrValue one = writer_.splat(writer_.compare("ult", indices[d], extent, "inside"), lanes);
    all = d == 0 ? one : writer_.binary("and", all, one, "inside");
  }
  return all;
}

IrValue ExpressionEmitter::load_element(TensorId tensor, IrType type, const IrValue& address) {
  return frame_.is_constant(tensor) ? writer_.load_constant(type, address, type.scalar_bytes())
                                    : writer_.load(type, address, type.scalar_bytes());
}

IrValue ExpressionEmitter::write_read(ExpressionId id) {
  const Expression& node = arena_[id];
  if (state_.lanes == 1) return read_point(id);
  TensorId tensor{node.index};
  Movement moves = movement(arena_, id, state_.lane_axis, frame_.layout(tensor));
  bool same = moves == Movement::none && (node.guard != Guard::alternative ||
                                          !depends_on(arena_, node.operands.back(), state_.lane_axis));
  if (same) return first_lane_value(id);
  if (moves == Movement::unit) return read_contiguous(id);
  if (moves == Movement::strided && node.guard == Guard::proven) return read_strided(id);
  return read_scattered(id);
}

/// One element. A guarded one is behind a branch, so that nothing outside is touched.
IrValue ExpressionEmitter::read_point(ExpressionId id) {
  const Expression& node = arena_[id];
  TensorId tensor{node.index};
  DType dtype = frame_.graph()[tensor].dtype;
  IrType stored = storage_ir_type(dtype);
  std::vector<IrValue> indices;
  for (std::size_t d = 0; d < rank_of(node); ++d) indices.push_back(index_value(node.operands[d], true));
  auto load = [&] {
    IrValue address = writer_.element(frame_.tensor(tensor), offset_of(tensor, indices), stored);
    return from_storage(writer_, load_element(tensor, stored, address), dtype);
  };
  if (node.guard == Guard::proven || indices.empty()) return load();
  IrValue otherwise = node.guard == Guard::alternative ? evaluate(node.operands.back())
                                                       : IrWriter::zero(compute_ir_type(node.type));
  return writer_.if_else(
      inside(tensor, indices), [&] { return IrWriter::Values{load()}; },
      [&] { return IrWriter::Values{otherwise}; })[0];
}

/// Neighbouring elements: one vector load, masked if guarded.
IrValue ExpressionEmitter::read_contiguous(ExpressionId id) {
  const Expression& node = arena_[id];
  TensorId tensor{node.index};
  DType dtype = frame_.graph()[tensor].dtype;
  IrType stored = storage_ir_type(dtype).with_lanes(state_.lanes);
  std::vector<IrValue> first, all;
  for (std::size_t d = 0; d < rank_of(node); ++d) {
    first.push_back(index_value(node.operands[d], false));
    if (node.guard != Guard::proven) all.push_back(index_value(node.operands[d], true));
  }
  IrValue address = writer_.element(frame_.tensor(tensor), offset_of(tensor, first), stored.scalar());
  if (node.guard == Guard::proven) return from_storage(writer_, load_element(tensor, stored, address), dtype);
  IrType type = movable(stored);
  IrValue mask = inside(tensor, all);
  IrValue loaded =
      writer_.call(fmt::format("llvm.masked.load.{}.p0", type.suffix()), type,
                   {address, IrWriter::integer(type.scalar_bytes(), ir_i32), mask, IrWriter::zero(type)});
  IrValue value = from_storage(writer_, as_type(writer_, loaded, stored), dtype);
  return node.guard == Guard::gather ? value : writer_.select(mask, value, lanes_value(node.operands.back()));
}

/// Elements a constant distance apart: one scalar load a lane.
IrValue ExpressionEmitter::read_strided(ExpressionId id) {
  const Expression& node = arena_[id];
  TensorId tensor{node.index};
  DType dtype = frame_.graph()[tensor].dtype;
  IrType stored = storage_ir_type(dtype);
  std::vector<IrValue> first;
  IrValue step = IrWriter::integer(0);
  for (std::size_t d = 0; d < rank_of(node); ++d) {
    first.push_back(index_value(node.operands[d], false));
    std::int64_t coefficient = axis_coefficient(arena_, node.operands[d], state_.lane_axis).value_or(0);
    IrValue moved =
        writer_.multiply(IrWriter::integer(coefficient), frame_.stride(tensor, static_cast<int>(d)), "step");
    step = writer_.add(step, moved, "step");
  }
  IrValue address = writer_.element(frame_.tensor(tensor), offset_of(tensor, first), stored);
  IrValue result = IrWriter::undefined(stored.with_lanes(state_.lanes));
  for (int lane = 0; lane < state_.lanes; ++lane) {
    IrValue at = writer_.element(address, writer_.multiply(step, IrWriter::integer(lane)), stored);
    result = writer_.insert(result, load_element(tensor, stored, at), lane);
  }
  return from_storage(writer_, result, dtype);
}

/// Elements anywhere: a gather under a mask.
IrValue ExpressionEmitter::read_scattered(ExpressionId id) {
  const Expression& node = arena_[id];
  TensorId tensor{node.index};
  DType dtype = frame_.graph()[tensor].dtype;
  IrType stored = storage_ir_type(dtype).with_lanes(state_.lanes), type = movable(stored);
  std::vector<IrValue> indices;
  for (std::size_t d = 0; d < rank_of(node); ++d) indices.push_back(index_value(node.operands[d], true));
  IrValue mask = node.guard == Guard::proven ? writer_.integers(1, ir_i1.with_lanes(state_.lanes))
                                             : writer_.splat(inside(tensor, indices), state_.lanes);
  IrValue offset = writer_.splat(offset_of(tensor, indices), state_.lanes);
  IrValue addresses = writer_.element(frame_.tensor(tensor), offset, type.scalar());
  IrValue loaded =
      writer_.call(fmt::format("llvm.masked.gather.{}.{}", type.suffix(), addresses.type.suffix()), type,
                   {addresses, IrWriter::integer(type.scalar_bytes(), ir_i32), mask, IrWriter::zero(type)});
  IrValue value = from_storage(writer_, as_type(writer_, loaded, stored), dtype);
  if (node.guard != Guard::alternative) return value;
  return writer_.select(mask, value, lanes_value(node.operands.back()));
}

void ExpressionEmitter::store(const Store& store) {
  if (store.update) return store_update(store);
  const dsl::Tensor& target = frame_.graph()[store.target];
  IrType stored = storage_ir_type(target.dtype);
  std::vector<IrValue> indices;
  int lane_dimension = -1;
  for (std::size_t d = 0; d < store.axes.size(); ++d) {
    indices.push_back(state_.axes.at(store.axes[d]));
    if (state_.lanes > 1 && store.axes[d] == state_.lane_axis) lane_dimension = static_cast<int>(d);
  }
  IrValue address =
      writer_.element(frame_.tensor(store.target), offset_of(store.target, indices), stored, "to");
  IrValue value = lane_dimension < 0 ? first_lane_value(store.value) : lanes_value(store.value);
  value = to_storage(writer_, value, arena_[store.value].type, target.dtype);
  if (lane_dimension < 0 || frame_.layout(store.target).unit_axis == lane_dimension)
    return writer_.store(value, address, stored.scalar_bytes());
  IrValue stride = frame_.stride(store.target, lane_dimension);
  for (int lane = 0; lane < state_.lanes; ++lane) {
    IrValue at = writer_.element(address, writer_.multiply(stride, IrWriter::integer(lane)), stored, "to");
    writer_.store(writer_.extract(value, lane), at, stored.scalar_bytes());
  }
}

/// One update: read, combine, write; outside writes are dropped. Its lanes could collide, so it runs point by
/// point.
void ExpressionEmitter::store_update(const Store& store) {
  const dsl::Tensor& target = frame_.graph()[store.target];
  DType compute = core::compute_type(target.dtype);
  IrType stored = storage_ir_type(target.dtype);
  std::vector<IrValue> indices;
  for (ExpressionId index : store.indices) indices.push_back(index_value(index, true));
  IrValue value = cast_value(writer_, evaluate(store.value), arena_[store.value].type, compute);
  IrValue base = frame_.tensor(store.target);
  auto write = [&] {
    IrValue address = writer_.element(base, offset_of(store.target, indices), stored, "to");
    IrValue next = value;
    if (*store.update != dsl::UpdateOperator::assign) {
      Op op = *store.update == dsl::UpdateOperator::add       ? Op::add
              : *store.update == dsl::UpdateOperator::maximum ? Op::maximum
                                                              : Op::minimum;
      IrValue old =
          from_storage(writer_, writer_.load(stored, address, stored.scalar_bytes(), "old"), target.dtype);
      next = operation(writer_, op, compute, {old, value});
    }
    writer_.store(to_storage(writer_, next, compute, target.dtype), address, stored.scalar_bytes());
  };
  if (indices.empty()) return write();
  writer_.if_then(inside(store.target, indices), write);
}

}  // namespace einkern::codegen::cpu
