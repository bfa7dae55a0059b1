// Every schedule over sizes around its blocks, over layouts, vector widths and configurations, against the
// reference.
#include <gtest/gtest.h>

#include <random>

#include "codegen/reference/random_tensor.h"
#include "tests/cpu/run_on_cpu.h"

namespace einkern {
namespace {

using codegen::reference::random_uniform;
using testing::CpuOptions;
using testing::NamedArguments;

struct Shape {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> extents;
};

struct SweepCase {
  std::string name, source;
  std::vector<Shape> tensors;
  testing::MemoryLayouts layouts = {};
};

std::ostream& operator<<(std::ostream& out, const SweepCase& which) { return out << which.name; }

std::string fill(std::string text, const std::string& dtype) {
  for (std::size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, dtype);
  return text;
}

std::vector<SweepCase> contractions() {
  std::vector<SweepCase> cases;
  const std::string product =
      "fn f(a: $[M, K], b: $[K, N]) -> y: $[M, N] { y[i, j] = sum(k) a[i, k] * b[k, j] }";
  auto add = [&](std::string name, const std::string& source, DType type, std::int64_t m, std::int64_t n,
                 std::int64_t k, bool b_by_columns) {
    std::vector<std::int64_t> b = b_by_columns ? std::vector{n, k} : std::vector{k, n};
    cases.push_back({std::move(name),
                     fill(source, std::string(core::dtype_name(type))),
                     {{"a", type, {m, k}}, {"b", type, b}}});
  };
  const std::int64_t sizes[][3] = {{1, 1, 1},    {1, 65, 33},   {15, 31, 17},
                                   {14, 32, 16}, {29, 97, 130}, {5, 200, 3}};
  for (const auto& s : sizes) {
    std::string size = std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]);
    add("f32_" + size, product, DType::f32, s[0], s[1], s[2], false);
  }
  for (DType type : {DType::f64, DType::bf16, DType::f16, DType::f8e4m3, DType::i8, DType::i64, DType::u16})
    add(std::string(core::dtype_name(type)) + "_31x45x37", product, type, 31, 45, 37, false);
  const std::string by_columns =
      "fn f(a: $[M, K], b: $[N, K]) -> y: $[M, N] { y[i, j] = gelu(sum(k) a[i, k] * b[j, k]) + i * 0.5 - j }";
  add("linear_40x37x53", by_columns, DType::f32, 40, 37, 53, true);
  add("linear_bf16_40x37x53", by_columns, DType::bf16, 40, 37, 53, true);
  cases.push_back({"batched_projection",
                   "fn f(x: bf16[B, S, K], w: bf16[K, H, D]) -> y: f32[B, S, H, D] {"
                   " y[b, s, h, d] = 2 * sum(k) x[b, s, k] * w[k, h, d] }",
                   {{"x", DType::bf16, {3, 7, 20}}, {"w", DType::bf16, {20, 3, 24}}}});
  cases.push_back({"batched_scores",
                   "fn f(q: f32[B, S, H, D], k: f32[B, T, H, D]) -> y: f32[B, H, S, T] {"
                   " y[b, h, s, t] = sum(d) q[b, s, h, d] * k[b, t, h, d] }",
                   {{"q", DType::f32, {2, 19, 3, 16}}, {"k", DType::f32, {2, 21, 3, 16}}}});
  cases.push_back({"two_summed_axes",
                   "fn f(a: f32[M, I, J], b: f32[I, J, N]) -> y: f32[M, N] { y[m, n] = sum(i, j) a[m, i, j] "
                   "* b[i, j, n] }",
                   {{"a", DType::f32, {17, 5, 9}}, {"b", DType::f32, {5, 9, 40}}}});
  cases.push_back({"views",
                   fill(product, "f32"),
                   {{"a", DType::f32, {33, 41}}, {"b", DType::f32, {41, 50}}},
                   {{"a", {{1, 0}}}, {"b", {{1, 0}}}}});
  cases.push_back({"view_of_result",
                   fill(product, "f32"),
                   {{"a", DType::f32, {33, 41}}, {"b", DType::f32, {41, 50}}},
                   {{"y", {{1, 0}}}}});
  cases.push_back({"rows_with_gaps",
                   fill(product, "f32"),
                   {{"a", DType::f32, {33, 41}}, {"b", DType::f32, {41, 50}}},
                   {{"a", {{}, 3, 1}}, {"b", {{}, 7, 2}}, {"y", {{}, 5, 3}}}});
  cases.push_back({"prologue",
                   "fn f(a: f32[M, K], b: i8[K, N], s: f32[K]) -> y: f32[M, N] {"
                   " y[i, j] = sum(k) max(a[i, k], 0) * (b[k, j] * s[k]) }",
                   {{"a", DType::f32, {20, 37}}, {"b", DType::i8, {37, 35}}, {"s", DType::f32, {37}}}});
  cases.push_back(
      {"empty_sum", fill(product, "f32"), {{"a", DType::f32, {20, 0}}, {"b", DType::f32, {0, 35}}}});
  cases.push_back(
      {"empty_result", fill(product, "f32"), {{"a", DType::f32, {0, 20}}, {"b", DType::f32, {20, 35}}}});
  return cases;
}

