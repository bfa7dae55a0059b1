// The emitted LLVM IR of a few kernels for a fixed machine, word for word: EINKERN_UPDATE_GOLDEN=1 rewrites
// the files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codegen/reference/random_tensor.h"
#include "tests/cpu/run_on_cpu.h"

namespace einkern {
namespace {

struct GoldenCase {
  std::string name, source;
  std::map<std::string, std::pair<DType, std::vector<std::int64_t>>> tensors;
  std::string configuration;
};

const std::vector<GoldenCase>& cases() {
  static const std::vector<GoldenCase> all = {
      {"map",
       "fn silu_scaled(x: bf16[R, C], s: f32) -> y: bf16[R, C] { y[r, c] = s * silu(x[r, c]) }",
       {{"x", {DType::bf16, {64, 64}}}},
       "axis=1 lanes=4 unroll=1 block=4096 tile=1"},
      {"gather",
       "fn embed(t: i32[S], table: f16[V, D]) -> e: f16[S, D] { e[s, d] = table[t[s], d] }",
       {{"t", {DType::i32, {8}}}, {"table", {DType::f16, {10, 32}}}},
       "axis=1 lanes=4 unroll=1 block=4096 tile=1"},
      {"softmax",
       "fn softmax(x: f32[R, C]) -> y: f32[R, C] {\n  e[r, c] = exp(x[r, c] - max(c) x[r, c])\n"
       "  y[r, c] = e[r, c] / sum(c) e[r, c]\n}",
       {{"x", {DType::f32, {8, 100}}}},
       "across_rows=0 lanes=4 vectors=2 split=0 chunk=16384"},
      {"product",
       "fn linear(x: f32[M, K], w: f32[N, K], b: f32[N]) -> y: f32[M, N] {"
       " y[i, j] = max(sum(k) x[i, k] * w[j, k] + b[j], 0) }",
       {{"x", {DType::f32, {64, 64}}}, {"w", {DType::f32, {64, 64}}}, {"b", {DType::f32, {64}}}},
       "rows=2 vectors=1 unroll=1 mc=112 nc=1024 kc=512"},
  };
  return all;
}

core::DeviceFacts fixed_machine() {
  core::DeviceFacts facts;
  facts.name = "golden";
  facts.architecture = "x86-64-v4";
  facts.vector_bytes = 16;  // short vectors keep the files short
  facts.max_registers_per_thread = 16;
  facts.multiprocessors = 4;
  return facts;
}

class IrGolden : public ::testing::TestWithParam<std::size_t> {};

TEST_P(IrGolden, IsWhatItWas) {
  const GoldenCase& which = cases()[GetParam()];
  testing::NamedArguments arguments;
  for (const auto& [name, tensor] : which.tensors)
    arguments[name] = codegen::reference::random_uniform(tensor.first, tensor.second, 1);
  auto call = testing::make_call(which.source, "", {}, arguments);
  ASSERT_TRUE(call.ok()) << call.error().message;
  testing::CpuOptions options;
  options.configuration = which.configuration;
  options.facts = fixed_machine();
  auto emissions = testing::emit_for_cpu(*call, options);
  ASSERT_TRUE(emissions.ok()) << emissions.error().message;
  ASSERT_EQ(emissions->size(), 1u);
  const core::Emission& emission = emissions->front();
  const std::string text = emission.source + "\n; " + emission.launch.to_json() + "\n";
  const std::string path = std::string(EINKERN_TEST_DIR) + "/golden/cpu/" + which.name + ".ll";
  if (std::getenv("EINKERN_UPDATE_GOLDEN")) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "EINKERN_UPDATE_GOLDEN=1 writes " << path;
  EXPECT_TRUE(testing::cpu_device().compile(emission).ok());
}

INSTANTIATE_TEST_SUITE_P(Kernels, IrGolden, ::testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& each) { return cases()[each.param].name; });

}  // namespace
}  // namespace einkern
