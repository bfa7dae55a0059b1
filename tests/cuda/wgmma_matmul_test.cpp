// The schedule of products on Hopper's tensor cores: its texts as golden files, its rules, its choices, what
// it refuses, and what NVRTC makes of the texts.
#include "codegen/cuda/wgmma_matmul_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/cuda/products.h"

namespace einkern::codegen::cuda {
namespace {

using testing::configuration;
using ::testing::HasSubstr;
using testing::KernelCase;
using testing::linear;
using testing::product;
using testing::square;

const Schedule& schedule() { return *find_schedule("cuda.wgmma_matmul"); }

void expect_golden(const std::string& name, const KernelCase& product, const std::string& parameters) {
  testing::expect_golden_product(name, schedule(), product, parameters);
}

TEST(WgmmaMatmulGolden, WritesATileBehindTheNext) {
  expect_golden("wgmma_matmul", square(4096), "tile_m=128 tile_n=256 stages=4 staged=2 turns=0 band=16");
}
TEST(WgmmaMatmulGolden, EpilogueWithReads) {
  const KernelCase gelu = product(
      "fn f(x: f16[B, S, K], w: f16[N, K], b: f16[N], r: f16[B, S, N]) -> y: f16[B, S, N] "
      "{ y[s, t, j] = gelu(sum(k) x[s, t, k] * w[j, k] + b[j]) + r[s, t, j] }",
      {{2, 1000, 512}, {768, 512}, {768}, {2, 1000, 768}});
  expect_golden("wgmma_matmul_epilogue", gelu, "tile_m=256 tile_n=128 stages=4 staged=1 turns=0 band=8");
}
TEST(WgmmaMatmulGolden, WarpGroupsTakeTurns) {
  expect_golden("wgmma_matmul_turns", square(4096),
                "tile_m=128 tile_n=128 stages=6 staged=1 turns=1 band=16");
}
TEST(WgmmaMatmulGolden, TransposedOperandsInABatch) {
  const KernelCase batched = product(
      "fn f(x: bf16[B, K, M], w: bf16[B, K, N]) -> y: f32[B, M, N] "
      "{ y[b, i, j] = sum(k) x[b, k, i] * w[b, k, j] }",
      {{3, 512, 256}, {3, 512, 192}});
  expect_golden("wgmma_matmul_transposed", batched, "tile_m=64 tile_n=64 stages=6 staged=0 turns=0 band=8");
}

TEST(WgmmaMatmul, ChangingTheBandNeedsNoOtherCode) {
  const KernelCase product = square(4096);
  const auto emission = [&](const std::string& band) {
    return schedule()
        .emit(product.context(),
              configuration("tile_m=128 tile_n=256 stages=4 staged=2 turns=0 band=" + band))
        .value();
  };
  const core::Emission one = emission("8"), other = emission("32");
  EXPECT_EQ(one.source, other.source);
  EXPECT_NE(one.launch.to_json(), other.launch.to_json());
}

TEST(WgmmaMatmul, RulesSayBothNumbers) {
  const auto violation = [](const KernelCase& of, const std::string& text) {
    return schedule().space(of.context()).violation(configuration(text)).value_or("");
  };
  const KernelCase plain = square(1024);
  EXPECT_THAT(violation(plain, "tile_m=128 tile_n=256 stages=5 staged=1 turns=0 band=8"),
              HasSubstr("shared memory 278608 > 232448 bytes"));
  EXPECT_THAT(violation(plain, "tile_m=256 tile_n=256 stages=3 staged=0 turns=0 band=8"),
              HasSubstr("registers 286 > 232"));
  EXPECT_THAT(violation(plain, "tile_m=128 tile_n=32 stages=4 staged=1 turns=0 band=8"),
              HasSubstr("tile_n 32 is no multiple of a slab's 64 columns"));
  EXPECT_THAT(violation(plain, "tile_m=128 tile_n=64 stages=4 staged=2 turns=1 band=8"),
              HasSubstr("turns 1 with staged 2"));
  const KernelCase turned = square(
      1024, "fn f(x: bf16[M, K], w: bf16[K, N]) -> y: f32[M, N] { y[i, j] = sum(k) x[i, k] * w[k, j] }");
  EXPECT_THAT(violation(turned, "tile_m=128 tile_n=32 stages=4 staged=0 turns=0 band=8"),
              HasSubstr("tile_n 32 is no multiple of a box's 64 columns"));
  EXPECT_THAT(violation(turned, "tile_m=128 tile_n=64 stages=4 staged=1 turns=0 band=8"),
              HasSubstr("cannot leave through the copy engine"));
}

TEST(WgmmaMatmul, SaysWhyItDoesNotFit) {
  const auto reason = [](const KernelCase& of) {
    return schedule().reason_against(of.context()).value_or("");
  };
  EXPECT_EQ(reason(square(64)), "");
  EXPECT_THAT(reason(product(linear, {{64, 64}, {64, 64}}, {}, "sm_80")), HasSubstr("the device is sm_80"));
  EXPECT_THAT(
      reason(product(linear, {{8, 63}, {64, 63}})),
      HasSubstr("'x' has rows that do not lie 16 bytes aligned and forward, and the product is too small"));
  EXPECT_THAT(reason(product(linear, {{8, 64}, {64, 64}}, {{{}, 2}})), HasSubstr("'x' has rows"));
  EXPECT_THAT(reason(product(linear, {{8, 64}, {64, 64}}, {{{0, 1}, 0}})), HasSubstr("'x' has rows"));
  EXPECT_THAT(reason(product(linear, {{8, 64}, {64, 64}}, {{{}, 0}, {{-64, 1}, 0}})),
              HasSubstr("'w' has rows"));
  EXPECT_THAT(reason(product(linear, {{64, 0}, {64, 0}})), HasSubstr("a dimension is empty"));
  EXPECT_THAT(reason(product(
                  "fn f(x: f32[M, K], w: f32[N, K]) -> y: f32[M, N] { y[i, j] = sum(k) x[i, k] * w[j, k] }",
                  {{64, 64}, {64, 64}})),
              HasSubstr("not both elements of f16, or of bf16"));
  EXPECT_THAT(reason(product(
                  "fn f(x: f16[M, K], w: bf16[N, K]) -> y: f32[M, N] { y[i, j] = sum(k) x[i, k] * w[j, k] }",
                  {{64, 64}, {64, 64}})),
              HasSubstr("not both elements"));
  EXPECT_THAT(reason(product("fn f(x: f16[M, 2 * K], w: f16[N, K]) -> y: f16[M, N] "
                             "{ y[i, j] = sum(k) x[i, k + k] * w[j, k] }",
                             {{8, 128}, {64, 64}})),
              HasSubstr("more than an axis"));
  EXPECT_THAT(reason(product("fn f(x: f16[M, A, K, B], w: f16[N, A, B, K]) -> y: f16[M, N] "
                             "{ y[i, j] = sum(a, b, k) x[i, a, k, b] * w[j, a, b, k] }",
                             {{8, 8, 8, 8}, {64, 8, 8, 8}})),
              HasSubstr("behind one another"));
}

std::vector<core::TensorMapArgument> maps_of(const core::Emission& emission) {
  std::vector<core::TensorMapArgument> maps;
  for (const core::Argument& argument : std::get<core::KernelStep>(emission.launch.steps.back()).arguments)
    if (const auto* map = std::get_if<core::TensorMapArgument>(&argument)) maps.push_back(*map);
  return maps;
}

TEST(WgmmaMatmul, MapsWhatATensorMapHolds) {
  const KernelCase product = testing::kernel_case(
      testing::checked_function("fn f(x: f16[B, H, S, D], w: f16[B, H, T, D]) -> y: f16[B, S, H, T] "
                                "{ y[b, s, h, t] = sum(d) x[b, h, s, d] * w[b, h, t, d] }"),
      {.tensors = {{2, 3, 64, 128}, {2, 3, 64, 128}}, .dims = {}});
  const core::Emission emission =
      schedule()
          .emit(product.context(), configuration("tile_m=128 tile_n=128 stages=4 staged=2 turns=0 band=8"))
          .value();
  const auto& step = std::get<core::KernelStep>(emission.launch.steps.front());
  const std::vector<core::TensorMapArgument> maps = maps_of(emission);
  ASSERT_EQ(maps.size(), 3U);
  for (const core::TensorMapArgument& map : maps) EXPECT_TRUE(core::check_tensor_map(map).ok());
  ASSERT_EQ(maps[0].dims.size(), 3U);  // batch and head lie behind one another in x: one dimension
  const core::SymbolValues sizes{{"B", 2}, {"H", 3}, {"S", 64}, {"D", 128}, {"T", 64}, {"sm_count", 132}};
  EXPECT_EQ(*maps[0].dims[2].size.evaluate(sizes), 6);
  EXPECT_EQ(*maps[0].dims[2].byte_stride.evaluate(sizes), 64 * 128 * 2);
  ASSERT_EQ(maps[2].dims.size(), 4U);  // and not in y
  EXPECT_EQ(*maps[2].dims[1].byte_stride.evaluate(sizes), 3 * 64 * 2);
  EXPECT_EQ(*maps[2].dims[2].byte_stride.evaluate(sizes), 64 * 3 * 64 * 2);
  EXPECT_EQ(*maps[2].dims[3].byte_stride.evaluate(sizes), 64 * 2);
  EXPECT_EQ(*step.grid[0].evaluate(sizes), 6);
}

TEST(WgmmaMatmul, ATensorTimesItselfHasTwoMaps) {
  const KernelCase gram =
      product("fn f(x: bf16[N, K]) -> y: bf16[N, N] { y[i, j] = sum(k) x[i, k] * x[j, k] }", {{256, 128}});
  const auto maps = maps_of(
      schedule()
          .emit(gram.context(), configuration("tile_m=128 tile_n=256 stages=4 staged=2 turns=0 band=8"))
          .value());
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].dims[1].box, 128U);
  EXPECT_EQ(maps[1].dims[1].box, 256U);
}

