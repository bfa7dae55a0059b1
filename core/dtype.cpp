#include "core/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace einkern::core {
namespace {

enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

/// `fraction_bits` and `minimum_exponent` (of the smallest normal number) describe a binary floating format
/// with a sign bit. f8e4m3 and f8e5m2 are those of the OCP 8-bit floating point specification 1.0 (e4m3
/// without infinities).
struct Traits {
  std::string_view name;
  Kind kind;
  int bytes;
  bool storage;
  DType compute;
  int fraction_bits = 0;
  int minimum_exponent = 0;
  double largest = 0;
  std::uint64_t nan_bits = 0;  // the NaN that a store writes
};

constexpr double two_to_63 = 9223372036854775808.0;

constexpr std::array<Traits, dtype_count> all_traits = {{
    {"bool", Kind::boolean, 1, false, DType::boolean, 0, 0, 1},
    {"i8", Kind::signed_integer, 1, true, DType::i32, 0, 0, 127},
    {"i16", Kind::signed_integer, 2, true, DType::i32, 0, 0, 32767},
    {"i32", Kind::signed_integer, 4, false, DType::i32, 0, 0, 2147483647},
    {"i64", Kind::signed_integer, 8, false, DType::i64, 0, 0, two_to_63},
    {"u8", Kind::unsigned_integer, 1, true, DType::i32, 0, 0, 255},
    {"u16", Kind::unsigned_integer, 2, true, DType::i32, 0, 0, 65535},
    {"u32", Kind::unsigned_integer, 4, false, DType::u32, 0, 0, 4294967295},
    {"u64", Kind::unsigned_integer, 8, false, DType::u64, 0, 0, 2 * two_to_63},
    {"f8e4m3", Kind::floating, 1, true, DType::f32, 3, -6, 448, 0x7f},
    {"f8e5m2", Kind::floating, 1, true, DType::f32, 2, -14, 57344, 0x7f},
    {"f16", Kind::floating, 2, true, DType::f32, 10, -14, 65504, 0x7e00},
    {"bf16", Kind::floating, 2, true, DType::f32, 7, -126, 0x1.fep127, 0x7fc0},
    {"f32", Kind::floating, 4, false, DType::f32, 23, -126, std::numeric_limits<float>::max(), 0x7fc00000},
    {"f64", Kind::floating, 8, false, DType::f64, 52, -1022, std::numeric_limits<double>::max(),
     0x7ff8000000000000},
}};

const Traits& traits(DType type) { return all_traits[static_cast<std::size_t>(type)]; }

bool is_f8(DType type) { return type == DType::f8e4m3 || type == DType::f8e5m2; }

/// Rounds to a multiple of the format's spacing at `value`. Scaling by powers of two is exact in double for
/// every format up to f32, and nearbyint rounds to even, so there is a single rounding.
double round_to_spacing(double value, const Traits& format) {
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int spacing = std::max(exponent - 1, format.minimum_exponent) - format.fraction_bits;
  return std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
}

std::uint64_t mask_of(DType type) {
  return size_bytes(type) == 8 ? ~0ULL : (1ULL << (8 * size_bytes(type))) - 1;
}

std::uint64_t sign_bit(DType type) { return 1ULL << (8 * size_bytes(type) - 1); }

}  // namespace

