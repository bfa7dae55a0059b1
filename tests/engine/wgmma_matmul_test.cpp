// Products on tensor cores against the reference: random sizes, operand orders, types and epilogues, every
// form of the schedule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/schedule.h"
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

TEST(WgmmaMatmulGpu, RandomProductsAgreeWithTheReference) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  const codegen::Schedule& schedule = *codegen::find_schedule("cuda.wgmma_matmul");
  int run = 0;
  for (unsigned seed = 0; run < random_products && seed < 10 * random_products; ++seed) {
    std::mt19937 random(seed);
    const RandomProduct product = random_product(random);
    const KernelCase kernels = kernel_case(product.call.function, product.call.shapes);
    if (schedule.reason_against(kernels.context())) continue;
    const auto space = schedule.space(kernels.context()).enumerate();
    const std::string configuration = space[random() % space.size()].text();
    const std::string difference =
        difference_from_reference(product.call, on_schedule(*gpu(), "cuda.wgmma_matmul", configuration));
    if (difference.find("the device is") != std::string::npos) GTEST_SKIP() << difference;  // no Hopper
    EXPECT_EQ(difference, "") << "seed " << seed << ": " << product.source << " " << configuration;
    ++run;
  }
  EXPECT_EQ(run, random_products);
}

TEST(WgmmaMatmulGpu, TheSameBitsTwice) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937 random(3);
  const Tensor x = upload(random_tensor(random, DType::bf16, {500, 1024}), *gpu());
  const Tensor w = upload(random_tensor(random, DType::bf16, {776, 1024}), *gpu());
  const Function linear =
      compile(
          "fn f(x: bf16[M, K], w: bf16[N, K]) -> y: bf16[M, N] { y[i, j] = sum(k) x[i, k] * w[j, k] }")["f"]
          .on(*gpu());
  const auto result = [&] {
    const Tensor y = linear(x, w);
    return y.to_doubles();
  };
  const std::vector<double> first = result();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(result(), first);
}

}  // namespace
}  // namespace einkern::testing