std::vector<SweepCase> rows() {
  std::vector<SweepCase> cases;
  auto add = [&](const std::string& name, const std::string& source, DType type) {
    for (auto [r, c] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {3, 15},
                        {2, 16},
                        {37, 131},
                        {150, 5},
                        {1, 20000},
                        {0, 5},
                        {5, 0}})
      cases.push_back({name + "_" + std::to_string(r) + "x" + std::to_string(c),
                       fill(source, std::string(core::dtype_name(type))),
                       {{"x", type, {r, c}}}});
  };
  add("softmax",
      "fn f(x: $[R, C]) -> y: $[R, C] { e[r, c] = exp(x[r, c] - max(c) x[r, c])\n"
      " y[r, c] = e[r, c] / sum(c) e[r, c] }",
      DType::f32);
  add("norm",
      "fn f(x: $[R, C]) -> y: $[R, C] { m[r] = mean(c) x[r, c]\n"
      " y[r, c] = (x[r, c] - m[r]) * rsqrt(mean(c) (x[r, c] - m[r]) * (x[r, c] - m[r]) + 1e-5) }",
      DType::bf16);
  add("row_sums", "fn f(x: $[R, C]) -> y: $[R] { y[r] = sum(c) x[r, c] }", DType::f64);
  add("column_sums", "fn f(x: $[R, C]) -> y: $[C] { y[c] = sum(r) x[r, c] * x[r, c] }", DType::f32);
  add("whole_sum", "fn f(x: $[R, C]) -> y: $ { y = sum(r, c) x[r, c] }", DType::i32);
  add("argmax", "fn f(x: $[R, C]) -> y: i64[R] { y[r] = argmax(c) x[r, c] }", DType::f16);
  add("column_argmin", "fn f(x: $[R, C]) -> y: i64[C] { y[c] = argmin(r) x[r, c] }", DType::i8);
  add("any_and_all",
      "fn f(x: $[R, C]) -> y: bool[R], z: bool { y[r] = any(c) (x[r, c] > 0.9)\n z = all(r, c) (x[r, c] < 2) "
      "}",
      DType::f32);
  add("causal_sums", "fn f(x: $[R, C]) -> y: $[R] { y[r] = sum(c in 0..min(r + 1, C)) x[r, c] }", DType::f32);
  return cases;
}

