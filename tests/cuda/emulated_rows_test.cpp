// Reductions run on the host in many mappings, over lengths, special values and layouts at which kernels of
// this kind break.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/cuda/run_emulated.h"
#include "tests/support/tensors.h"

namespace einkern {
namespace {

using testing::EmulatedCalls;
using testing::EmulationOptions;
using testing::NamedArguments;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Small integers, so that sums are exact in any order, with special values strewn in.
testing::HostTensor row_data(DType dtype, std::int64_t rows, std::int64_t columns, bool specials,
                             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    values.push_back(static_cast<double>(random() % 7) - 3);
    if (!specials || random() % 40 != 0) continue;
    constexpr double special[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, -0.0, 0.0};
    values.back() = special[random() % 5];
  }
  return testing::floats(dtype, {rows, columns}, values);
}

const std::string statistics =
    "fn f(x: f32[R, C]) -> s: f32[R], top: f32[R], low: f32[R], best: i64[R], least: i64[R], some: bool[R], "
    "every: bool[R] {\n"
    "  s[r] = sum(c) x[r, c]\n  top[r] = max(c) x[r, c]\n  low[r] = min(c) x[r, c]\n"
    "  best[r] = argmax(c) x[r, c]\n  least[r] = argmin(c) x[r, c]\n"
    "  some[r] = any(c) (x[r, c] > 2)\n  every[r] = all(c) (x[r, c] < 3)\n}";

TEST(EmulatedRows, AllReductionsOverManyLengths) {
  EmulatedCalls calls;
  std::uint64_t seed = 1;
  for (const std::int64_t columns : {0, 1, 2, 3, 31, 32, 33, 64, 127, 128, 129, 255, 576, 1023, 1025, 2049})
    for (std::size_t candidate = 0; candidate < 4; ++candidate)
      testing::add_call(
          calls, statistics, {{"x", row_data(f32, 3, columns, seed % 2 == 0, seed)}},
          {.candidate = (seed++) * 37, .architecture = candidate % 2 == 0 ? "sm_90a" : "sm_75"});
  testing::expect_right(calls);
}

TEST(EmulatedRows, NarrowTypesInWideVectors) {
  EmulatedCalls calls;
  std::size_t candidate = 0;
  for (const char* type : {"f16", "bf16", "f8e4m3", "f8e5m2"})
    for (const std::int64_t columns : {16, 48, 544, 1040}) {
      const std::string source = fmt::format(
          "fn f(x: {0}[R, C]) -> y: {0}[R, C], m: f32[R] {{ m[r] = max(c) x[r, c]\n"
          "  y[r, c] = exp(x[r, c] - m[r]) / sum(c) exp(x[r, c] - m[r]) }}",
          type);
      testing::add_call(calls, source,
                        {{"x", row_data(*core::parse_dtype(type), 5, columns, false, candidate)}},
                        {.candidate = candidate++ * 29});
    }
  testing::expect_right(calls);
}

TEST(EmulatedRows, ColumnsAndMiddleAxes) {
  EmulatedCalls calls;
  for (std::size_t candidate = 0; candidate < 12; ++candidate) {
    testing::add_call(calls, "fn f(x: f32[R, C]) -> y: f32[C] { y[c] = sum(r) x[r, c] }",
                      {{"x", row_data(f32, 70 + static_cast<std::int64_t>(candidate), 45, false, candidate)}},
                      {.candidate = candidate * 31});
    const std::int64_t depth = 33;
    testing::HostTensor cube = row_data(f32, 4 * 40, depth, true, candidate);
    cube.shape = {4, 40, depth};
    testing::add_call(
        calls,
        "fn f(x: f32[A, B, C]) -> y: f32[A, C], i: i64[A, C] { y[a, c] = max(b) x[a, b, c]\n i[a, c] = "
        "argmin(b) x[a, b, c] }",
        {{"x", cube}}, {.candidate = candidate * 17});
    testing::add_call(calls, "fn f(x: f32[A, B, C]) -> y: f32[B] { y[b] = sum(a, c) abs(x[a, b, c]) }",
                      {{"x", cube}},
                      {.candidate = candidate * 23, .index_bits = candidate % 3 == 0 ? 64 : 0});
  }
  testing::expect_right(calls);
}

TEST(EmulatedRows, WholeTensors) {
  EmulatedCalls calls;
  std::size_t candidate = 0;
  for (const std::int64_t elements : {0, 1, 5, 1000, 4096, 70001}) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      testing::HostTensor x = row_data(f32, 1, elements, repeat == 1, candidate);
      x.shape = {elements};
      testing::add_call(
          calls,
          "fn f(x: f32[N]) -> s: f32, m: f32, i: i64 { s = sum(n) x[n]\n m = max(n) x[n]\n i = argmax(n) "
          "x[n] }",
          {{"x", x}}, {.candidate = candidate++ * 41});
    }
  }
  testing::expect_right(calls);
}

