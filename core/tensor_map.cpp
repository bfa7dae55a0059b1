#include "core/tensor_map.h"

#include <fmt/format.h>

namespace einkern::core {
namespace {

constexpr std::uint32_t largest_box = 256, largest_element_stride = 8;
constexpr std::int64_t box_row_unit = 16;  // bytes

Error broken(const std::string& rule) {
  return {ErrorKind::internal, fmt::format("A tensor map cannot be: {}.", rule)};
}

}  // namespace

Result<void> check_tensor_map(const TensorMapArgument& map) {
  if (map.dims.empty() || map.dims.size() > most_tensor_map_dims)
    return broken(fmt::format("it has {} dims and can have 1 to {}", map.dims.size(), most_tensor_map_dims));
  for (std::size_t i = 0; i < map.dims.size(); ++i) {
    const TensorMapDim& dim = map.dims[i];
    if (dim.box < 1 || dim.box > largest_box)
      return broken(
          fmt::format("the box has {} elements in dim {} and can have 1 to {}", dim.box, i, largest_box));
    const std::uint32_t limit = i == 0 ? 1 : largest_element_stride;
    if (dim.element_stride < 1 || dim.element_stride > limit)
      return broken(
          fmt::format("the element stride of dim {} is {} and can be 1 to {}", i, dim.element_stride, limit));
  }
  const std::int64_t row = std::int64_t{map.dims[0].box} * size_bytes(map.dtype);
  if (row % box_row_unit != 0)
    return broken(
        fmt::format("a row of the box has {} bytes, which is no multiple of {}", row, box_row_unit));
  if (const auto span = static_cast<std::int64_t>(map.swizzle); span != 0 && row > span)
    return broken(
        fmt::format("a row of the box has {} bytes, and a swizzle of {} allows {}", row, span, span));
  return {};
}

}  // namespace einkern::core
