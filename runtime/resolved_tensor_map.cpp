#include "runtime/resolved_tensor_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace einkern::runtime {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;

// Limits of cuTensorMapEncodeTiled.
constexpr std::int64_t largest_size = std::int64_t{1} << 32;
constexpr std::int64_t stride_limit = std::int64_t{1} << 40;
/// Strides from which on reads of 256 bytes pay; see core::L2Promotion.
constexpr std::uint64_t line_bytes = 128;

/// The stride of a dim in which there is but one element does not matter to the caller, and views give any
/// value; the driver wants a sound one: the extent of the dim below.
std::uint64_t packed_stride(const ResolvedTensorMap& map, std::size_t dim) {
  const std::uint64_t below =
      dim == 1 ? static_cast<std::uint64_t>(core::size_bytes(map.dtype)) : map.byte_strides[dim - 2];
  constexpr std::uint64_t largest = stride_limit - tensor_map_unit;
  if (below > largest / map.sizes[dim - 1]) return largest;
  return (below * map.sizes[dim - 1] + tensor_map_unit - 1) / tensor_map_unit * tensor_map_unit;
}

core::L2Promotion promotion_of(const ResolvedTensorMap& map, core::L2Promotion wanted) {
  const auto last = map.byte_strides.begin() + map.dims - 1;
  const bool whole_lines = std::all_of(map.byte_strides.begin(), last,
                                       [](std::uint64_t stride) { return stride % line_bytes == 0; });
  return wanted == core::L2Promotion::bytes_256 && !whole_lines ? core::L2Promotion::bytes_128 : wanted;
}

}  // namespace

Result<ResolvedTensorMap> resolve(const core::TensorMapArgument& map, const std::string& tensor,
                                  const core::SymbolValues& symbols) {
  EINKERN_CHECK_OK(core::check_tensor_map(map));
  const auto failure = [&](std::size_t dim, std::string_view what) {
    return Error{ErrorKind::device,
                 fmt::format("The GPU's copy engine cannot address the tensor '{}': dim {} (counted from the "
                             "innermost) {}. Take a schedule without tensor maps, or another layout.",
                             tensor, dim, what)};
  };
  ResolvedTensorMap resolved;
  resolved.tensor = tensor;
  resolved.buffer = map.buffer;
  resolved.dtype = map.dtype;
  resolved.swizzle = map.swizzle;
  resolved.dims = static_cast<std::uint32_t>(map.dims.size());
  EINKERN_TRY(const std::int64_t offset, map.byte_offset.evaluate(symbols));
  resolved.byte_offset = static_cast<std::uint64_t>(offset);
  for (std::size_t i = 0; i < map.dims.size(); ++i) {
    const core::TensorMapDim& dim = map.dims[i];
    EINKERN_TRY(const std::int64_t size, dim.size.evaluate(symbols));
    if (size < 0 || size > largest_size)
      return failure(i, fmt::format("has {} elements, and 0 to 2^32 can be had", size));
    resolved.sizes[i] = static_cast<std::uint64_t>(size);
    resolved.box[i] = dim.box;
    resolved.element_strides[i] = dim.element_stride;
    resolved.empty = resolved.empty || size == 0;
  }
  if (resolved.empty) return resolved;
  for (std::size_t i = 1; i < map.dims.size(); ++i) {
    resolved.byte_strides[i - 1] = packed_stride(resolved, i);
    if (resolved.sizes[i] == 1) continue;
    EINKERN_TRY(const std::int64_t stride, map.dims[i].byte_stride.evaluate(symbols));
    if (stride < 0 || stride >= stride_limit || stride % static_cast<std::int64_t>(tensor_map_unit) != 0)
      return failure(i, fmt::format("has a stride of {} bytes, which must be a multiple of {} from 0 to "
                                    "below 2^40",
                                    stride, tensor_map_unit));
    resolved.byte_strides[i - 1] = static_cast<std::uint64_t>(stride);
  }
  resolved.promotion = promotion_of(resolved, map.promotion);
  return resolved;
}

}  // namespace einkern::runtime
