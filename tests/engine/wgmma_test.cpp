// Products on Hopper's tensor cores against the reference: random sizes, operand orders, types and epilogues,
// every form of both schedules; and which of them the cost model picks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/schedule.h"
#include "engine/kernel_choice.h"
#include "tests/engine/run_on_device.h"
#include "tests/support/kernel_cases.h"

namespace einkern::testing {
namespace {

constexpr int random_products = 60;

/// Sizes at which tiles, boxes and stages begin and end.
std::int64_t size(std::mt19937& random, bool contiguous) {
  static constexpr std::int64_t sizes[] = {1,   7,   8,   56,  63,  64,  65,  72,
                                           120, 127, 128, 129, 200, 256, 264, 331};
  const std::int64_t chosen = sizes[random() % std::size(sizes)];
  return contiguous ? (chosen + 7) / 8 * 8 : chosen;
}

HostTensor random_tensor(std::mt19937& random, DType dtype, std::vector<std::int64_t> shape) {
  HostTensor tensor{dtype, std::move(shape), {}, {}};
  std::uniform_real_distribution<double> values(-1, 1);
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.floats.push_back(core::round_to(dtype, values(random)));
  return tensor;
}

struct RandomProduct {
  std::string source;
  Call call;
};

RandomProduct random_product(std::mt19937& random) {
  const bool a_turned = random() % 2 == 0, b_turned = random() % 2 == 0, batched = random() % 3 == 0;
  const std::string type = random() % 2 == 0 ? "bf16" : "f16";
  const std::string result = random() % 3 == 0 ? "f32" : type;
  static const std::vector<std::string> epilogues = {"{}", "gelu({} + b[j])", "2 * {} + r[{}i, j]",
                                                     "where(i >= j, {}, 0)"};
  const std::size_t which = random() % epilogues.size();
  const std::string s = batched ? "s, " : "", S = batched ? "S, " : "";
  const std::string sum = fmt::format("(sum(k) x[{0}{1}] * w[{0}{2}])", s, a_turned ? "k, i" : "i, k",
                                      b_turned ? "k, j" : "j, k");
  const std::string value = which == 2 ? fmt::format("2 * {} + r[{}i, j]", sum, s)
                                       : fmt::format(fmt::runtime(epilogues[which]), sum);
  RandomProduct product;
  product.source = fmt::format(
      "fn f(x: {type}[{S}{a}], w: {type}[{S}{b}], b: f32[N], r: {type}[{S}M, N]) -> y: {result}[{S}M, N] "
      "{{ y[{s}i, j] = {value} }}",
      fmt::arg("type", type), fmt::arg("result", result), fmt::arg("S", S), fmt::arg("s", s),
      fmt::arg("a", a_turned ? "K, M" : "M, K"), fmt::arg("b", b_turned ? "K, N" : "N, K"),
      fmt::arg("value", value));
  const bool packed = random() % 3 == 0;  // rows need not begin at multiples of 16 bytes
  const std::int64_t m = size(random, a_turned && !packed), n = size(random, b_turned && !packed);
  const std::int64_t k = size(random, (!a_turned || !b_turned) && !packed);
  const auto shaped = [&](std::int64_t first, std::int64_t second) {
    return batched ? std::vector<std::int64_t>{3, first, second} : std::vector<std::int64_t>{first, second};
  };
  const DType dtype = type == "bf16" ? DType::bf16 : DType::f16;
  product.call = make_call(product.source, "f", {},
                           {{"x", random_tensor(random, dtype, a_turned ? shaped(k, m) : shaped(m, k))},
                            {"w", random_tensor(random, dtype, b_turned ? shaped(k, n) : shaped(n, k))},
                            {"b", random_tensor(random, DType::f32, {n})},
                            {"r", random_tensor(random, dtype, shaped(m, n))}})
                     .value();
  return product;
}

class WgmmaGpu : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Schedules, WgmmaGpu, ::testing::Values("cuda.wgmma_matmul", "cuda.wgmma_split_k"),
                         [](const auto& of) { return of.param.substr(of.param.find('.') + 1); });

TEST_P(WgmmaGpu, RandomProductsAgreeWithTheReference) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  const codegen::Schedule& schedule = *codegen::find_schedule(GetParam());
  int run = 0;
  for (unsigned seed = 0; run < random_products && seed < 10 * random_products; ++seed) {
    std::mt19937 random(seed);
    const RandomProduct product = random_product(random);
    const KernelCase kernels = kernel_case(product.call.function, product.call.shapes);
    if (schedule.reason_against(kernels.context())) continue;
    const auto space = schedule.space(kernels.context()).enumerate();
    const std::string configuration = space[random() % space.size()].text();
    const std::string difference =
        difference_from_reference(product.call, on_schedule(*gpu(), GetParam(), configuration));
    if (difference.find("the device is") != std::string::npos) GTEST_SKIP() << difference;  // no Hopper
    EXPECT_EQ(difference, "") << "seed " << seed << ": " << product.source << " " << configuration;
    ++run;
  }
  EXPECT_EQ(run, random_products);
}