TEST(WgmmaMatmul, PacksOperandsThatTheCopyEngineCannotWalkOver) {
  const KernelCase odd = product(linear, {{100, 99}, {72, 99}});
  const core::Emission emission =
      schedule()
          .emit(odd.context(), configuration("tile_m=128 tile_n=256 stages=4 staged=1 turns=0 band=8"))
          .value();
  ASSERT_EQ(emission.launch.steps.size(), 3U);
  const core::SymbolValues sizes{{"M", 100}, {"N", 72}, {"K", 99}, {"sm_count", 132}};
  EXPECT_EQ(*emission.launch.buffers[0].bytes.evaluate(sizes), 100 * 128 * 2);
  const auto maps = maps_of(emission);
  EXPECT_EQ(*maps[0].dims[0].size.evaluate(sizes), 99);
  EXPECT_EQ(*maps[0].dims[1].byte_stride.evaluate(sizes), 256);
  // Only the operand that needs it, and the way that is contiguous stays contiguous.
  const KernelCase one = product(
      "fn f(x: bf16[K, M], w: bf16[N, K]) -> y: bf16[M, N] "
      "{ y[i, j] = sum(k) x[k, i] * w[j, k] }",
      {{64, 99}, {72, 64}});
  const core::Emission half =
      schedule()
          .emit(one.context(), configuration("tile_m=128 tile_n=256 stages=4 staged=1 turns=0 band=8"))
          .value();
  ASSERT_EQ(half.launch.steps.size(), 2U);
  EXPECT_EQ(*maps_of(half)[0].dims[0].size.evaluate({{"M", 99}, {"K", 64}}), 99);
}