TEST(EmulatedRows, IntegersWrapAndProductsMultiply) {
  EmulatedCalls calls;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 6 * 100; ++i) values.push_back((i * 2654435761) % 4294967296 - 2147483648);
  for (std::size_t candidate = 0; candidate < 6; ++candidate) {
    testing::add_call(
        calls,
        "fn f(x: i32[R, C]) -> s: i32[R], p: i32[R], l: i64[R], m: i32[R], i: i64[R] { s[r] = sum(c) x[r, "
        "c]\n"
        " p[r] = prod(c) x[r, c]\n l[r] = sum(c) i64(x[r, c])\n m[r] = min(c) x[r, c]\n i[r] = argmax(c) "
        "x[r, c] % 5 }",
        {{"x", testing::integers(i32, {6, 100}, values)}}, {.candidate = candidate * 19});
  }
  testing::expect_right(calls);
}

TEST(EmulatedRows, StridedRows) {
  EmulatedCalls calls;
  for (std::size_t candidate = 0; candidate < 8; ++candidate) {
    const std::string source =
        "fn f(x: bf16[R, C], g: f32[C]) -> y: bf16[R, C] { y[r, c] = x[r, c] * rsqrt(mean(c) x[r, c] * x[r, "
        "c] + 1) * g[c] }";
    testing::HostTensor g = row_data(f32, 1, 48, false, 3);
    g.shape = {48};
    const NamedArguments arguments = {{"x", row_data(bf16, 7, 48, false, candidate)}, {"g", g}};
    testing::add_call(calls, source, arguments,
                      {.candidate = candidate * 11, .layouts = {{"x", {.padding = 8}}}});
    testing::add_call(
        calls, source, arguments,
        {.candidate = candidate * 13, .layouts = {{"x", {.padding = 1}}, {"y", {.padding = 4}}}});
    testing::add_call(calls, source, arguments,
                      {.candidate = candidate * 7, .layouts = {{"x", {.order = {1, 0}}}}});
    testing::add_call(calls, source, arguments,
                      {.candidate = candidate * 5, .layouts = {{"x", {.offset = 1}}, {"y", {.offset = 2}}}});
  }
  testing::expect_right(calls);
}

TEST(EmulatedRows, OneOfSeveralColumnAxesIsEmpty) {
  EmulatedCalls calls;
  for (const auto& [a, c] : {std::pair{0, 40}, {40, 0}}) {
    testing::HostTensor x{f32, {a, 5, c}, {}, {}};
    testing::add_call(calls, "fn f(x: f32[A, B, C]) -> y: f32[B] { y[b] = sum(a, c) x[a, b, c] }", {{"x", x}},
                      {});
  }
  testing::expect_right(calls);
}

TEST(EmulatedRows, MoreRowsThanAGridHasInItsOtherDimensions) {
  EmulatedCalls calls;
  testing::add_call(calls, "fn f(x: f32[R, C]) -> y: f32[R] { y[r] = sum(c) x[r, c] }",
                    {{"x", row_data(f32, 70000, 2, false, 5)}}, {});
  testing::expect_right(calls);
}

}  // namespace
}  // namespace einkern
