// What reductions carry through a loop: one value, or the best value and its place; as scalars or lane by
// lane.
#pragma once

#include "codegen/cpu/ir_writer.h"
#include "core/dtype.h"
#include "dsl/expression.h"

namespace einkern::codegen::cpu {

/// One reduction over elements of a compute type.
class ReductionEmitter {
 public:
  using Values = IrWriter::Values;
  ReductionEmitter(IrWriter& writer, dsl::Reduction reduction, DType element)
      : writer_(writer), reduction_(reduction), element_(element) {}

  /// What an empty range gives.
  Values identity(int lanes) const;
  /// With one more element. `position` (i64, same lanes) counts for argmax and argmin only; it must ascend.
  Values combine(const Values& carried, const IrValue& element, const IrValue& position) const;
  /// With one more product of a sum: a float's multiply-add is fused, everywhere and only here.
  Values combine_product(const Values& carried, const IrValue& a, const IrValue& b) const;
  /// Of two disjoint ranges, in any order.
  Values merge(const Values& a, const Values& b) const;
  /// Whether the element a at place a (i64) comes before b at place b in the order of argmax (for max too) or
  /// argmin (min): NaN first, then by value, then by place.
  IrValue precedes(const Values& a, const Values& b) const;
  /// All lanes together, by halves.
  Values across_lanes(Values carried) const;
  /// The reduction's value.
  static IrValue result(const Values& carried) { return carried.back(); }
  bool has_position() const {
    return reduction_ == dsl::Reduction::argmax || reduction_ == dsl::Reduction::argmin;
  }

 private:
  IrValue better(const IrValue& a, const IrValue& b) const;

  IrWriter& writer_;
  dsl::Reduction reduction_;
  DType element_;
};

}  // namespace einkern::codegen::cpu