TEST(WgmmaMatmul, ResultsLeaveByTheCopyEngineInWholePieces) {
  // The copy engine would write zeros beyond the last column of an only row.
  const KernelCase ragged = product(linear, {{1, 64}, {7, 64}});
  ASSERT_EQ(schedule().reason_against(ragged.context()), std::nullopt);
  for (const Configuration& c : schedule().space(ragged.context()).enumerate()) EXPECT_EQ(c.get("staged"), 0);
}

TEST(WgmmaMatmul, EveryResultHasOneAccumulatorAndFirstSlabsWait) {
  for (const Configuration& c : schedule().space(square(1024).context()).enumerate()) {
    const WgmmaTile tile = wgmma_tile(c);
    EXPECT_EQ(layout_fault(tile.layout()), "") << c.text();
    EXPECT_EQ(tile.layout().thread_count(), 128 * tile.sharers()) << c.text();
    EXPECT_EQ(tile.layout().register_count(), tile.accumulators()) << c.text();
    if (tile.staged) {
      EXPECT_EQ(tile.pieces() % tile.slabs(), 0) << c.text();
    }
    EXPECT_LE(128 * WgmmaTile::loading_registers + 256 * tile.multiplying_registers(), 384 * 168);
  }
}

TEST(WgmmaMatmul, FirstPickSuitsTheSize) {
  const auto pick = [](const KernelCase& product) {
    return ranked_configurations(schedule(), product.context(), 1).at(0).text();
  };
  EXPECT_EQ(pick(square(4096)), "tile_m=128 tile_n=256 stages=4 staged=2 turns=0 band=16");
  EXPECT_EQ(pick(square(8192)), "tile_m=128 tile_n=256 stages=4 staged=2 turns=0 band=16");
  const Configuration small = ranked_configurations(schedule(), square(512).context(), 1).at(0);
  EXPECT_LE(small.get("tile_m") * small.get("tile_n"), 64 * 64) << small.text();
}

