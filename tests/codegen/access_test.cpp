#include "codegen/plan/access.h"

#include <gtest/gtest.h>

#include "tests/support/function_builder.h"

namespace einkern::codegen {
namespace {

using dsl::Op;
using testing::FunctionBuilder;

/// x[M, N] read at [i, j], and a specialisation with M a multiple of 2, N of 8.
struct Access : ::testing::Test {
  FunctionBuilder b;
  dsl::ExpressionId m = b.dim("M"), n = b.dim("N");
  dsl::TensorId x = b.tensor("x", f32, {m, n});
  dsl::AxisId i = b.axis("i", m), j = b.axis("j", n);
  dsl::ExpressionId vi = b.value(i), vj = b.value(j);
  Specialisation specialisation{{{1, true, 16}}, {2, 8}, {{}, {}}, 32};

  std::optional<std::int64_t> coefficient(dsl::ExpressionId id) { return axis_coefficient(b.arena(), id, i); }
  Movement moves(dsl::ExpressionId read, dsl::AxisId axis) {
    return movement(b.arena(), read, axis, specialisation.tensors[0]);
  }
};

TEST_F(Access, CoefficientsOfAnAxis) {
  EXPECT_EQ(coefficient(vi), 1);
  EXPECT_EQ(coefficient(vj), 0);
  EXPECT_EQ(coefficient(b.add(b.multiply(b.number(3), vi), vj)), 3);
  EXPECT_EQ(coefficient(b.subtract(vj, b.multiply(vi, b.number(2)))), -2);
  EXPECT_EQ(coefficient(b.subtract(b.multiply(vi, b.number(2)), b.multiply(b.number(2), vi))), 0);
  EXPECT_EQ(coefficient(b.divide(vj, b.number(4))), 0);
  EXPECT_EQ(coefficient(b.divide(vi, b.number(4))), std::nullopt);
  EXPECT_EQ(coefficient(b.multiply(vi, n)), std::nullopt) << "a symbolic stride";
  EXPECT_EQ(coefficient(b.multiply(vi, b.number(INT64_MAX))), INT64_MAX);
  EXPECT_EQ(coefficient(b.multiply(b.multiply(vi, b.number(INT64_MAX)), b.number(2))), std::nullopt)
      << "overflow";
}

TEST_F(Access, MovementAlongAnAxis) {
  const auto row = b.read(x, {vi, vj});
  EXPECT_EQ(moves(row, j), Movement::unit);
  EXPECT_EQ(moves(row, i), Movement::strided);
  EXPECT_EQ(moves(b.read(x, {vi, b.number(0)}), j), Movement::none);
  EXPECT_EQ(moves(b.read(x, {vj, vj}), j), Movement::strided) << "the diagonal moves two dimensions";
  EXPECT_EQ(moves(b.read(x, {vi, b.multiply(b.number(2), vj)}), j), Movement::strided);
  EXPECT_EQ(moves(b.read(x, {vi, b.divide(vj, b.number(2))}), j), Movement::general);
  const auto guarded = b.read(x, {vi, b.subtract(vj, b.number(1))}, dsl::Guard::alternative, b.real(0));
  EXPECT_EQ(moves(guarded, j), Movement::unit);
}

TEST_F(Access, VectorWidthNeedsUnitMovementAlignmentAndADivisor) {
  const auto width = [&](dsl::ExpressionId index) {
    return vector_width(b.function, b.read(x, {vi, index}), j, specialisation);
  };
  EXPECT_EQ(width(vj), 4);
  EXPECT_EQ(width(b.add(vj, b.number(2))), 2);
  EXPECT_EQ(width(b.add(vj, b.number(1))), 1);
  EXPECT_EQ(width(b.add(vj, n)), 4);
  EXPECT_EQ(width(b.add(vj, m)), 2);
  EXPECT_EQ(width(b.add(vj, vi)), 1);
  EXPECT_EQ(vector_width(b.function, b.read(x, {vi, vj}), i, specialisation), 1);
  specialisation.tensors[0].alignment = 8;
  EXPECT_EQ(width(vj), 2);
}

TEST_F(Access, KnownDivisors) {
  const auto divisor = [&](dsl::ExpressionId id) {
    return known_divisor(b.arena(), id, {j}, specialisation);
  };
  EXPECT_EQ(divisor(b.number(12)), 4);
  EXPECT_EQ(divisor(b.number(-6)), 2);
  EXPECT_EQ(divisor(b.number(0)), 16);
  EXPECT_EQ(divisor(b.multiply(m, n)), 16);
  EXPECT_EQ(divisor(b.multiply(vi, b.number(4))), 4);
  EXPECT_EQ(divisor(vj), 16);
  EXPECT_EQ(divisor(vi), 1);
}

/// y[i, j] = sum(k) x[i, k] * w[k, j] + x[i, 0], with its contraction written by hand.
TEST(KernelCost, OfAContractionCountsEachTensorOnce) {
  FunctionBuilder b;
  const auto m = b.dim("M"), n = b.dim("N"), k = b.dim("K");
  const auto x = b.tensor("x", f32, {m, k}), w = b.tensor("w", bf16, {k, n});
  const auto y = b.tensor("y", f32, {m, n}, dsl::TensorRole::output);
  const auto i = b.axis("i", m), j = b.axis("j", n), kk = b.axis("k", k);
  const auto a = b.read(x, {b.value(i), b.value(kk)}), c = b.read(w, {b.value(kk), b.value(j)});
  const auto fold = b.arena().reduce(dsl::Reduction::sum, f32, {kk}, b.multiply(a, c));
  const auto value = b.add(fold, b.read(x, {b.value(i), b.number(0)}));
  Kernel kernel;
  kernel.axes = {i, j};
  kernel.stores = {{y, {i, j}, value, {}, {}}};
  kernel.form = Contraction{fold, f32, a, c, {}, {i}, {j}, {kk}};
  Plan plan{"fused", std::make_shared<const dsl::Function>(b.function), {kernel}};
  const dsl::Binding binding{{10, 20, 30}, {{10, 30}, {30, 20}, {10, 20}}, {}};
  const KernelCost cost = kernel_cost(plan, kernel, binding);
  EXPECT_EQ(cost.bytes, 4 * 300 + 2 * 600 + 4 * 200);
  EXPECT_EQ(cost.operations, 2 * 10 * 20 * 30 + 200);
}

TEST(KernelCost, OfAGatherReadsOnlyWhatItTakes) {
  FunctionBuilder b;
  const auto s = b.dim("S"), v = b.dim("V");
  const auto tokens = b.tensor("tokens", i32, {s}), table = b.tensor("table", f32, {v});
  const auto y = b.tensor("y", f32, {s}, dsl::TensorRole::output);
  const auto i = b.axis("i", s);
  const auto index = b.read(tokens, {b.value(i)});
  Kernel kernel;
  kernel.axes = {i};
  kernel.stores = {{y, {i}, b.read(table, {index}, dsl::Guard::gather), {}, {}}};
  Plan plan{"fused", std::make_shared<const dsl::Function>(b.function), {kernel}};
  EXPECT_EQ(kernel_cost(plan, kernel, {{5, 1000}, {{5}, {1000}, {5}}, {}}).bytes, 3 * 4 * 5);
  EXPECT_EQ(kernel_cost(plan, kernel, {{5, 2}, {{5}, {2}, {5}}, {}}).bytes, 2 * 4 * 5 + 4 * 2);
}

}  // namespace
}  // namespace einkern::codegen
