// The elements of a problem's tensor as its strides lay them out.
#pragma once

#include <cstdint>
#include <vector>

#include "autotune/messages.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {

inline std::int64_t element_count(const ProblemTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

/// Bytes from the first byte of element 0 to the last of the farthest element.
inline std::int64_t span_bytes(const ProblemTensor& tensor) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) last += (tensor.shape[i] - 1) * tensor.strides[i];
  return (last + 1) * core::size_bytes(tensor.dtype);
}

/// Calls `visit(offset)` for every element in row-major order, its place counted in elements.
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

}  // namespace einkern::autotune::worker