TEST(WgmmaMatmul, EstimatesStayAboveTheLimit) {
  const KernelCase product = square(2048);
  for (const Configuration& c : ranked_configurations(schedule(), product.context(), 1000)) {
    const Estimate estimate = schedule().estimate(product.context(), c);
    EXPECT_GE(estimate.seconds, estimate.limit_seconds) << c.text();
  }
}

/// A sample of the space through NVRTC: no spill, no stack, and nothing that ptxas says of serialised
/// products or ignored moves of registers (C7508, C7510, C7511, C7514, C7519).
TEST(WgmmaMatmulNvrtc, KeepsItsProductsInFlight) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const std::vector<KernelCase> products = {
      square(2048),
      square(2048, "fn f(x: f16[K, M], w: f16[K, N]) -> y: f16[M, N] { y[i, j] = sum(k) x[k, i] * w[k, j] }"),
      product("fn f(x: bf16[B, M, K], w: bf16[B, K, N], b: f32[N]) -> y: bf16[M, B, N] "
              "{ y[i, s, j] = silu(sum(k) x[s, i, k] * w[s, k, j] + b[j]) }",
              {{3, 256, 128}, {3, 128, 256}, {256}}),
      product("fn f(x: f16[M, K], w: f16[N, K]) -> y: f32[N, M], z: f16[M, N] "
              "{ p[i, j] = sum(k) x[i, k] * w[j, k]\n y[j, i] = p[i, j]\n z[i, j] = p[i, j] * 2 }",
              {{128, 128}, {128, 128}})};
  std::mt19937 random(7);
  for (const KernelCase& of : products) {
    ASSERT_EQ(schedule().reason_against(of.context()), std::nullopt);
    const auto ranked = ranked_configurations(schedule(), of.context(), 1000);
    for (const std::size_t turn : {0, 1, 2}) {
      const Configuration& c = ranked[turn == 0 ? 0 : random() % ranked.size()];
      for (const core::EntryResources& resources : testing::clean_resources(**nvrtc, schedule(), of, c)) {
        if (wgmma_tile(c).moves_registers()) {
          EXPECT_EQ(resources.registers, 168) << c.text();
        }
      }
    }
  }
}

}  // namespace
}  // namespace einkern::codegen::cuda
