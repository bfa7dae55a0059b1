// Products on CUDA cores, run on the host in many configurations: sizes off every tile, all layouts and
// types, operands and results that are whole expressions, and the edges of the sum.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/cuda/run_emulated.h"
#include "tests/support/tensors.h"

namespace einkern {
namespace {

using testing::EmulatedCalls;
using testing::EmulationOptions;
using testing::HostTensor;
using testing::NamedArguments;

/// Small non-zero integers, so that sums are exact in any order.
HostTensor matrix(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  HostTensor tensor = HostTensor::zeros(dtype, std::move(shape));
  const auto draw = [&] {
    const std::int64_t magnitude = 1 + static_cast<std::int64_t>(random() % 3);
    return core::is_integer(dtype) && !core::is_signed(dtype) ? magnitude
                                                              : (random() % 2 == 0 ? magnitude : -magnitude);
  };
  for (double& value : tensor.floats) value = static_cast<double>(draw());
  for (std::int64_t& value : tensor.integers) value = draw();
  return tensor;
}

class EmulatedSimtMatmul : public ::testing::Test {
 protected:
  void add(const std::string& source, const NamedArguments& arguments, EmulationOptions options = {}) {
    options.schedule = "cuda.simt_matmul";
    options.candidate = candidate_ += 911;
    testing::add_call(calls_, source, arguments, options);
  }
  void expect_right() { testing::expect_right(calls_); }

 private:
  EmulatedCalls calls_;
  std::size_t candidate_ = 0;
};

const std::string product =
    "fn f(a: f32[M, K], b: f32[K, N]) -> y: f32[M, N] { y[i, j] = sum(k) a[i, k] * b[k, j] }";

TEST_F(EmulatedSimtMatmul, SizesOffTheTiles) {
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                {1, 130, 17},
                                {130, 1, 33},
                                {64, 64, 64},
                                {127, 129, 100},
                                {133, 68, 40},
                                {36, 260, 47},
                                {65, 63, 0},
                                {0, 5, 7},
                                {5, 0, 7}})
    for (const char* architecture : {"sm_90a", "sm_75"})
      add(product, {{"a", matrix(f32, {m, k}, 1)}, {"b", matrix(f32, {k, n}, 2)}},
          {.architecture = architecture});
  expect_right();
}

/// Elements past the edge of a row are the next row's: what is not finite there must not come in.
TEST_F(EmulatedSimtMatmul, SpecialValuesStayInTheirRows) {
  HostTensor a = matrix(f32, {70, 35}, 24), b = matrix(f32, {35, 66}, 25);
  for (std::size_t k = 0; k < 35; ++k) a.floats[21 * 35 + k] = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t k = 0; k < 35; ++k) b.floats[k * 66 + 13] = std::numeric_limits<double>::infinity();
  for (const char* architecture : {"sm_90a", "sm_75"})
    for (const std::vector<int>& order : {std::vector<int>{}, {1, 0}})
      add(product, {{"a", a}, {"b", b}},
          {.architecture = architecture, .layouts = {{"a", {.order = order}}, {"b", {.order = order}}}});
  expect_right();
}

TEST_F(EmulatedSimtMatmul, Layouts) {
  const testing::MemoryLayout transposed{.order = {1, 0}}, padded{.padding = 3}, wide{.padding = 4},
      moved{.offset = 1};
  for (const auto& [a, b, y] : {std::tuple{transposed, padded, wide},
                                {moved, transposed, transposed},
                                {wide, wide, wide},
                                {transposed, transposed, moved},
                                {padded, moved, padded}})
    for (const int index_bits : {0, 64})
      for (const std::int64_t size : {68, 77})
        add(product, {{"a", matrix(f32, {size, 80}, 3)}, {"b", matrix(f32, {80, size}, 4)}},
            {.architecture = index_bits == 0 && size == 68 ? "sm_86" : "sm_90a",
             .index_bits = index_bits,
             .layouts = {{"a", a}, {"b", b}, {"y", y}}});
  expect_right();
}

