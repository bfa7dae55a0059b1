// The element types. The one vocabulary header that the face and every floor share.
#pragma once

#include <cstdint>

namespace einkern {

/// Element type of a tensor or scalar. f8, f16, bf16, i8, i16, u8 and u16 are storage types: a read gives f32
/// or i32, a store rounds (docs/semantics.md).
enum class DType : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f8e4m3,
  f8e5m2,
  f16,
  bf16,
  f32,
  f64
};

inline constexpr DType boolean = DType::boolean;
inline constexpr DType i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64;
inline constexpr DType u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64;
inline constexpr DType f8e4m3 = DType::f8e4m3, f8e5m2 = DType::f8e5m2, f16 = DType::f16, bf16 = DType::bf16;
inline constexpr DType f32 = DType::f32, f64 = DType::f64;

}  // namespace einkern
