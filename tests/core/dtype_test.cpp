// Conversions against tables made another way: every code of the narrow formats, every midpoint between two
// codes.
#include "core/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace einkern::core {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

const DType narrow_floats[] = {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16};

/// f16 codes read as f32 codes whose exponent is 112 too small; infinities and NaN come back finite.
double f16_by_shift(std::uint32_t code) {
  const float shifted = std::bit_cast<float>((code & 0x7fff) << 13) * 0x1p112f;
  return code & 0x8000 ? -shifted : shifted;
}

/// The number of a code, from IEEE f32 or from the next wider format whose bits extend it.
double expected_decode(DType type, std::uint32_t code) {
  switch (type) {
    case DType::bf16:
      return std::bit_cast<float>(code << 16);
    case DType::f8e5m2:
      return expected_decode(DType::f16, code << 8);
    case DType::f8e4m3: {
      if ((code & 0x7f) == 0x7f) return nan;
      const std::uint32_t widened = (code & 0x80) << 8 | (code & 0x7f) << 7;
      return f16_by_shift(widened) * 256;  // exponent bias 7 instead of 15
    }
    default: {
      if ((code & 0x7c00) != 0x7c00) return f16_by_shift(code);
      return code & 0x3ff ? nan : (code & 0x8000 ? -infinity : infinity);
    }
  }
}

TEST(DType, DecodesEveryCodeOfEveryNarrowFormat) {
  for (DType type : narrow_floats) {
    for (std::uint32_t code = 0; code < 1u << (8 * size_bytes(type)); ++code) {
      const double expected = expected_decode(type, code), actual = decode_float(type, code);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(actual)) << dtype_name(type) << " code " << code;
      } else {
        ASSERT_EQ(actual, expected) << dtype_name(type) << " code " << code;
        ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << dtype_name(type) << " code " << code;
      }
    }
  }
}

TEST(DType, EncodesEveryCodesNumberAsThatCode) {
  for (DType type : narrow_floats) {
    const bool saturates = size_bytes(type) == 1;
    for (std::uint32_t code = 0; code < 1u << (8 * size_bytes(type)); ++code) {
      const double value = expected_decode(type, code);
      const std::uint64_t encoded = encode_float(type, value);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode_float(type, encoded))) << dtype_name(type) << " code " << code;
      } else if (std::isinf(value) && saturates) {
        ASSERT_EQ(decode_float(type, encoded), std::copysign(largest(type), value));
      } else {
        ASSERT_EQ(encoded, code) << dtype_name(type);
      }
    }
  }
}

TEST(DType, RoundsToTheNearerNeighbourAndMidpointsToEven) {
  for (DType type : narrow_floats) {
    for (std::uint32_t code = 0; expected_decode(type, code + 1) <= largest(type); ++code) {
      const double low = expected_decode(type, code), high = expected_decode(type, code + 1);
      const double middle = low + (high - low) / 2;  // exact: both have few bits
      const double even = code % 2 == 0 ? low : high;
      for (double sign : {1.0, -1.0}) {
        ASSERT_EQ(round_to(type, sign * middle), sign * even) << dtype_name(type) << " code " << code;
        // One step of f64 off the midpoint: rounding to f32 first would lose it and tie wrongly.
        ASSERT_EQ(round_to(type, sign * std::nextafter(middle, infinity)), sign * high) << dtype_name(type);
        ASSERT_EQ(round_to(type, sign * std::nextafter(middle, 0.0)), sign * low) << dtype_name(type);
      }
    }
  }
}

TEST(DType, OverflowsAsTheLanguageSays) {
  EXPECT_EQ(round_to(DType::f16, 65519.999), 65504);
  EXPECT_EQ(round_to(DType::f16, 65520), infinity);
  EXPECT_EQ(encode_float(DType::f16, -1e300), 0xfc00u);
  EXPECT_EQ(round_to(DType::bf16, -1e39), -infinity);
  for (DType type : {DType::f8e4m3, DType::f8e5m2}) {
    for (double value : {largest(type) * 1.001, largest(type) * 2, 1e300, infinity}) {
      EXPECT_EQ(round_to(type, value), largest(type));
      EXPECT_EQ(round_to(type, -value), -largest(type));
      EXPECT_EQ(decode_float(type, encode_float(type, -value)), -largest(type));
    }
    EXPECT_TRUE(std::isnan(round_to(type, nan)));
    EXPECT_TRUE(std::isnan(decode_float(type, encode_float(type, -nan))));
  }
  EXPECT_EQ(largest(DType::f8e4m3), 448);
  EXPECT_EQ(largest(DType::f8e5m2), 57344);
}