std::vector<SweepCase> points() {
  std::vector<SweepCase> cases;
  auto add = [&](const std::string& name, const std::string& source, DType type,
                 const testing::MemoryLayouts& layouts = {}) {
    for (auto [r, c] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 15}, {37, 131}, {2, 9000}, {0, 5}})
      cases.push_back({name + "_" + std::to_string(r) + "x" + std::to_string(c),
                       fill(source, std::string(core::dtype_name(type))),
                       {{"x", type, {r, c}}},
                       layouts});
  };
  add("map", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = tanh(x[r, c]) * 2 + x[r, c] }", DType::f32);
  add("map_f64", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = exp(x[r, c]) / 3 }", DType::f64);
  add("narrow", "fn f(x: $[R, C]) -> y: f8e5m2[R, C] { y[r, c] = x[r, c] * 300 }", DType::bf16);
  add("transpose", "fn f(x: $[R, C]) -> y: $[C, R] { y[c, r] = x[r, c] + c - r }", DType::f16);
  add("view", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = x[r, c] + 1 }", DType::f32, {{"x", {{1, 0}}}});
  add("gaps", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = x[r, c] + 1 }", DType::f16,
      {{"x", {{}, 3, 1}}, {"y", {{}, 5, 2}}});
  add("window",
      "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = (x[r, c - 1] else 0) + (x[r - 1, c] else 5) + (x[r, 2 * c] "
      "else -1) }",
      DType::f32);
  add("gather", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = x[r, i64(x[r, c] * 40)] }", DType::f32);
  add("cumsum",
      "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = sum(j in 0..min(c + 1, 40)) x[r, min(j, C - 1)] }",
      DType::f32);
  add("integers",
      "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = (x[r, c] * 100 / 7) % 5 - (x[r, c] << 3) / -3 + r / 3 % 2 "
      "}",
      DType::i32);
  add("recurrence", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = 0.5 * (y[r - 1, c] else 1) + x[r, c] }",
      DType::f32);
  add("fir", "fn f(x: $[R, C]) -> y: $[R, C] { y[r, c] = sum(k in 0..4) (x[r, c - k] else 0) * (k + 1) }",
      DType::f32);
  return cases;
}

class CpuSweep : public ::testing::TestWithParam<SweepCase> {
 protected:
  core::Result<testing::Call> make() const {
    NamedArguments arguments;
    std::uint64_t seed = 1;
    for (const Shape& shape : GetParam().tensors)
      arguments[shape.name] = random_uniform(shape.dtype, shape.extents, seed++);
    return testing::make_call(GetParam().source, "", {}, arguments);
  }
};

TEST_P(CpuSweep, AgreesWithTheReferenceWhateverTheConfiguration) {
  auto call = make();
  ASSERT_TRUE(call.ok()) << call.error().message;
  // A seeded choice of configurations; the first is the one that the cost model takes.
  std::mt19937 generator(static_cast<unsigned>(std::hash<std::string>{}(GetParam().name)));
  for (int round = 0; round < 3; ++round) {
    CpuOptions options;
    options.layouts = GetParam().layouts;
    options.candidate = round == 0 ? 0 : generator() % 997;
    options.vector_bytes = round == 2 ? 32 : 0;
    EXPECT_EQ(testing::difference_from_reference(*call, testing::on_cpu(options)), "")
        << "candidate " << options.candidate;
  }
}

TEST_P(CpuSweep, AgreesWithTheReferenceOnOtherSchedules) {
  auto call = make();
  ASSERT_TRUE(call.ok()) << call.error().message;
  CpuOptions options;
  options.layouts = GetParam().layouts;
  // Short sides go to cpu.dots unless the packed product is asked for.
  for (const char* schedule : {"cpu.points", "cpu.contraction"}) {
    options.schedule = schedule;
    EXPECT_EQ(testing::difference_from_reference(*call, testing::on_cpu(options)), "") << schedule;
  }
}

std::string name_of(const ::testing::TestParamInfo<SweepCase>& tested) { return tested.param.name; }
INSTANTIATE_TEST_SUITE_P(Contractions, CpuSweep, ::testing::ValuesIn(contractions()), name_of);
INSTANTIATE_TEST_SUITE_P(Rows, CpuSweep, ::testing::ValuesIn(rows()), name_of);
INSTANTIATE_TEST_SUITE_P(Points, CpuSweep, ::testing::ValuesIn(points()), name_of);

}  // namespace
}  // namespace einkern
