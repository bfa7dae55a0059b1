// What emitters and cost models ask of a kernel's reads: how an address moves along an axis, how wide a load
// may be, and how many bytes and operations a kernel costs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/specialisation.h"
#include "dsl/binding.h"

namespace einkern::codegen {

/// Distinct read nodes below `roots` (bounds and bodies of reductions included), operands first.
std::vector<ExpressionId> reads_of(const dsl::ExpressionArena& arena, const std::vector<ExpressionId>& roots);

/// Whether `axis` occurs free in the expression.
bool depends_on(const dsl::ExpressionArena& arena, ExpressionId id, AxisId axis);

/// d(expression)/d(axis) of an integer expression where that is a literal: 0 if it does not depend on the
/// axis, c in `c * axis + rest`; nullopt if it depends on the axis in another way.
std::optional<std::int64_t> axis_coefficient(const dsl::ExpressionArena& arena, ExpressionId id, AxisId axis);

/// How the address of a read moves as an axis steps by one.
enum class Movement {
  none,     // not at all
  unit,     // to the next element: only the dimension of stride 1 moves, by one
  strided,  // by a constant: literal coefficients times strides
  general,  // in another way: a gather, i / 4, symbolic coefficients
};
/// Movement of a read node along an axis, in a tensor laid out so.
Movement movement(const dsl::ExpressionArena& arena, ExpressionId read, AxisId axis,
                  const TensorLayout& layout);

/// Largest power of two (at most 16) that is known to divide an integer expression whenever every axis of
/// `multiples` is a multiple of 16. Other axes, reads and scalars are multiples of 1.
int known_divisor(const dsl::ExpressionArena& arena, ExpressionId id, const std::vector<AxisId>& multiples,
                  const Specialisation& specialisation);

/// Elements (a power of two, at most 16 bytes of them) that one aligned load may fetch at a read that moves
/// by `unit` along `axis`, whenever the axis is a multiple of that number; 1 if it does not move so.
int vector_width(const dsl::Function& graph, ExpressionId read, AxisId axis,
                 const Specialisation& specialisation);
/// The same of a store of unit movement along `axis`, one of Store::axes; 1 for an update.
int vector_width(const dsl::Function& graph, const Store& store, AxisId axis,
                 const Specialisation& specialisation);

/// Shape of any tensor of a plan's graph, temporaries included (Binding::shapes ends before those).
std::vector<std::int64_t> shape_of(const dsl::Function& graph, TensorId tensor, const dsl::Binding& binding);
std::int64_t elements_of(const dsl::Function& graph, TensorId tensor, const dsl::Binding& binding);

/// Greatest number of values an axis takes; 0 if it is empty.
std::int64_t extent_of(const dsl::Function& graph, AxisId axis, const dsl::Binding& binding);
/// Product of extents; saturates.
std::int64_t extent_of(const dsl::Function& graph, const std::vector<AxisId>& axes,
                       const dsl::Binding& binding);

/// Least cost of one launch, for roofline estimates.
struct KernelCost {
  double bytes = 0;  // each tensor read once and written once; of a gathered tensor no more than what is read
  double operations = 0;  // by the costs of ops.def; a multiply-add of a sum counts 2
};
KernelCost kernel_cost(const Plan& plan, const Kernel& kernel, const dsl::Binding& binding);

}  // namespace einkern::codegen
