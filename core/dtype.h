// Facts about element types, and the exact conversions between stored bits and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "einkern/dtype.h"

namespace einkern::core {

inline constexpr int dtype_count = 15;

/// The type's name in the language, such as "bf16"; `bool` for DType::boolean.
std::string_view dtype_name(DType type);
std::optional<DType> parse_dtype(std::string_view name);

/// Bytes of one stored element. A bool is one byte, 0 or 1.
int size_bytes(DType type);

bool is_float(DType type);
bool is_integer(DType type);  // not bool
bool is_signed(DType type);   // signed integers only
/// True for the types in which nothing is computed: f8, f16, bf16, i8, i16, u8, u16.
bool is_storage(DType type);
/// The type in which values read from `type` are computed: f32, i32, or `type` itself.
DType compute_type(DType type);

/// Machine epsilon: the distance from 1 to the next number of that float type.
double epsilon(DType type);
/// Largest finite value of a float type, largest value of an integer type (2^63 and above rounded to double).
double largest(DType type);
/// Lowest finite value.
double lowest(DType type);

/// Rounds a double to a float type, to nearest even in one step (no double rounding), and gives the value
/// back. f16 overflows to infinity; f8 saturates at its largest finite value and keeps NaN.
double round_to(DType type, double value);

/// Bits of one stored element holding `value` (rounded as a store rounds), in the low bytes.
std::uint64_t encode_float(DType type, double value);
/// The number that stored bits of a float type stand for.
double decode_float(DType type, std::uint64_t bits);

/// Wraps an integer to an integer type, as a store or integer cast does; the result is sign- or
/// zero-extended.
std::int64_t wrap_integer(DType type, std::int64_t value);

/// Float to integer as a cast does it: truncates, saturates, NaN gives 0. u64 comes back as its two's
/// complement bits.
std::int64_t float_to_integer(DType type, double value);

}  // namespace einkern::core
