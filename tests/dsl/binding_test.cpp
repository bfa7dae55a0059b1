#include "dsl/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dsl/expression_text.h"
#include "tests/support/function_builder.h"

namespace einkern::dsl {
namespace {

using einkern::testing::FunctionBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const Function& function, const CallShapes& shapes) {
  const core::Result<Binding> result = bind(function, shapes);
  if (result.ok()) return "no error";
  EXPECT_EQ(result.error().kind, core::ErrorKind::shape);
  return result.error().message;
}

/// fn mm(a: f32[M, K], b: f32[K, N]) -> y: f32[M, N]
FunctionBuilder product() {
  FunctionBuilder f;
  f.function.name = "mm";
  const ExpressionId m = f.dim("M"), k = f.dim("K"), n = f.dim("N");
  const TensorId a = f.tensor("a", DType::f32, {m, k}), b = f.tensor("b", DType::f32, {k, n});
  const TensorId y = f.tensor("y", DType::f32, {m, n}, TensorRole::output);
  const AxisId i = f.axis("i", m), j = f.axis("j", n), l = f.axis("k", k);
  const ExpressionId body =
      f.multiply(f.read(a, {f.value(i), f.value(l)}), f.read(b, {f.value(l), f.value(j)}));
  f.define(y, {i, j}, f.arena().reduce(Reduction::sum, DType::f32, {l}, body));
  return f;
}

TEST(Binding, SolvesDimsAndShapes) {
  const FunctionBuilder f = product();
  const auto binding = bind(f.function, {{{3, 4}, {4, 5}}, {}});
  ASSERT_TRUE(binding.ok()) << binding.error().message;
  EXPECT_THAT(binding->dims, ElementsAre(3, 4, 5));
  EXPECT_THAT(binding->shapes[2], ElementsAre(3, 5));
  EXPECT_EQ(binding->symbols.at("K"), 4);
  EXPECT_EQ(binding->elements(TensorId{2}), 15);
}

TEST(Binding, ErrorsNameTensorDimAndBothValues) {
  const FunctionBuilder f = product();
  EXPECT_EQ(error_of(f.function, {{{3, 4}, {7, 5}}, {}}),
            "dimension 0 of 'b' is 7, but it is declared K, where K = 4 by dimension 1 of 'a'");
  EXPECT_EQ(error_of(f.function, {{{3, 4}, {4}}, {}}),
            "tensor 'b' of 'mm' has 1 dimensions, but its declaration has 2");
  EXPECT_EQ(error_of(f.function, {{{3, 4}}, {}}), "'mm' takes 2 tensors, but 1 were given");
  EXPECT_EQ(error_of(f.function, {{{3, -4}, {4, 5}}, {}}),
            "dimension 1 of 'a' is -4; it must not be negative");
  EXPECT_EQ(error_of(f.function, {{{3, 4}, {4, 5}}, {{"Q", 1}}}), "'mm' has no `dim` parameter 'Q'");
}

TEST(Binding, EmptyTensorsAreLegal) {
  const FunctionBuilder f = product();
  for (const auto& [m, k, n] : {std::tuple{0, 4, 5}, {3, 0, 5}, {3, 4, 0}, {0, 0, 0}}) {
    const auto binding = bind(f.function, {{{m, k}, {k, n}}, {}});
    ASSERT_TRUE(binding.ok()) << binding.error().message;
    EXPECT_EQ(binding->elements(TensorId{2}), m * n);
  }
}

TEST(Binding, CountsElementsWithoutOverflow) {
  const FunctionBuilder f = product();
  const std::int64_t limit = std::int64_t{1} << 20;
  EXPECT_TRUE(bind(f.function, {{{limit, 1}, {1, limit}}, {}}).ok());
  EXPECT_EQ(error_of(f.function, {{{limit + 1, 1}, {1, limit}}, {}}),
            "tensor 'y' of [1048577, 1048576] would have more than 2^40 elements, the limit");
  EXPECT_THAT(error_of(f.function, {{{INT64_MAX, 1}, {1, INT64_MAX}}, {}}), HasSubstr("2^40 elements"));
}

TEST(Binding, SolvesLinearDimensionsExactly) {
  FunctionBuilder f;
  f.function.name = "split";
  const ExpressionId n = f.dim("F");
  f.tensor("w", DType::f32, {f.add(f.multiply(f.number(2), n), f.number(1))});
  const auto binding = bind(f.function, {{{9}}, {}});
  ASSERT_TRUE(binding.ok()) << binding.error().message;
  EXPECT_THAT(binding->dims, ElementsAre(4));
  EXPECT_EQ(error_of(f.function, {{{8}}, {}}), "dimension 0 of 'w' is 8, which is 2 * F + 1 for no F");
  EXPECT_EQ(error_of(f.function, {{{0}}, {}}), "dimension 0 of 'w' is 0, which is 2 * F + 1 for no F");
}

TEST(Binding, DerivesDimsAndChecksConstraints) {
  FunctionBuilder f;
  f.function.name = "attention";
  const ExpressionId h = f.dim("H"), hk = f.dim("HK");
  f.dim("G", DimSource::derived, f.divide(h, hk));
  f.tensor("q", DType::f32, {h});
  f.tensor("k", DType::f32, {hk});
  f.constrain(f.test(Op::equal, {f.modulo(h, hk), f.number(0)}), "H % HK == 0");
  const auto binding = bind(f.function, {{{6}, {2}}, {}});
  ASSERT_TRUE(binding.ok()) << binding.error().message;
  EXPECT_EQ(binding->symbols.at("G"), 3);
  EXPECT_EQ(
      error_of(f.function, {{{6}, {4}}, {}}),
      "'attention' requires H % HK == 0, but H = 6 by dimension 0 of 'q', HK = 4 by dimension 0 of 'k'");
}

TEST(Binding, TakesDimParametersAndTheirDefaults) {
  FunctionBuilder f;
  f.function.name = "pad";
  const ExpressionId n = f.dim("N"), p = f.dim("P", DimSource::parameter, f.divide(n, f.number(2)));
  const ExpressionId c = f.dim("C", DimSource::parameter);
  f.tensor("x", DType::f32, {n});
  f.tensor("y", DType::f32, {f.subtract(f.add(n, p), c)}, TensorRole::output);
  const auto binding = bind(f.function, {{{8}}, {{"C", 3}}});
  ASSERT_TRUE(binding.ok()) << binding.error().message;
  EXPECT_THAT(binding->shapes[1], ElementsAre(9));
  EXPECT_THAT(bind(f.function, {{{8}}, {{"C", 3}, {"P", 1}}})->shapes[1], ElementsAre(6));
  EXPECT_EQ(error_of(f.function, {{{8}}, {}}), "dim 'C' of 'pad' has no default: pass its value");
  EXPECT_EQ(error_of(f.function, {{{8}}, {{"C", -1}}}), "dim 'C' of 'pad' is -1; it must not be negative");
  EXPECT_EQ(error_of(f.function, {{{8}}, {{"C", 13}}}),
            "dimension 0 of 'y' is N + P - C = -1; it must not be negative (N = 8 by dimension 0 of 'x', P = "
            "4 = N / 2, "
            "C = 13 as passed)");
}

TEST(Binding, MergesDimsThatAConstraintEquates) {
  FunctionBuilder f;
  f.function.name = "merged";
  const ExpressionId a = f.dim("A"), b = f.dim("B");
  f.tensor("x", DType::f32, {a});
  f.tensor("y", DType::f32, {b}, TensorRole::output);
  f.constrain(f.test(Op::equal, {b, a}), "B == A");
  EXPECT_THAT(bind(f.function, {{{5}}, {}})->dims, ElementsAre(5, 5));
}

/// y[i] = x[index] over i in 0..N, x: f32[N]
FunctionBuilder reading(
    const std::function<ExpressionId(FunctionBuilder&, ExpressionId, ExpressionId)>& index) {
  FunctionBuilder f;
  f.function.name = "shifted";
  const ExpressionId n = f.dim("N");
  const TensorId x = f.tensor("x", DType::f32, {n}), y = f.tensor("y", DType::f32, {n}, TensorRole::output);
  const AxisId i = f.axis("i", n);
  f.define(y, {i}, f.read(x, {index(f, f.value(i), n)}));
  return f;
}

TEST(Binding, ProvesComputedIndicesInside) {
  const FunctionBuilder rotated = reading(
      [](FunctionBuilder& f, ExpressionId i, ExpressionId n) { return f.modulo(f.add(i, f.number(3)), n); });
  EXPECT_TRUE(bind(rotated.function, {{{8}}, {}}).ok());
  const FunctionBuilder shifted =
      reading([](FunctionBuilder& f, ExpressionId i, ExpressionId) { return f.add(i, f.number(1)); });
  EXPECT_EQ(error_of(shifted.function, {{{8}}, {}}),
            "in 'shifted', index 0 of x[i + 1] runs over 1..9, which is not inside 0..8 (dimension 0 of 'x' "
            "is N = 8); "
            "write `x[i + 1] else 0` for what lies outside, or `clamp(i + 1, 0, N - 1)`");
  EXPECT_TRUE(bind(shifted.function, {{{0}}, {}}).ok()) << "no element, so no read";
}

TEST(Binding, DefaultsOfScalars) {
  FunctionBuilder f;
  f.function.name = "attention";
  const ExpressionId d = f.dim("D");
  const ExpressionId root = f.arena().apply(Op::sqrt, DType::f32, {f.arena().cast(DType::f32, d)});
  f.scalar("scale", DType::f32, f.divide(f.real(1), root));
  f.scalar("other", DType::f32);
  EXPECT_EQ(*default_value(f.function, ScalarId{0}, {64}), 0.125);
  EXPECT_EQ(*default_value(f.function, ScalarId{0}, {2}),
            static_cast<double>(static_cast<float>(0.7071067811865475)));
  EXPECT_THAT(default_value(f.function, ScalarId{1}, {2}).error().message, HasSubstr("'other'"));
}

TEST(Binding, SizeExpressions) {
  FunctionBuilder f;
  const ExpressionId m = f.dim("M"), k = f.dim("K"), i = f.value(f.axis("i", m));
  const auto size = size_expression(f.function, f.divide(f.add(m, f.number(3)), k));
  ASSERT_TRUE(size);
  EXPECT_EQ(*size->evaluate({{"M", 9}, {"K", 4}}), 3);
  EXPECT_FALSE(size_expression(f.function, f.add(m, i)));
}

TEST(ExpressionText, ParenthesisesAsThePrecedencesAsk) {
  FunctionBuilder f;
  const ExpressionId m = f.dim("M"), k = f.dim("K"), i = f.value(f.axis("i", m));
  const auto text = [&](ExpressionId id) { return expression_text(f.function, id); };
  EXPECT_EQ(text(f.multiply(f.add(m, k), f.number(2))), "(M + K) * 2");
  EXPECT_EQ(text(f.subtract(m, f.subtract(k, f.number(1)))), "M - (K - 1)");
  EXPECT_EQ(text(f.subtract(f.subtract(m, k), f.number(1))), "M - K - 1");
  EXPECT_EQ(text(f.apply(Op::negate, {f.add(m, i)})), "-(M + i)");
  EXPECT_EQ(text(f.apply(Op::minimum, {i, f.number(3)})), "min(i, 3)");
  const TensorId x = f.tensor("x", DType::f32, {m});
  const ExpressionId guarded = f.read(x, {f.add(i, f.number(1))}, Guard::alternative, f.real(0));
  EXPECT_EQ(text(guarded), "x[i + 1] else 0");
  EXPECT_EQ(text(f.multiply(guarded, f.real(1.5))), "(x[i + 1] else 0) * 1.5");
  const AxisId c = f.axis("c", m);
  const ExpressionId total = f.arena().reduce(Reduction::sum, DType::f32, {c}, f.read(x, {f.value(c)}));
  EXPECT_EQ(text(f.divide(total, f.real(2))), "sum(c in 0..M) x[c] / 2");
  EXPECT_EQ(expression_text(f.function, f.multiply(f.add(m, k), f.number(2)), 5), "(M + ...");
}

}  // namespace
}  // namespace einkern::dsl
