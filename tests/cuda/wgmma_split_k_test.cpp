// The schedule of products with one short side on Hopper's tensor cores: its texts as golden files, its
// rules, its choices, and what NVRTC makes of the texts.
#include "codegen/cuda/split_k_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/cuda/roofline.h"
#include "tests/cuda/products.h"

namespace einkern::codegen::cuda {
namespace {

using testing::configuration;
using ::testing::HasSubstr;
using testing::KernelCase;
using testing::linear;
using testing::product;
using testing::square;

const Schedule& schedule() { return *find_schedule("cuda.wgmma_split_k"); }

/// x · wᵀ with `m` rows of x.
KernelCase rows_of(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& source = linear) {
  return product(source, {{m, k}, {n, k}});
}

TEST(WgmmaSplitKGolden, TwoBlocksShareTheSum) {
  testing::expect_golden_product("wgmma_split_k", schedule(), rows_of(16, 4096, 14336),
                                 "rows=64 columns=16 split=2 slices=2 resident=1 swapped=1");
}
TEST(WgmmaSplitKGolden, OneBlockHasTheWholeSum) {
  testing::expect_golden_product("wgmma_split_k_whole", schedule(), rows_of(1, 6144, 4096),
                                 "rows=64 columns=8 split=1 slices=1 resident=2 swapped=1");
}
TEST(WgmmaSplitKGolden, LongFirstFactorInABatch) {
  const KernelCase batched = product(
      "fn f(x: f16[B, K, M], w: f16[B, N, K], b: f32[N]) -> y: f16[B, M, N] "
      "{ y[s, i, j] = gelu(sum(k) x[s, k, i] * w[s, j, k] + b[j]) }",
      {{3, 512, 4096}, {3, 24, 512}, {24}});
  testing::expect_golden_product("wgmma_split_k_batched", schedule(), batched,
                                 "rows=128 columns=32 split=8 slices=1 resident=1 swapped=0");
}

TEST(WgmmaSplitK, RulesSayBothNumbers) {
  const auto violation = [](const KernelCase& of, const std::string& text) {
    return schedule().space(of.context()).violation(configuration(text)).value_or("");
  };
  const KernelCase plain = rows_of(128, 4096, 4096);
  EXPECT_THAT(violation(plain, "rows=128 columns=128 split=2 slices=2 resident=1 swapped=1"),
              HasSubstr("shared memory 262208 > 232448 bytes"));
  EXPECT_THAT(violation(plain, "rows=128 columns=64 split=2 slices=1 resident=4 swapped=1"),
              HasSubstr("registers 80 > 56"));
  const KernelCase turned =
      product("fn f(x: bf16[K, M], w: bf16[N, K]) -> y: f32[M, N] { y[i, j] = sum(k) x[k, i] * w[j, k] }",
              {{512, 64}, {4096, 512}});
  EXPECT_THAT(violation(turned, "rows=64 columns=16 split=2 slices=1 resident=1 swapped=1"),
              HasSubstr("columns 16 is no multiple of a box's 64"));
  EXPECT_EQ(violation(turned, "rows=64 columns=16 split=2 slices=1 resident=1 swapped=0"), "");
}

TEST(WgmmaSplitK, SaysWhyItDoesNotFit) {
  EXPECT_THAT(schedule().reason_against(product(linear, {{1, 64}, {64, 64}}, {}, "sm_80").context()).value(),
              HasSubstr("the device is sm_80"));
  EXPECT_THAT(schedule().reason_against(product(linear, {{1, 63}, {64, 63}}).context()).value(),
              HasSubstr("16 bytes aligned"));
}

TEST(WgmmaSplitK, SharesAndStagesFillWhatTheyHave) {
  const KernelCase of = rows_of(64, 4096, 4096);
  for (const Configuration& c : schedule().space(of.context()).enumerate()) {
    const SplitKTile tile = split_k_tile(c, of.device);
    EXPECT_EQ(layout_fault(tile.layout()), "") << c.text();
    EXPECT_EQ(tile.layout().thread_count(), tile.consumer_threads()) << c.text();
    EXPECT_EQ(tile.layout().register_count(), tile.share_registers()) << c.text();
    EXPECT_EQ(tile.layout().contiguous_columns(), tile.swapped ? 1 : 2) << c.text();
    EXPECT_EQ(tile.share_columns() * tile.owners(), tile.columns) << c.text();
    EXPECT_EQ(tile.share_registers() % 4, 0) << c.text();  // they are sent four at a time
    EXPECT_LE(tile.shared_bytes(), of.device.shared_bytes_per_block) << c.text();
    EXPECT_GE(resident_blocks(of.device, {.threads = tile.threads(), .shared_bytes = tile.shared_bytes()}),
              tile.resident)
        << c.text();
    EXPECT_LT(tile.split * tile.share_bytes(), 1 << 20) << c.text();  // what a barrier can count
  }
}

TEST(WgmmaSplitK, LaunchesWholeClustersWithEqualTurns) {
  const auto launch = [](const KernelCase& of, const std::string& text) {
    const core::Emission emission = schedule().emit(of.context(), configuration(text)).value();
    return std::get<core::KernelStep>(emission.launch.steps.back());
  };
  const KernelCase up = rows_of(16, 28672, 4096);
  const core::SymbolValues sizes{{"M", 16}, {"N", 28672}, {"K", 4096}, {"sm_count", 132}};
  const core::KernelStep pairs = launch(up, "rows=64 columns=16 split=2 slices=2 resident=1 swapped=1");
  EXPECT_EQ(*pairs.cluster[0].evaluate({}), 2);
  EXPECT_EQ(*pairs.grid[0].evaluate(sizes), 128);  // 448 tiles in 7 turns of 64 clusters
  const core::KernelStep fours = launch(up, "rows=64 columns=16 split=4 slices=2 resident=1 swapped=1");
  EXPECT_EQ(*fours.grid[0].evaluate(sizes), 120);  // 15 turns of 30: no more clusters of 4 run at once
  for (const core::Argument& argument : pairs.arguments) {
    if (const auto* map = std::get_if<core::TensorMapArgument>(&argument)) {
      EXPECT_EQ(map->promotion, core::L2Promotion::bytes_128);
    }
  }
  const core::KernelStep alone = launch(up, "rows=64 columns=16 split=1 slices=2 resident=1 swapped=1");
  EXPECT_EQ(*alone.cluster[0].evaluate({}), 1);
}

/// The first picks for a decoder's products, which were measured (docs/performance.md).
TEST(WgmmaSplitK, FirstPickSuitsTheSize) {
  const auto pick = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return ranked_configurations(schedule(), rows_of(m, n, k).context(), 1).at(0);
  };
  EXPECT_EQ(pick(16, 28672, 4096).text(), "rows=64 columns=16 split=2 slices=2 resident=1 swapped=1");
  EXPECT_EQ(pick(16, 4096, 14336).text(), "rows=64 columns=16 split=2 slices=2 resident=1 swapped=1");
  EXPECT_EQ(pick(64, 28672, 4096).text(), "rows=64 columns=64 split=2 slices=2 resident=1 swapped=1");
  EXPECT_EQ(pick(64, 4096, 14336).text(), "rows=64 columns=64 split=2 slices=2 resident=1 swapped=1");
  EXPECT_EQ(pick(128, 4096, 14336).text(), "rows=64 columns=128 split=2 slices=2 resident=1 swapped=1");
  EXPECT_EQ(pick(65536, 16, 1024).get("swapped"), 0);
}

TEST(WgmmaSplitK, EstimatesStayAboveTheLimit) {
  const KernelCase product = rows_of(16, 4096, 14336);
  for (const Configuration& c : ranked_configurations(schedule(), product.context(), 1000)) {
    const Estimate estimate = schedule().estimate(product.context(), c);
    EXPECT_GE(estimate.seconds, estimate.limit_seconds) << c.text();
  }
}

/// A sample of the space through NVRTC.
TEST(WgmmaSplitKNvrtc, KeepsItsProductsInFlight) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const std::vector<KernelCase> products = {
      rows_of(1, 4096, 4096),
      rows_of(64, 4096, 4096,
              "fn f(x: f16[M, K], w: f16[N, K]) -> y: f32[N, M], z: f16[M, N] "
              "{ p[i, j] = sum(k) x[i, k] * w[j, k]\n y[j, i] = p[i, j]\n z[i, j] = p[i, j] * 2 }"),
      product("fn f(x: bf16[B, M, K], w: bf16[B, K, N], b: f32[N]) -> y: bf16[M, B, N] "
              "{ y[i, s, j] = silu(sum(k) x[s, i, k] * w[s, k, j] + b[j]) }",
              {{3, 24, 128}, {3, 128, 2048}, {2048}})};
  std::mt19937 random(7);
  for (const KernelCase& of : products) {
    ASSERT_EQ(schedule().reason_against(of.context()), std::nullopt);
    const auto ranked = ranked_configurations(schedule(), of.context(), 10000);
    for (int turn = 0; turn < 6; ++turn) {
      const Configuration& c = ranked[turn == 0 ? 0 : random() % ranked.size()];
      const SplitKTile tile = split_k_tile(c, of.device);
      for (const core::EntryResources& resources : testing::clean_resources(**nvrtc, schedule(), of, c))
        EXPECT_GE(resident_blocks(of.device, {.threads = tile.threads(),
                                              .registers = resources.registers,
                                              .shared_bytes = tile.shared_bytes()}),
                  tile.resident)
            << c.text();
    }
  }
}

}  // namespace
}  // namespace einkern::codegen::cuda