TEST(DType, KeepsDenormalsAndTheSignOfZero) {
  EXPECT_EQ(encode_float(DType::f32, 0x1p-149), 1u);
  EXPECT_EQ(encode_float(DType::f16, 0x1p-24), 1u);
  EXPECT_EQ(encode_float(DType::bf16, 0x1p-133), 1u);
  EXPECT_EQ(encode_float(DType::f16, -0.0), 0x8000u);
  EXPECT_EQ(encode_float(DType::f16, -0x1p-26), 0x8000u);  // rounds to zero and keeps its sign
  EXPECT_EQ(encode_float(DType::f16, -1e-320), 0x8000u);
}

TEST(DType, RoundsIntegersToBf16AtTies) {
  EXPECT_EQ(round_to(DType::bf16, 257), 256);
  EXPECT_EQ(round_to(DType::bf16, 259), 260);
  EXPECT_EQ(round_to(DType::bf16, 2147483647), 2147483648.0);
  EXPECT_EQ(round_to(DType::bf16, -16842752), -16777216);  // a tie, as f32 shows it
  EXPECT_EQ(round_to(DType::bf16, -16842753), -16908288);  // not one, which f32 cannot show
}

TEST(DType, RoundsWideFloatsOnce) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    ASSERT_EQ(encode_float(DType::f64, value), std::bit_cast<std::uint64_t>(value));
    ASSERT_EQ(decode_float(DType::f32, encode_float(DType::f32, value)), static_cast<float>(value));
    ASSERT_EQ(round_to(DType::f32, value), static_cast<float>(value));
  }
}

TEST(DType, NamesParseBack) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(dtype_name(type)), type);
    EXPECT_EQ(is_float(type) + is_integer(type) + (type == DType::boolean), 1) << dtype_name(type);
    EXPECT_FALSE(is_storage(compute_type(type)));
    EXPECT_EQ(is_storage(type), compute_type(type) != type);
  }
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
}

TEST(DType, WrapsIntegers) {
  EXPECT_EQ(wrap_integer(DType::i8, 128), -128);
  EXPECT_EQ(wrap_integer(DType::u8, -1), 255);
  EXPECT_EQ(wrap_integer(DType::i16, 0x18000), -32768);
  EXPECT_EQ(wrap_integer(DType::u32, -1), 4294967295);
  EXPECT_EQ(wrap_integer(DType::i32, 2147483648), -2147483648);
  EXPECT_EQ(wrap_integer(DType::i64, -5), -5);
  EXPECT_EQ(wrap_integer(DType::u64, -5), -5);
  EXPECT_EQ(wrap_integer(DType::boolean, 256), 1);
}

TEST(DType, CastsFloatsToIntegersTruncatingAndSaturating) {
  struct Case {
    DType type;
    double value;
    std::int64_t expected;
  };
  const Case cases[] = {
      {DType::i8, 127.9, 127},
      {DType::i8, 128, 127},
      {DType::i8, -128.9, -128},
      {DType::i8, -1e30, -128},
      {DType::u8, -0.9, 0},
      {DType::u8, -3, 0},
      {DType::u8, 300, 255},
      {DType::i32, -2.7, -2},
      {DType::i32, infinity, INT32_MAX},
      {DType::i32, -infinity, INT32_MIN},
      {DType::i32, nan, 0},
      {DType::u32, 4294967295.5, 4294967295},
      {DType::i64, 1e19, INT64_MAX},
      {DType::i64, -1e19, INT64_MIN},
      {DType::i64, 0x1p62, 1LL << 62},
      {DType::u64, 0x1p63, INT64_MIN},
      {DType::u64, 1e20, -1},
      {DType::u64, nan, 0},
  };
  for (const Case& c : cases)
    EXPECT_EQ(float_to_integer(c.type, c.value), c.expected) << dtype_name(c.type) << " of " << c.value;
}

TEST(DType, KnowsItsLimits) {
  EXPECT_EQ(epsilon(DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon(DType::f16), 0x1p-10);
  EXPECT_EQ(epsilon(DType::f8e5m2), 0.25);
  EXPECT_EQ(largest(DType::bf16), decode_float(DType::bf16, 0x7f7f));
  EXPECT_EQ(lowest(DType::i16), -32768);
  EXPECT_EQ(lowest(DType::u64), 0);
  EXPECT_EQ(largest(DType::i32), 2147483647);
}

}  // namespace
}  // namespace einkern::core
