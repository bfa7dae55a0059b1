#include "codegen/cpu/approximations.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "runtime/cpu/compiler.h"
#include "runtime/cpu/host.h"
#include "runtime/cpu/module.h"

namespace einkern::codegen::cpu {
namespace {

using dsl::Op;

/// Compiles y[i] = op(x[i]) for f32, `lanes` at a time, with arguments {x, y} and the range in elements.
std::shared_ptr<const runtime::cpu::CpuModule> compile_map(Op op, int lanes) {
  IrWriter writer;
  writer.function("map",
                  {{ir_pointer, "arguments", ""},
                   {ir_i64, "begin", ""},
                   {ir_i64, "end", ""},
                   {ir_pointer, "scratch", ""}},
                  [&](const IrWriter::Values& p) {
                    IrType type = ir_f32.with_lanes(lanes);
                    IrValue x = writer.load(ir_pointer, p[0]);
                    IrValue y = writer.load(ir_pointer, writer.element(p[0], IrWriter::integer(1), ir_i64));
                    writer.loop("i", p[1], p[2], IrWriter::integer(lanes), [&](const IrValue& i) {
                      IrValue value = writer.load(type, writer.element(x, i, ir_f32), 4);
                      writer.store(elementary(writer, op, {value}), writer.element(y, i, ir_f32), 4);
                    });
                  });
  auto facts = runtime::cpu::host_facts();
  auto artifact = runtime::cpu::compile_object(writer.finish(), *facts);
  EXPECT_TRUE(artifact.ok()) << (artifact.ok() ? "" : artifact.error().message);
  if (!artifact.ok()) return nullptr;
  auto module = runtime::cpu::CpuModule::load(*artifact);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? *module : nullptr;
}

std::vector<float> mapped(const runtime::cpu::CpuModule& module, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  std::uint64_t arguments[] = {reinterpret_cast<std::uint64_t>(x.data()),
                               reinterpret_cast<std::uint64_t>(y.data())};
  module.find("map")(arguments, 0, static_cast<std::int64_t>(x.size()), nullptr);
  return y;
}

double right_answer(Op op, double x) {
  switch (op) {
    case Op::exp:
      return std::exp(x);
    case Op::exp2:
      return std::exp2(x);
    case Op::expm1:
      return std::expm1(x);
    case Op::log:
      return std::log(x);
    case Op::log2:
      return std::log2(x);
    case Op::log1p:
      return std::log1p(x);
    case Op::sin:
      return std::sin(x);
    case Op::cos:
      return std::cos(x);
    case Op::tanh:
      return std::tanh(x);
    default:
      return std::erf(x);
  }
}

/// Distance in units in the last place that f32 has at the right answer; 0 if both are NaN or equal.
double error_in_ulps(float got, double right) {
  auto rounded = static_cast<float>(right);
  if (std::isnan(right) || std::isnan(got)) return std::isnan(right) == std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e9;
  int exponent = 0;
  std::frexp(right, &exponent);
  return std::fabs(got - right) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

constexpr Op operations[] = {Op::exp,   Op::exp2, Op::expm1, Op::log,  Op::log2,
                             Op::log1p, Op::sin,  Op::cos,   Op::tanh, Op::erf};

class Approximation : public testing::TestWithParam<Op> {};

TEST_P(Approximation, IsWithinTwoUnitsInTheLastPlaceOverAllMagnitudes) {
  auto module = compile_map(GetParam(), 16);
  ASSERT_NE(module, nullptr);
  // Every 4,099th of all bit patterns, then numbers near 1, where most are used.
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> wide(-20, 20), narrow(-1.5, 1.5);
  for (int i = 0; i < 200000; ++i) x.push_back(i % 2 == 0 ? wide(generator) : narrow(generator));
  x.resize(x.size() / 16 * 16);
  std::vector<float> y = mapped(*module, x);
  double worst = 0;
  float where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double error = error_in_ulps(y[i], right_answer(GetParam(), x[i]));
    if (error > worst) worst = error, where = x[i];
  }
  RecordProperty("worst_ulps", std::to_string(worst));
  EXPECT_LE(worst, 2.0) << "at " << where << ": " << mapped(*module, std::vector<float>(16, where))[0]
                        << " for " << right_answer(GetParam(), where);
}

TEST_P(Approximation, OneLaneHasTheSameBitsAsSixteen) {
  auto vectors = compile_map(GetParam(), 16), scalars = compile_map(GetParam(), 1);
  ASSERT_TRUE(vectors && scalars);
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1000003)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  x.resize(x.size() / 16 * 16);
  std::vector<float> first = mapped(*vectors, x);
  std::vector<float> second = mapped(*scalars, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    bool same = std::isnan(first[i])
                    ? std::isnan(second[i])
                    : std::bit_cast<std::uint32_t>(first[i]) == std::bit_cast<std::uint32_t>(second[i]);
    ASSERT_TRUE(same) << x[i] << ": " << first[i] << " and " << second[i];
  }
}

TEST_P(Approximation, ZerosAndInfinitiesAreRight) {
  auto module = compile_map(GetParam(), 1);
  ASSERT_NE(module, nullptr);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float x : {0.0f, -0.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 1.0f, -1.0f}) {
    float got = mapped(*module, {x})[0];
    auto right = static_cast<float>(right_answer(GetParam(), x));
    EXPECT_EQ(std::isnan(got), std::isnan(right)) << x;
    if (std::isnan(right)) continue;
    EXPECT_EQ(std::signbit(got), std::signbit(right)) << x;
    if (std::isinf(right)) {
      EXPECT_EQ(got, right) << x;
    } else {
      EXPECT_NEAR(got, right, 2e-7) << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Approximation, testing::ValuesIn(operations),
                         [](const auto& tested) { return std::string(dsl::facts(tested.param).spelling); });

}  // namespace
}  // namespace einkern::codegen::cpu