const std::string linear =
    "fn f(x: bf16[M, K], w: bf16[N, K]) -> y: bf16[M, N] { y[i, j] = sum(k) x[i, k] * w[j, k] }";

/// Clusters with many tiles each: partial sums of one are exchanged while the next ones stream in.
TEST(WgmmaSplitKGpu, ManyTilesInTurn) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937 random(5);
  const Call call = make_call(linear, "f", {},
                              {{"x", random_tensor(random, DType::bf16, {5, 136})},
                               {"w", random_tensor(random, DType::bf16, {10000, 136})}})
                        .value();
  for (const std::string split : {"1", "2", "4", "8"}) {
    const std::string configuration = "rows=64 columns=16 split=" + split + " slices=1 resident=1 swapped=1";
    const std::string difference =
        difference_from_reference(call, on_schedule(*gpu(), "cuda.wgmma_split_k", configuration));
    if (difference.find("the device is") != std::string::npos) GTEST_SKIP() << difference;  // no Hopper
    EXPECT_EQ(difference, "") << configuration;
  }
}

TEST_P(WgmmaGpu, TheSameBitsTwice) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937 random(3);
  const Call call = make_call(linear, "f", {},
                              {{"x", random_tensor(random, DType::bf16, {100, 1024})},
                               {"w", random_tensor(random, DType::bf16, {776, 1024})}})
                        .value();
  const RunCase run = on_schedule(*gpu(), GetParam(), "");
  const auto result = [&] {
    auto results = run(call);
    return results.ok() ? results->begin()->second.floats : std::vector<double>{};
  };
  const std::vector<double> first = result();
  if (first.empty()) GTEST_SKIP() << "no Hopper";
  for (int i = 0; i < 20; ++i) EXPECT_EQ(result(), first);
}

TEST(KernelChoice, TheLowestEstimateOfTheTensorCoresDecides) {
  const auto choice = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const KernelCase of = kernel_case(checked_function(linear), {.tensors = {{m, k}, {n, k}}, .dims = {}});
    return engine::choose_kernel(of.context(), autotune::RecordStore("")).value();
  };
  for (const std::int64_t m : {1, 16, 64}) {
    const engine::KernelChoice few = choice(m, 28672, 4096);
    EXPECT_EQ(few.schedule->name(), "cuda.wgmma_split_k") << m;
    EXPECT_EQ(few.source, engine::ChoiceSource::model);
  }
  EXPECT_EQ(choice(64, 2112, 7168).schedule->name(), "cuda.wgmma_split_k");
  for (const std::int64_t n : {2048, 4096, 8192})
    EXPECT_EQ(choice(n, n, n).schedule->name(), "cuda.wgmma_matmul") << n;
}

TEST(KernelChoice, WhatWonAtOtherSizesServesWhereTheModelDoesNotExpectItToLose) {
  const auto of = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return kernel_case(checked_function(linear), {.tensors = {{m, k}, {n, k}}, .dims = {}});
  };
  std::string folder = ::testing::TempDir() + "einkern_nearest_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const autotune::RecordStore records(folder);
  const KernelCase square = of(2048, 2048, 2048);
  const std::string winner = "tile_m=128 tile_n=256 stages=4 staged=2 turns=0 band=8";
  ASSERT_TRUE(records
                  .store({.key = autotune::record_key(square.context()),
                          .function = "f",
                          .schedule = "cuda.wgmma_matmul",
                          .schedule_version = codegen::find_schedule("cuda.wgmma_matmul")->version(),
                          .configuration = winner,
                          .seconds = 26e-6})
                  .ok());
  EXPECT_EQ(engine::choose_kernel(square.context(), records).value().source, engine::ChoiceSource::record);
  const KernelCase near = of(2048, 2048, 2304), few = of(16, 4096, 14336);
  const engine::KernelChoice nearest = engine::choose_kernel(near.context(), records).value();
  EXPECT_EQ(nearest.source, engine::ChoiceSource::nearest_record);
  EXPECT_EQ(nearest.configuration.text(), winner);
  EXPECT_EQ(engine::choose_kernel(few.context(), records).value().source, engine::ChoiceSource::model);
}

}  // namespace
}  // namespace einkern::testing
