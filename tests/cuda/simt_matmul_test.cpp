// The schedule of products on CUDA cores: its texts as golden files, its rules, its choices, and what NVRTC
// makes of the texts for every kind of device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/cuda/simt_matmul_tile.h"
#include "codegen/schedule.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/cuda/products.h"

namespace einkern::codegen::cuda {
namespace {

using testing::configuration;
using testing::KernelCase;

const Schedule& schedule() { return *find_schedule("cuda.simt_matmul"); }

std::string source_of(const std::string& a, const std::string& b, const std::string& type) {
  return fmt::format("fn f(a: {2}[{3}], b: {2}[{4}]) -> y: {2}[M, N] {{ y[i, j] = sum(k) a[{0}] * b[{1}] }}",
                     a, b, type, a == "i, k" ? "M, K" : "K, M", b == "k, j" ? "K, N" : "N, K");
}
const std::string rows_by_columns = source_of("i, k", "k, j", "f32"),
                  rows_by_rows = source_of("i, k", "j, k", "f32");

KernelCase product_on(const std::string& architecture, const std::string& source,
                      std::vector<std::vector<std::int64_t>> shapes) {
  return testing::product(source, std::move(shapes), {}, architecture);
}
KernelCase square(std::int64_t n, const std::string& architecture = "sm_90a",
                  const std::string& source = rows_by_columns) {
  return product_on(architecture, source, {{n, n}, {n, n}});
}

void expect_golden(const std::string& name, const KernelCase& product, const std::string& parameters) {
  testing::expect_golden_product(name, schedule(), product, parameters);
}

TEST(SimtMatmulGolden, CopiesOfBothKinds) {
  expect_golden("simt_matmul", square(4096),
                "block_m=128 block_n=128 block_k=16 thread_m=16 thread_n=8 stages=3 splits=1 turned=0 "
                "columns_outer=1 band=8");
}
TEST(SimtMatmulGolden, TurnedInRegisters) {
  expect_golden("simt_matmul_turned", square(4096, "sm_90a", rows_by_rows),
                "block_m=256 block_n=128 block_k=8 thread_m=16 thread_n=8 stages=2 splits=1 turned=1 "
                "columns_outer=1 band=8");
}
TEST(SimtMatmulGolden, StagedThroughRegistersWithAnEpilogue) {
  const KernelCase product = product_on("sm_75",
                                        "fn f(x: f16[M, K], w: f16[N, K], b: f32[N]) -> y: f16[M, N] "
                                        "{ y[i, j] = relu(sum(k) x[i, k] * w[j, k] + b[j]) }",
                                        {{1024, 1024}, {1024, 1024}, {1024}});
  expect_golden("simt_matmul_staged", product,
                "block_m=128 block_n=64 block_k=16 thread_m=8 thread_n=8 stages=2 splits=1 turned=0 "
                "columns_outer=0 band=8");
}
TEST(SimtMatmulGolden, SumInParts) {
  const KernelCase product = product_on("sm_80",
                                        "fn f(a: f64[B, M, K], b: f64[B, K, N]) -> y: f64[B, M, N] "
                                        "{ y[s, i, j] = sum(k) a[s, i, k] * b[s, k, j] }",
                                        {{2, 100, 5000}, {2, 5000, 101}});
  expect_golden("simt_matmul_parts", product,
                "block_m=64 block_n=64 block_k=8 thread_m=4 thread_n=4 stages=4 splits=4 turned=0 "
                "columns_outer=0 band=4");
}

TEST(SimtMatmul, RulesSayBothNumbers) {
  const KernelCase product = square(1024), old = square(1024, "sm_75");
  const auto violation = [](const KernelCase& of, const std::string& text) {
    return schedule().space(of.context()).violation(configuration(text)).value_or("");
  };
  EXPECT_THAT(violation(product,
                        "block_m=32 block_n=32 block_k=16 thread_m=8 thread_n=8 stages=3 splits=1 "
                        "turned=0 columns_outer=1 band=8"),
              ::testing::HasSubstr("block_n 32 is no multiple"));
  EXPECT_THAT(violation(product,
                        "block_m=256 block_n=256 block_k=8 thread_m=8 thread_n=8 stages=3 splits=1 "
                        "turned=0 columns_outer=1 band=8"),
              ::testing::HasSubstr("threads 1024 > 256"));
  EXPECT_THAT(violation(product,
                        "block_m=256 block_n=256 block_k=8 thread_m=16 thread_n=16 stages=3 splits=1 "
                        "turned=0 columns_outer=1 band=8"),
              ::testing::HasSubstr("registers 352 > 240"));
  EXPECT_THAT(violation(product,
                        "block_m=128 block_n=128 block_k=16 thread_m=16 thread_n=4 stages=3 splits=1 "
                        "turned=0 columns_outer=1 band=8"),
              ::testing::HasSubstr("thread_m and thread_n 16 > 2 x 4"));
  EXPECT_THAT(violation(old,
                        "block_m=128 block_n=128 block_k=16 thread_m=8 thread_n=8 stages=3 splits=1 "
                        "turned=0 columns_outer=1 band=8"),
              ::testing::HasSubstr("stages 3 > 2 without asynchronous copies"));
  EXPECT_THAT(violation(product,
                        "block_m=128 block_n=128 block_k=8 thread_m=8 thread_n=8 stages=2 splits=1 turned=1 "
                        "columns_outer=1 band=8"),
              ::testing::IsEmpty());
  EXPECT_THAT(violation(square(1024, "sm_90a", source_of("k, i", "k, j", "f32")),
                        "block_m=128 block_n=128 block_k=8 thread_m=8 thread_n=8 stages=2 splits=1 turned=1 "
                        "columns_outer=1 band=8"),
              ::testing::HasSubstr("turned 1, but no operand"));
  const KernelCase ada = square(1024, "sm_89", source_of("i, k", "k, j", "f64"));
  EXPECT_THAT(violation(ada,
                        "block_m=128 block_n=128 block_k=16 thread_m=8 thread_n=8 stages=4 splits=1 "
                        "turned=0 columns_outer=1 band=8"),
              ::testing::HasSubstr("shared memory 132096 > 101376 bytes"));
}

TEST(SimtMatmul, SaysWhyItDoesNotFit) {
  const KernelCase pointwise = testing::product("fn f(a: f32[M]) -> y: f32[M] { y[i] = a[i] + 1 }", {{8}});
  EXPECT_EQ(schedule().reason_against(pointwise.context()), "the kernel is no contraction");
  EXPECT_EQ(schedule().reason_against(square(8).context()), std::nullopt);
}

TEST(SimtMatmul, EveryElementHasOneAccumulatorAndIsCopiedOnce) {
  const KernelCase product = square(1024, "sm_90a", rows_by_rows);
  for (const Configuration& c : schedule().space(product.context()).enumerate()) {
    if (c.get("stages") != 3 || c.get("splits") != 1 || c.get("band") != 8 || c.get("columns_outer") != 1)
      continue;
    for (const int bytes : {4, 8}) {
      const SimtMatmulTile tile = simt_matmul_tile(c, bytes);
      EXPECT_EQ(layout_fault(tile.layout()), "") << c.text();
      EXPECT_EQ(tile.layout().thread_count(), tile.threads());
      for (const bool along_steps : {false, true})
        for (const int widest : {1, 2, 4, 8}) {
          const auto pattern = tile.copy_pattern(tile.block_m, along_steps, widest);
          if (!pattern) continue;
          EXPECT_EQ(pattern->count * pattern->width * tile.threads(), tile.block_m * tile.block_k)
              << c.text();
        }
    }
  }
}

TEST(SimtMatmul, FirstPickSuitsTheSize) {
  const auto pick = [](const KernelCase& product) {
    return ranked_configurations(schedule(), product.context(), 1).at(0);
  };
  const Configuration large = pick(square(4096));
  EXPECT_EQ(large.get("thread_m") * large.get("thread_n"), 128) << large.text();
  EXPECT_EQ(large.get("splits"), 1) << large.text();
  const Configuration small =
      pick(square(512));  // 16 tiles of 128 x 128 would leave most multiprocessors idle
  EXPECT_LE(small.get("block_m") * small.get("block_n"), 64 * 64) << small.text();
  const Configuration deep = pick(testing::product(rows_by_columns, {{64, 65536}, {65536, 64}}));
  EXPECT_GT(deep.get("splits"), 4) << deep.text();
}

TEST(SimtMatmul, EstimatesStayAboveTheLimit) {
  const KernelCase product = square(2048);
  for (const Configuration& c : ranked_configurations(schedule(), product.context(), 100)) {
    const Estimate estimate = schedule().estimate(product.context(), c);
    EXPECT_GE(estimate.seconds, estimate.limit_seconds) << c.text();
    EXPECT_GT(estimate.occupancy, 0) << c.text();
  }
}

/// Compiles sampled configurations, the best-ranked among them, and refuses spills and stack frames.
void expect_no_spills(const std::string& architecture) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const std::vector<std::string> sources = {rows_by_columns, rows_by_rows, source_of("k, i", "k, j", "f32"),
                                            source_of("i, k", "j, k", "f64"),
                                            "fn f(a: bf16[M, K], b: i8[N, K], s: f32[N]) -> y: f32[M, N] "
                                            "{ y[i, j] = gelu(sum(k) a[i, k] * (f32(b[j, k]) * s[j])) }"};
  std::mt19937 random(static_cast<unsigned>(std::stoi(architecture.substr(3))));
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const bool best = random() % 2 == 0;
    const std::int64_t size = random() % 2 == 0 ? 2048 : 1027;
    std::vector<std::vector<std::int64_t>> shapes = {{size, size}, {size, size}};
    if (s == 4) shapes.push_back({size});
    const KernelCase product = product_on(architecture, sources[s], shapes);
    const auto ranked = ranked_configurations(schedule(), product.context(), 2000);
    ASSERT_FALSE(ranked.empty());
    const Configuration& c = ranked[best ? 0 : random() % ranked.size()];
    const core::Emission emission = schedule().emit(product.context(), c).value();
    const auto compiled =
        runtime::cuda::compile_cuda(**nvrtc, {.text = emission.source, .architecture = architecture});
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    for (const auto& [entry, resources] : compiled->entries) {
      EXPECT_EQ(resources.spill_store_bytes, 0) << sources[s] << " " << c.text();
      EXPECT_EQ(resources.stack_bytes, 0) << sources[s] << " " << c.text();
    }
  }
}

class SimtMatmulNvrtc : public ::testing::TestWithParam<std::string> {};
TEST_P(SimtMatmulNvrtc, CompilesWithoutSpills) { expect_no_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Architectures, SimtMatmulNvrtc,
                         ::testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a",
                                           "sm_120a"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace einkern::codegen::cuda
