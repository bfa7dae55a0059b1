#include "runtime/cuda/tensor_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace einkern::runtime::cuda {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;

/// The copy engine moves bits; the type says how many, and in floats what a sum-reducing store would add.
TensorMapType type_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::u8:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return tensor_map_u8;
    case DType::i16:
    case DType::u16:
      return tensor_map_u16;
    case DType::u32:
      return tensor_map_u32;
    case DType::i32:
      return tensor_map_i32;
    case DType::u64:
      return tensor_map_u64;
    case DType::i64:
      return tensor_map_i64;
    case DType::f16:
      return tensor_map_f16;
    case DType::bf16:
      return tensor_map_bf16;
    case DType::f32:
      return tensor_map_f32;
    case DType::f64:
      return tensor_map_f64;
  }
  return tensor_map_u8;
}

TensorMapSwizzle swizzle_of(core::Swizzle swizzle) {
  switch (swizzle) {
    case core::Swizzle::none:
      return swizzle_none;
    case core::Swizzle::span_32:
      return swizzle_32;
    case core::Swizzle::span_64:
      return swizzle_64;
    case core::Swizzle::span_128:
      return swizzle_128;
  }
  return swizzle_none;
}

TensorMapPromotion promotion_of(core::L2Promotion promotion) {
  switch (promotion) {
    case core::L2Promotion::none:
      return promotion_none;
    case core::L2Promotion::bytes_64:
      return promotion_64;
    case core::L2Promotion::bytes_128:
      return promotion_128;
    case core::L2Promotion::bytes_256:
      return promotion_256;
  }
  return promotion_none;
}

}  // namespace

Result<void> encode_tensor_map(const Driver& driver, const ResolvedTensorMap& map, Address buffer,
                               std::uint64_t* words) {
  if (map.empty) {
    std::fill_n(words, core::tensor_map_words, 0);
    return {};
  }
  const Address address = buffer + map.byte_offset;
  if (address % tensor_map_unit != 0)
    return Error{
        ErrorKind::device,
        fmt::format("The GPU's copy engine cannot address the tensor '{}': it begins at {:#x}, which "
                    "must be a multiple of {} bytes. Take a schedule without tensor maps, or a "
                    "tensor that begins elsewhere.",
                    map.tensor, address, tensor_map_unit)};
  const Status status = driver.tensor_map_encode(
      reinterpret_cast<TensorMap*>(words), type_of(map.dtype), map.dims, reinterpret_cast<void*>(address),
      map.sizes.data(), map.byte_strides.data(), map.box.data(), map.element_strides.data(), interleave_none,
      swizzle_of(map.swizzle), promotion_of(map.promotion), fill_zeros);
  if (status == success) return {};
  const std::size_t dims = map.dims;
  return driver.error(
      status, fmt::format("making a tensor map of '{}' at {:#x} (from the innermost dim: sizes {}, strides "
                          "{} bytes, box {})",
                          map.tensor, address, fmt::join(std::span(map.sizes).first(dims), " x "),
                          fmt::join(std::span(map.byte_strides).first(dims - 1), ", "),
                          fmt::join(std::span(map.box).first(dims), " x ")));
}

}  // namespace einkern::runtime::cuda
