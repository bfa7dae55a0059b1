// Broken plans: the verifier says what is wrong with each.
#include "codegen/plan/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/call.h"

namespace einkern::codegen {
namespace {

using ::testing::HasSubstr;

/// The fused plan of a source, to be broken.
Plan plan_of(const std::string& source) {
  const dsl::Program program = testing::compile_source(source).value();
  return make_plans(program.instantiate(program.signatures().back().name, {}).value()).front();
}

std::string violation(const Plan& plan) { return plan_violation(plan).value_or("none"); }

struct BrokenPlans : ::testing::Test {
  Plan softmax = plan_of(
      "fn f(x: f32[R, C]) -> y: f32[R, C] {\n"
      "  y[r, c] = exp(x[r, c] - max(c) x[r, c]) / sum(c) exp(x[r, c] - max(c) x[r, c])\n}");
  Plan product =
      plan_of("fn f(x: f32[M, K], w: f32[N, K]) -> y: f32[M, N] { y[i, j] = 1 + sum(k) x[i, k] * w[j, k] }");
  Plan chain = plan_of(
      "fn f(a: f32[M, K], b: f32[K, L], c: f32[L, N]) -> y: f32[M, N] {\n"
      "  y[i, j] = sum(l) (sum(k) a[i, k] * b[k, l]) * c[l, j]\n}");
  RowReduction& rows() { return std::get<RowReduction>(softmax.kernels[0].form); }
  Contraction& contraction() { return std::get<Contraction>(product.kernels[0].form); }
};

TEST_F(BrokenPlans, AreSoundBefore) {
  for (const Plan* plan : {&softmax, &product, &chain}) EXPECT_EQ(violation(*plan), "none");
}

TEST_F(BrokenPlans, KernelsOutOfOrder) {
  std::swap(chain.kernels[0], chain.kernels[1]);
  EXPECT_THAT(violation(chain), HasSubstr("t0 is read before it is written"));
}

TEST_F(BrokenPlans, MissingAndRepeatedStores) {
  chain.kernels.pop_back();
  EXPECT_EQ(violation(chain), "result y is never written");
  product.kernels.push_back(product.kernels[0]);
  EXPECT_THAT(violation(product), HasSubstr("y is written twice"));
  softmax.kernels.clear();
  EXPECT_EQ(violation(softmax), "the plan has no kernel");
}

TEST_F(BrokenPlans, ReadsThatTheListLacks) {
  product.kernels[0].reads.clear();
  EXPECT_THAT(violation(product), HasSubstr("is not among the reads"));
}

TEST_F(BrokenPlans, Folds) {
  std::swap(rows().folds[0], rows().folds[1]);
  EXPECT_THAT(violation(softmax), HasSubstr("a fold needs one that stands after it"));
  rows().folds.resize(0);
  EXPECT_THAT(violation(softmax), HasSubstr("a store needs a fold"));
  softmax.kernels[0].form = Pointwise{};
  EXPECT_THAT(violation(softmax), HasSubstr("a pointwise value holds a fold"));
}

TEST_F(BrokenPlans, RowsAndColumns) {
  std::swap(rows().rows, rows().columns);
  rows().columns.clear();
  EXPECT_NE(violation(softmax), "none");
}

TEST_F(BrokenPlans, ContractionGroups) {
  const Contraction sound = contraction();
  contraction().batch = contraction().m;
  EXPECT_THAT(violation(product), HasSubstr("batch, m and n are not the kernel's axes"));
  contraction() = sound;
  std::swap(contraction().m, contraction().n);
  EXPECT_THAT(violation(product), HasSubstr("operand a uses other axes"));
  contraction() = sound;
  contraction().contracted.clear();
  EXPECT_THAT(violation(product), HasSubstr("contracted axes are missing"));
}

TEST_F(BrokenPlans, StoresAtAxesThatDoNotCoverTheTarget) {
  Store& store = product.kernels[0].stores[0];
  std::swap(store.axes[0], store.axes[1]);
  EXPECT_THAT(violation(product), HasSubstr("does not cover its dimension of y"));
  store.axes.pop_back();
  EXPECT_THAT(violation(product), HasSubstr("wrong rank"));
}

}  // namespace
}  // namespace einkern::codegen