std::string_view dtype_name(DType type) { return traits(type).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < all_traits.size(); ++i)
    if (all_traits[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

int size_bytes(DType type) { return traits(type).bytes; }
bool is_float(DType type) { return traits(type).kind == Kind::floating; }
bool is_signed(DType type) { return traits(type).kind == Kind::signed_integer; }
bool is_integer(DType type) { return is_signed(type) || traits(type).kind == Kind::unsigned_integer; }
bool is_storage(DType type) { return traits(type).storage; }
DType compute_type(DType type) { return traits(type).compute; }

double epsilon(DType type) { return std::ldexp(1.0, -traits(type).fraction_bits); }
double largest(DType type) { return traits(type).largest; }

double lowest(DType type) {
  if (is_float(type)) return -largest(type);
  return is_signed(type) ? -std::ldexp(1.0, 8 * size_bytes(type) - 1) : 0.0;
}

double round_to(DType type, double value) {
  if (type == DType::f64 || std::isnan(value) || value == 0) return value;
  if (type == DType::f32) return static_cast<double>(static_cast<float>(value));
  const double limit = largest(type);
  if (is_f8(type) && std::abs(value) >= limit) return std::copysign(limit, value);
  if (std::isinf(value)) return value;
  const double rounded = round_to_spacing(value, traits(type));
  if (std::abs(rounded) <= limit) return rounded;
  return std::copysign(is_f8(type) ? limit : std::numeric_limits<double>::infinity(), value);
}

std::uint64_t encode_float(DType type, double value) {
  if (std::isnan(value)) return traits(type).nan_bits | (std::signbit(value) ? sign_bit(type) : 0);
  if (type == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const Traits& format = traits(type);
  const double magnitude = std::abs(round_to(type, value));
  const int exponent_bits = 8 * format.bytes - 1 - format.fraction_bits;
  const std::uint64_t sign = std::signbit(value) ? sign_bit(type) : 0;
  if (std::isinf(magnitude)) return sign | (((1ULL << exponent_bits) - 1) << format.fraction_bits);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, format.minimum_exponent);
  const auto significand = static_cast<std::uint64_t>(
      std::ldexp(magnitude, format.fraction_bits - exponent));  // with its leading one, if normal
  // A subnormal has no leading one and the biased exponent 0; adding the significand carries the leading one
  // into it.
  const auto biased = static_cast<std::uint64_t>(exponent - format.minimum_exponent);
  return sign | ((biased << format.fraction_bits) + significand);
}

double decode_float(DType type, std::uint64_t bits) {
  bits &= mask_of(type);
  if (type == DType::f64) return std::bit_cast<double>(bits);
  if (type == DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const Traits& format = traits(type);
  const bool negative = (bits & sign_bit(type)) != 0;
  const std::uint64_t magnitude = bits & ~sign_bit(type);
  const std::uint64_t exponent = magnitude >> format.fraction_bits;
  const std::uint64_t fraction = magnitude & ((1ULL << format.fraction_bits) - 1);
  const std::uint64_t top_exponent = (sign_bit(type) - 1) >> format.fraction_bits;
  double value = 0;
  if (type == DType::f8e4m3 && magnitude == format.nan_bits) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (type != DType::f8e4m3 && exponent == top_exponent) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(fraction), format.minimum_exponent - format.fraction_bits);
  } else {
    value = std::ldexp(static_cast<double>(fraction | (1ULL << format.fraction_bits)),
                       static_cast<int>(exponent) - 1 + format.minimum_exponent - format.fraction_bits);
  }
  return negative ? -value : value;
}

std::int64_t wrap_integer(DType type, std::int64_t value) {
  if (type == DType::boolean) return value != 0 ? 1 : 0;
  const std::uint64_t low = static_cast<std::uint64_t>(value) & mask_of(type);
  if (is_signed(type) && (low & sign_bit(type)) != 0) return static_cast<std::int64_t>(low | ~mask_of(type));
  return static_cast<std::int64_t>(low);
}

std::int64_t float_to_integer(DType type, double value) {
  if (type == DType::boolean) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  if (whole <= lowest(type))
    return is_signed(type) ? wrap_integer(type, static_cast<std::int64_t>(sign_bit(type))) : 0;
  if (whole >= largest(type)) {
    const std::uint64_t top = is_signed(type) ? sign_bit(type) - 1 : mask_of(type);
    return static_cast<std::int64_t>(top);
  }
  if (whole < two_to_63) return static_cast<std::int64_t>(whole);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(whole));
}

}  // namespace einkern::core
