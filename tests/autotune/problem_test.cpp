#include "autotune/problem.h"

#include <gtest/gtest.h>

#include "autotune/flush.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/autotune/kernels.h"

namespace einkern::autotune {
namespace {

using testing::BoundFunction;

core::DeviceFacts some_cpu() { return {.name = "some CPU", .architecture = "x86-64"}; }

Problem problem_of(const BoundFunction& function, std::size_t kernel = 0) {
  return make_problem(function.context(kernel), function.placements(), 1).value();
}

const ProblemTensor& named(const Problem& problem, const std::string& name) {
  for (const ProblemTensor& tensor : problem.tensors)
    if (tensor.name == name) return tensor;
  std::abort();
}

TEST(Problem, DenseTensorsAndTheirSymbols) {
  const BoundFunction function(
      "fn f(x: bf16[R, C], a: f32 = 0.25) -> y: i32[R, C] { y[r, c] = i32(a * x[r, c]) }", {{3, 5}},
      some_cpu());
  const Problem problem = problem_of(function);
  const ProblemTensor x = named(problem, "x"), y = named(problem, "y");
  EXPECT_EQ(x.kind, core::BufferKind::input);
  EXPECT_EQ(x.strides, (std::vector<std::int64_t>{5, 1}));
  EXPECT_EQ(x.first_byte, 0);
  EXPECT_EQ(y.kind, core::BufferKind::output);
  EXPECT_EQ(y.relative, 0);  // integers are compared exactly
  EXPECT_EQ(y.absolute, 0);
  EXPECT_NE(x.seed, y.seed);
  EXPECT_EQ(problem.symbols.at("R"), 3);
  EXPECT_EQ(problem.symbols.at("x.stride.0"), 5);
  EXPECT_EQ(problem.scalars.at("a"), 0x3E800000u);  // 0.25 in f32
}

TEST(Problem, TensorsLieAsTheCallers) {
  const std::string source =
      "fn f(x: f32[A, B], b: f32[A, B]) -> y: f32[A, B] { y[i, j] = x[i, j] + b[i, j] }";
  const BoundFunction function(source, {{4, 8}, {4, 8}}, some_cpu(),
                               {{.strides = {-8, 1}, .address_modulo_16 = 4}, {.strides = {0, 1}}});
  const Problem problem = problem_of(function);
  EXPECT_EQ(named(problem, "x").strides, (std::vector<std::int64_t>{-8, 1}));
  EXPECT_EQ(named(problem, "x").first_byte, 4);
  EXPECT_EQ(named(problem, "b").strides, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(named(problem, "y").strides, (std::vector<std::int64_t>{8, 1}));  // the engine's own: dense
  EXPECT_EQ(problem.symbols.at("x.stride.0"), -8);
  EXPECT_EQ(problem.symbols.at("b.stride.0"), 0);
}

TEST(Problem, SumsOfSmallIntegersAllowNoError) {
  const auto allowed = [](const std::string& source, std::vector<std::vector<std::int64_t>> shapes) {
    const BoundFunction function(source, std::move(shapes), some_cpu());
    const ProblemTensor y = named(problem_of(function), "y");
    return y.relative + y.absolute;
  };
  const auto product = [&](const std::string& type, const std::string& value, std::int64_t k) {
    return allowed("fn f(x: " + type + "[M, K], w: " + type + "[N, K], s: f32 = 0.5) -> y: " + type +
                       "[M, N] { y[i, j] = " + value + " }",
                   {{4, k}, {5, k}});
  };
  const std::string sum = "sum(k) x[i, k] * w[j, k]";
  EXPECT_EQ(product("f32", sum, 4096), 0);
  EXPECT_EQ(product("bf16", sum, 4096), 0);  // one rounding, of the exact sum
  EXPECT_EQ(product("f32", "max(s * (" + sum + ") - 1.0, 0.0)", 4096), 0);
  EXPECT_GT(product("f32", sum, 3'000'000), 0);  // 9 K no longer fits 24 bits
  EXPECT_EQ(product("f8e4m3", sum, 512), 0);
  EXPECT_GT(product("f8e4m3", sum, 4096), 0);  // tensor cores keep 14 bits of such sums
  EXPECT_GT(product("f32", "exp(" + sum + ")", 16), 0);
  EXPECT_GT(product("f32", "(" + sum + ") / 3.0", 16), 0);
  EXPECT_GT(product("f32", "0.1 * (" + sum + ")", 16), 0);
  EXPECT_EQ(allowed("fn f(x: f32[R, C]) -> y: f32[R] { y[r] = max(c) x[r, c] }", {{3, 50}}), 0);
  EXPECT_GT(allowed("fn f(x: f32[R, C]) -> y: f32[R] { y[r] = prod(c) x[r, c] }", {{3, 50}}), 0);
}

TEST(Problem, IndicesLieInsideWhatTheyIndex) {
  const BoundFunction function(
      "fn embed(t: i32[S], w: f32[V, D], n: i32[S]) -> e: f32[S, D] "
      "{ e[s, d] = w[t[s], d] + f32(n[s]) }",
      {{20}, {50, 8}, {20}}, some_cpu());
  const Problem problem = problem_of(function);
  EXPECT_EQ(named(problem, "t").index_limit, 50);
  EXPECT_EQ(named(problem, "n").index_limit, 0);
  EXPECT_EQ(named(problem, "w").index_limit, 0);
}

TEST(Problem, AnIndexThatItsTypeCannotHoldIsLimitedByTheType) {
  const BoundFunction function("fn embed(t: u8[S], w: f32[V, D]) -> e: f32[S, D] { e[s, d] = w[t[s], d] }",
                               {{20}, {5000, 8}}, some_cpu());
  EXPECT_EQ(named(problem_of(function), "t").index_limit, 255);
}

TEST(Problem, UpdatesStartFromData) {
  const BoundFunction function(
      "fn add(y: inout f32[V, D], t: i32[S], x: f32[S, D]) { y[t[s], d] += x[s, d] }",
      {{10, 4}, {30}, {30, 4}}, some_cpu());
  bool updated = false;
  for (std::size_t kernel = 0; kernel < function.kernel_count(); ++kernel)
    for (const ProblemTensor& tensor : problem_of(function, kernel).tensors)
      updated = updated || tensor.kind == core::BufferKind::inout;
  EXPECT_TRUE(updated);
}

TEST(Problem, ATensorWithoutElementsLeavesNothingToMeasure) {
  const std::string source = "fn f(x: f32[R, C]) -> y: f32[R] { y[r] = sum(c) x[r, c] }";
  EXPECT_TRUE(is_empty(BoundFunction(source, {{3, 0}}, some_cpu()).context()));
  EXPECT_TRUE(is_empty(BoundFunction(source, {{0, 3}}, some_cpu()).context()));
  EXPECT_FALSE(is_empty(BoundFunction(source, {{1, 1}}, some_cpu()).context()));
}

TEST(Flush, ReadsMoreThanTheCachesHold) {
  for (const std::int64_t l2 : {std::int64_t{4} << 20, std::int64_t{126} << 20}) {
    const core::Emission emission = flush_emission({.l2_bytes = l2});
    const auto bytes = emission.launch.buffers.at(0).bytes.evaluate({});
    ASSERT_TRUE(bytes.ok());
    EXPECT_GE(*bytes, std::int64_t{192} << 20);
    EXPECT_GE(*bytes, 4 * l2);
  }
}

TEST(Flush, NvrtcCompilesIt) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const auto facts = core::facts_of_architecture("sm_90a");
  ASSERT_TRUE(facts.ok());
  const auto artifact =
      runtime::cuda::compile_cuda(**nvrtc, {.text = flush_emission(*facts).source, .architecture = "sm_90a"});
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_TRUE(artifact->entries.contains("ek_flush") && artifact->entries.contains("ek_hold"));
}

}  // namespace
}  // namespace einkern::autotune
