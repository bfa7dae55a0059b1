// A tensor map with its sizes evaluated: all that a launch must add is the tensor's address.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/result.h"
#include "core/size_expression.h"
#include "core/tensor_map.h"

namespace einkern::runtime {

struct ResolvedTensorMap {
  int slot = 0;        // where its words begin in the template, a multiple of 64 bytes
  std::string tensor;  // for messages
  int buffer = 0;
  std::uint64_t byte_offset = 0;
  DType dtype = DType::bf16;
  std::uint32_t dims = 0;
  bool empty = false;  // a dim is 0: the words stay 0
  std::array<std::uint64_t, core::most_tensor_map_dims> sizes{};
  std::array<std::uint64_t, core::most_tensor_map_dims - 1> byte_strides{};  // of dims 1 and up
  std::array<std::uint32_t, core::most_tensor_map_dims> box{}, element_strides{};
  core::Swizzle swizzle = core::Swizzle::none;
  core::L2Promotion promotion = core::L2Promotion::none;
};

/// A tensor map's address must be a multiple of so many bytes, and so must its strides.
inline constexpr std::uint64_t tensor_map_unit = 16;

/// Evaluates sizes and strides. A device error names the tensor, the value and the rule that it breaks.
core::Result<ResolvedTensorMap> resolve(const core::TensorMapArgument& map, const std::string& tensor,
                                        const core::SymbolValues& symbols);

}  // namespace einkern::runtime
