// Pointwise kernels and permutes run on the host: tails, layouts, alignment, broadcast, integer and float
// corners.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/cuda/run_emulated.h"
#include "tests/support/semantics.h"
#include "tests/support/tensors.h"

namespace einkern {
namespace {

using testing::EmulatedCalls;
using testing::EmulationOptions;

/// Eighths between -2 and 2: products and sums of a few are exact in f32.
testing::HostTensor random_tensor(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random() % 33) / 8 - 2);
  return testing::floats(dtype, shape, values);
}

TEST(EmulatedPointwise, TailsOfEveryLength) {
  EmulatedCalls calls;
  for (std::int64_t n = 0; n < 40; ++n)
    testing::add_call(calls, "fn f(a: f32, x: f32[N], y: bf16[N]) -> z: f16[N] { z[i] = a * x[i] + y[i] }",
                      {{"a", testing::float_scalar(1.5)},
                       {"x", random_tensor(f32, {n}, 1)},
                       {"y", random_tensor(bf16, {n}, 2)}},
                      {.candidate = static_cast<std::size_t>(n)});
  testing::expect_right(calls);
}

TEST(EmulatedPointwise, BroadcastAndLayouts) {
  const std::string source =
      "fn f(x: f16[R, C], b: f32[C], s: f32[R]) -> y: f16[R, C], z: f32[R, C] { z[r, c] = x[r, c] * s[r] + "
      "b[c]\n"
      "  y[r, c] = gelu(z[r, c]) }";
  const std::vector<testing::MemoryLayouts> layouts = {
      {},
      {{"x", {.padding = 8}}},
      {{"x", {.padding = 3}}, {"y", {.padding = 1}}},
      {{"x", {.order = {1, 0}}}},
      {{"x", {.order = {1, 0}}}, {"y", {.order = {1, 0}}}, {"z", {.order = {1, 0}}}},
      {{"x", {.offset = 1}}, {"z", {.offset = 3}}}};
  EmulatedCalls calls;
  std::size_t candidate = 0;
  for (const testing::MemoryLayouts& layout : layouts)
    for (const std::int64_t columns : {24, 37, 64})
      for (const int bits : {0, 64})
        testing::add_call(calls, source,
                          {{"x", random_tensor(f16, {9, columns}, 1)},
                           {"b", random_tensor(f32, {columns}, 2)},
                           {"s", random_tensor(f32, {9}, 3)}},
                          {.candidate = candidate++ * 3, .index_bits = bits, .layouts = layout});
  testing::expect_right(calls);
}

TEST(EmulatedPermute, EveryTileEdgeAndType) {
  EmulatedCalls calls;
  std::size_t candidate = 0;
  for (const char* type : {"f8e4m3", "bf16", "f32", "f64"})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {32, 32}, {33, 31}, {64, 128}, {80, 48}, {130, 66}})
      testing::add_call(calls,
                        fmt::format("fn f(x: {0}[R, C]) -> y: {0}[C, R] {{ y[c, r] = x[r, c] }}", type),
                        {{"x", random_tensor(*core::parse_dtype(type), {rows, columns}, candidate)}},
                        {.candidate = candidate++});
  for (std::size_t i = 0; i < 8; ++i)
    testing::add_call(
        calls,
        "fn f(x: f32[A, B, C], z: f32[C, A, B], s: f32[B]) -> y: f32[C, A, B] { y[c, a, b] = 2 * x[a, b, c] "
        "+ z[c, a, b] * s[b] }",
        {{"x", random_tensor(f32, {3, 36, 40}, 1)},
         {"z", random_tensor(f32, {40, 3, 36}, 2)},
         {"s", random_tensor(f32, {36}, 3)}},
        {.candidate = i * 3, .index_bits = i % 2 == 0 ? 64 : 0});
  testing::expect_right(calls);
}

}  // namespace
}  // namespace einkern