TEST_F(EmulatedSimtMatmul, Types) {
  for (const char* type :
       {"f64", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i16", "i32", "u32", "i64", "u64"}) {
    const DType dtype = *core::parse_dtype(type);
    const DType result = core::compute_type(dtype);
    for (const std::int64_t k : {48, 53})
      add(fmt::format(
              "fn f(a: {0}[M, K], b: {0}[N, K]) -> y: {1}[M, N] {{ y[i, j] = sum(k) a[i, k] * b[j, k] }}",
              type, core::dtype_name(result)),
          {{"a", matrix(dtype, {70, k}, 5)}, {"b", matrix(dtype, {96, k}, 6)}},
          {.architecture = k == 48 ? "sm_90a" : "sm_75"});
  }
  expect_right();
}

TEST_F(EmulatedSimtMatmul, GroupsOfAxes) {
  const std::vector<std::pair<std::string, NamedArguments>> products = {
      {"fn f(a: f32[B, M, K], b: f32[B, K, N]) -> y: f32[B, M, N] { y[b0, i, j] = sum(k) a[b0, i, k] * b[b0, "
       "k, j] }",
       {{"a", matrix(f32, {3, 40, 24}, 7)}, {"b", matrix(f32, {3, 24, 50}, 8)}}},
      {"fn f(a: f32[P, Q, K, L], b: f32[K, L, N]) -> y: f32[P, Q, N] "
       "{ y[p, q, n] = sum(k, l) a[p, q, k, l] * b[k, l, n] }",
       {{"a", matrix(f32, {5, 13, 6, 8}, 9)}, {"b", matrix(f32, {6, 8, 33}, 10)}}},
      {"fn f(a: f32[P, K, Q, L], b: f32[L, N, K]) -> y: f32[N, Q, P] "
       "{ y[n, q, p] = sum(k, l) a[p, k, q, l] * b[l, n, k] }",
       {{"a", matrix(f32, {5, 6, 12, 7}, 11)}, {"b", matrix(f32, {7, 35, 6}, 12)}}},
      {"fn f(q: f32[B, S, H, D], k: f32[B, T, H, D]) -> p: f32[B, H, S, T] "
       "{ p[b, h, s, t] = sum(d) q[b, s, h, d] * k[b, t, h, d] }",
       {{"q", matrix(f32, {2, 33, 3, 16}, 13)}, {"k", matrix(f32, {2, 40, 3, 16}, 14)}}},
      {"fn f(x: f32[W, C], w: f32[U, C, O]) -> y: f32[V, O] where V = W - U + 1 "
       "{ y[v, o] = sum(u, c) x[v + u, c] * w[u, c, o] }",
       {{"x", matrix(f32, {40, 8}, 15)}, {"w", matrix(f32, {5, 8, 36}, 16)}}}};
  for (const auto& [source, arguments] : products)
    for (const int index_bits : {0, 64}) add(source, arguments, {.index_bits = index_bits});
  expect_right();
}

TEST_F(EmulatedSimtMatmul, OperandsAndResultsThatAreExpressions) {
  const HostTensor x = matrix(f32, {75, 52}, 17), w = matrix(f32, {44, 52}, 18), bias = matrix(f32, {44}, 19);
  const std::vector<std::pair<std::string, NamedArguments>> products = {
      {"fn f(x: f32[M, K], w: f32[N, K], c: f32[N]) -> y: f32[M, N], z: f32[M, N] "
       "{ y[i, j] = relu(sum(k) x[i, k] * w[j, k] + c[j])\n z[i, j] = y[i, j] * 2 + x[i, 0] }",
       {{"x", x}, {"w", w}, {"c", bias}}},
      {"fn f(x: f32[M, K], w: i8[N, K], s: f32[N]) -> y: bf16[M, N] "
       "{ y[i, j] = sum(k) x[i, k] * (f32(w[j, k]) * s[j]) }",
       {{"x", x}, {"w", matrix(i8, {44, 52}, 20)}, {"s", bias}}},
      {"fn f(x: f32[M, K], t: i32[N], e: f32[V, K]) -> y: f32[M, N] { y[i, j] = sum(k) x[i, k] * e[t[j], k] "
       "}",
       {{"x", x}, {"t", testing::integers(i32, {5}, {3, 0, -1, 9, 2})}, {"e", matrix(f32, {7, 52}, 21)}}},
      {"fn f(x: f32[H, C], w: f32[U, C, O]) -> y: f32[H, O] "
       "{ y[h, o] = sum(u in 0..3, c) (x[h + u - 1, c] else 0) * w[u, c, o] }",
       {{"x", matrix(f32, {37, 12}, 22)}, {"w", matrix(f32, {3, 12, 40}, 23)}}},
      {"fn f(x: f32[M, K], w: f32[N, K], a: f32 = 3.0) -> y: f32[N, M] "
       "{ y[j, i] = a * sum(k in 2..K) exp(x[i, k] * 0) * w[j, k] }",
       {{"x", x}, {"w", w}}}};
  for (const auto& [source, arguments] : products)
    for (const char* architecture : {"sm_90a", "sm_75"})
      for (const std::size_t plan : {0, 1})
        add(source, arguments, {.plan = plan, .architecture = architecture});
  expect_right();
}

}  // namespace
}  // namespace einkern
