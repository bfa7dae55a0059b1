// Several axes of a kernel run through as one index.
#pragma once

#include <vector>

#include "codegen/cpu/expression_emitter.h"
#include "codegen/cpu/kernel_module.h"

namespace einkern::codegen::cpu {

/// Axes in order, the last varying fastest. Neighbours that every read and store addresses as one dense range
/// are merged into a run: inside a run the last axis stands for the index in the run and the others stay at
/// 0, since dense strides do the rest.
class AxisGroup {
 public:
  /// `values` are the expressions in which the axes occur, `stores` the stores over them.
  AxisGroup(const KernelContext& context, const std::vector<AxisId>& axes,
            const std::vector<ExpressionId>& values, const std::vector<Store>& stores);

  /// Whether all bounds are over dims, so that there is a size().
  bool is_computed() const { return computed_; }
  /// Number of points.
  core::SizeExpression size() const;
  /// The axis that moves fastest; invalid if the group is empty.
  AxisId innermost() const { return runs_.empty() ? AxisId{} : runs_.back().back(); }
  bool is_single_run() const { return runs_.size() == 1; }
  /// Whether `lanes` consecutive points from a multiple of `lanes` on always lie in one run of the innermost
  /// axis.
  bool keeps_lanes_together(int lanes) const;

  /// Gives the axes their values at a point (i64), from 0.
  void set(ExpressionEmitter& emitter, const IrValue& index) const;
  /// The same for `lanes` consecutive points, which must lie in one run.
  void set_lanes(ExpressionEmitter& emitter, const IrValue& first, int lanes) const;

 private:
  core::SizeExpression run_size(const std::vector<AxisId>& run) const;

  const KernelContext& context_;
  std::vector<std::vector<AxisId>> runs_;
  bool computed_ = true;
};

}  // namespace einkern::codegen::cpu
