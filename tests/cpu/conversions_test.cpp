// Storage types: every stored value read, and every kind of rounding written, against core's exact
// conversions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/cpu/run_on_cpu.h"
#include "tests/support/tensors.h"

namespace einkern {
namespace {

using testing::HostTensor;

constexpr DType narrow_floats[] = {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16};

HostTensor run(const std::string& source, const HostTensor& x) {
  auto call = testing::make_call(source, "", {}, {{"x", x}});
  EXPECT_TRUE(call.ok()) << (call.ok() ? "" : call.error().message);
  auto results = testing::run_on_cpu(*call, {});
  EXPECT_TRUE(results.ok()) << (results.ok() ? "" : results.error().message);
  return results->at(call->tensor("y"));
}

std::string copy_source(DType from, DType to) {
  return "fn f(x: " + std::string(core::dtype_name(from)) +
         "[N]) -> y: " + std::string(core::dtype_name(to)) + "[N] { y[i] = x[i] }";
}

class NarrowFloat : public ::testing::TestWithParam<DType> {};

TEST_P(NarrowFloat, ReadsEveryStoredValue) {
  const DType type = GetParam();
  std::vector<double> values;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << (8 * core::size_bytes(type))); ++bits)
    values.push_back(core::decode_float(type, bits));
  HostTensor x{type, {static_cast<std::int64_t>(values.size())}, values, {}};
  HostTensor y = run(copy_source(type, DType::f32), x);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(y.floats[i])) << i;
    } else {
      EXPECT_EQ(y.floats[i], values[i]) << i;
    }
  }
}

/// Numbers of all magnitudes, the midpoints between neighbours that a type can hold, and numbers just beside
/// those.
std::vector<double> hard_numbers(DType type, DType source) {
  std::vector<double> numbers;
  std::mt19937_64 generator(11);
  for (std::uint64_t bits = 0; bits + 1 < (std::uint64_t{1} << (8 * core::size_bytes(type) - 1));
       bits += core::size_bytes(type) == 1 ? 1 : 13) {
    double low = core::decode_float(type, bits), high = core::decode_float(type, bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    double middle = (low + high) / 2;
    for (double value : {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY)})
      for (double sign : {1.0, -1.0}) numbers.push_back(core::round_to(source, sign * value));
  }
  for (int i = 0; i < 20000; ++i) {
    double value = source == DType::f64 ? std::bit_cast<double>(generator())
                                        : std::bit_cast<float>(static_cast<std::uint32_t>(generator()));
    numbers.push_back(value);
  }
  for (double value :
       {0.0, -0.0, double(INFINITY), double(-INFINITY), core::largest(type), core::largest(type) * 1.0001})
    numbers.push_back(core::round_to(source, value));
  return numbers;
}

TEST_P(NarrowFloat, RoundsOnceFromF32AndF64) {
  const DType type = GetParam();
  for (DType source : {DType::f32, DType::f64}) {
    std::vector<double> values = hard_numbers(type, source);
    HostTensor x{source, {static_cast<std::int64_t>(values.size())}, values, {}};
    HostTensor y = run(copy_source(source, type), x);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double right = core::decode_float(type, core::encode_float(type, values[i]));
      if (std::isnan(right)) {
        ASSERT_TRUE(std::isnan(y.floats[i])) << values[i];
      } else {
        ASSERT_EQ(y.floats[i], right) << values[i] << " from " << core::dtype_name(source);
        ASSERT_EQ(std::signbit(y.floats[i]), std::signbit(right)) << values[i];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NarrowFloat, ::testing::ValuesIn(narrow_floats),
                         [](const auto& each) { return std::string(core::dtype_name(each.param)); });

TEST(IntegerConversions, FloatsSaturateAndIntegersWrap) {
  std::vector<double> values = {0.9,  -0.9, 127.5, 128,  -129, 255,      256,       65535.9, 3e9,
                                -3e9, 1e19, -1e19, 2e19, NAN,  INFINITY, -INFINITY, 5};
  for (DType type :
       {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
    std::string name(core::dtype_name(type));
    HostTensor x = testing::floats(DType::f64, {static_cast<std::int64_t>(values.size())}, values);
    HostTensor y = run("fn f(x: f64[N]) -> y: " + name + "[N] { y[i] = " + name + "(x[i]) }", x);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(y.integers[i], core::float_to_integer(type, values[i])) << name << " of " << values[i];
  }
  HostTensor wide = testing::integers(DType::i64, {5}, {0, 300, -300, INT64_MAX, INT64_MIN});
  HostTensor narrow = run("fn f(x: i64[N]) -> y: i8[N] { y[i] = x[i] }", wide);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(narrow.integers[i], core::wrap_integer(DType::i8, wide.integers[i]));
}

}  // namespace
}  // namespace einkern
