// The elements of a problem's tensor as its strides lay them out. Strides may be 0 or negative, and elements
// may share places.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "autotune/element_rule.h"
#include "autotune/messages.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {

inline std::int64_t element_count(const ProblemTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

/// Places of the elements, counted in elements from element 0.
struct Reach {
  std::int64_t lowest = 0, highest = 0;
};
inline Reach reach_of(const ProblemTensor& tensor) {
  Reach reach;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::int64_t farthest = (tensor.shape[i] - 1) * tensor.strides[i];
    (farthest < 0 ? reach.lowest : reach.highest) += farthest;
  }
  return reach;
}

/// Bytes from the first byte of the lowest element to the last of the highest.
inline std::int64_t span_bytes(const ProblemTensor& tensor) {
  const Reach reach = reach_of(tensor);
  return (reach.highest - reach.lowest + 1) * core::size_bytes(tensor.dtype);
}

/// The tensor without the repetitions of a broadcast: the same places.
inline ProblemTensor without_repetitions(ProblemTensor tensor) {
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.strides[i] == 0) tensor.shape[i] = 1;
  return tensor;
}

/// Whether every byte of the span belongs to an element of its own.
inline bool is_gapless(const ProblemTensor& tensor) {
  return span_bytes(tensor) == core::size_bytes(tensor.dtype) * element_count(without_repetitions(tensor));
}

/// Calls `visit(offset)` for every element in row-major order, its place counted in elements from element 0.
template <typename Visit>
void visit_elements(const ProblemTensor& tensor, const Visit& visit) {
  const std::size_t rank = tensor.shape.size();
  if (rank == 0) return visit(std::int64_t{0});
  const std::int64_t columns = tensor.shape[rank - 1], step = tensor.strides[rank - 1];
  const std::int64_t rows = element_count(tensor) / columns;
  std::vector<std::int64_t> position(rank, 0);
  std::int64_t row_offset = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) visit(row_offset + column * step);
    for (std::size_t i = rank - 1; i-- > 0;) {
      row_offset += tensor.strides[i];
      if (++position[i] < tensor.shape[i]) break;
      row_offset -= tensor.shape[i] * tensor.strides[i];
      position[i] = 0;
    }
  }
}

/// How the rule reads a type's bits.
inline ElementFormat element_format(DType dtype) {
  const int bytes = core::size_bytes(dtype);
  if (!core::is_float(dtype)) return {bytes, 0, 0, 0};
  const int mantissa_bits = -std::ilogb(core::epsilon(dtype));
  return {bytes, 8 * bytes - 1 - mantissa_bits, mantissa_bits, dtype == DType::f8e4m3 ? 0 : 1};
}

/// The rule for a tensor whose right elements have that largest magnitude.
inline ElementRule element_rule(const ProblemTensor& tensor, double largest_magnitude, bool sampled) {
  return {element_format(tensor.dtype), tensor.relative, tensor.absolute * largest_magnitude,
          sampled ? 1 : 0};
}

}  // namespace einkern::autotune::worker
