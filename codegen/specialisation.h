// What of one call is baked into a kernel's source: layouts, alignment, divisor classes, index width. Part of
// every key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace einkern::codegen {

/// Where a caller's tensor lies: strides in elements (0: broadcast; negative allowed), address modulo 16.
struct TensorPlacement {
  std::vector<std::int64_t> strides;  // by dimension; empty: dense row-major
  int address_modulo_16 = 0;
};

/// What the emitted code may assume of a tensor.
struct TensorLayout {
  int unit_axis = -1;  // the dimension of stride 1; -1: none
  bool dense = true;   // row-major without gaps: strides follow from the shape
  int alignment =
      16;  // bytes, a power of two up to 16, of every row along unit_axis (base and other strides included)
  bool forward = true;  // every stride is positive: nothing is broadcast or walked backwards
};

struct Specialisation {
  std::vector<TensorLayout> tensors;  // by TensorId of the plan's graph
  std::vector<int> dim_divisor;  // by DimId: the largest of 1, 2, 4, 8, 16 that divides the dim (16 for 0)
  std::vector<std::optional<std::int64_t>> baked;  // by DimId: dims fixed in the source
  int index_bits =
      64;  // 32 where every i64 expression, element offset and number of iterations is proven to fit i32

  /// Canonical text, part of kernel keys and tuning records.
  std::string text(const dsl::Function& graph) const;
};

/// The specialisation of one call. `placements` by TensorId; tensors beyond its end (temporaries) are dense
/// and aligned.
Specialisation specialise(const Plan& plan, const dsl::Binding& binding,
                          const std::vector<TensorPlacement>& placements);

/// Name of a tensor's stride as a launch-plan symbol, such as "x.stride.0"; in elements. The engine gives a
/// value to these symbols for every tensor, to every dim by its name, and to "sm_count".
std::string stride_symbol(const dsl::Tensor& tensor, int dimension);

}  // namespace einkern::codegen
