#include "codegen/reference/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codegen/reference/compare.h"
#include "codegen/reference/random_tensor.h"
#include "dsl/scalar_operations.h"
#include "tests/support/function_builder.h"
#include "tests/support/tensors.h"

namespace einkern::codegen::reference {
namespace {

using dsl::ExpressionId;
using dsl::Guard;
using dsl::Op;
using dsl::Reduction;
using dsl::TensorId;
using dsl::TensorRole;
using einkern::testing::floats;
using einkern::testing::FunctionBuilder;
using einkern::testing::integers;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

dsl::Binding bind_arguments(const FunctionBuilder& f, const Arguments& arguments) {
  dsl::CallShapes shapes;
  for (const TensorId id : dsl::argument_tensors(f.function))
    shapes.tensors.push_back(arguments.tensors.at(id).shape);
  core::Result<dsl::Binding> binding = dsl::bind(f.function, shapes);
  EXPECT_TRUE(binding.ok()) << (binding.ok() ? "" : binding.error().message);
  return binding.ok() ? *binding : dsl::Binding{};
}

HostTensor run(const FunctionBuilder& f, const Arguments& arguments,
               Arithmetic arithmetic = Arithmetic::wide) {
  core::Result<Results> results = evaluate(f.function, bind_arguments(f, arguments), arguments, arithmetic);
  EXPECT_TRUE(results.ok()) << (results.ok() ? "" : results.error().message);
  return results.ok() ? results->begin()->second : HostTensor{};
}

/// y = kind(i) x[i]
struct Reducing : FunctionBuilder {
  TensorId x, y;
  Reducing(Reduction kind, DType type, std::optional<std::int64_t> nth = {}) {
    const bool gives_index = kind == Reduction::argmax || kind == Reduction::argmin;
    const ExpressionId n = dim("N");
    x = tensor("x", type, {n});
    y = tensor("y", gives_index ? DType::i64 : type, {}, TensorRole::output);
    const dsl::AxisId i = axis("i", n);
    std::optional<ExpressionId> rank;
    if (nth) rank = number(*nth);
    define(y, {}, arena().reduce(kind, function[y].dtype, {i}, read(x, {value(i)}), rank));
  }
  HostTensor result(const HostTensor& tensor) const { return run(*this, {{{x, tensor}}, {}}); }
  double of(const std::vector<double>& values) const {
    return result(floats(DType::f32, {static_cast<std::int64_t>(values.size())}, values)).floats[0];
  }
  std::int64_t index_of(const std::vector<double>& values) const {
    return result(floats(DType::f32, {static_cast<std::int64_t>(values.size())}, values)).integers[0];
  }
  std::int64_t of_integers(const std::vector<std::int64_t>& values) const {
    return result(integers(function[x].dtype, {static_cast<std::int64_t>(values.size())}, values))
        .integers[0];
  }
};

TEST(Evaluator, EmptyReductions) {
  EXPECT_EQ(Reducing(Reduction::sum, DType::f32).of({}), 0);
  EXPECT_EQ(Reducing(Reduction::product, DType::f32).of({}), 1);
  EXPECT_EQ(Reducing(Reduction::maximum, DType::f32).of({}), -infinity);
  EXPECT_EQ(Reducing(Reduction::minimum, DType::f32).of({}), infinity);
  EXPECT_EQ(Reducing(Reduction::argmax, DType::f32).index_of({}), -1);
  EXPECT_EQ(Reducing(Reduction::maximum, DType::i32).of_integers({}), INT32_MIN);
  EXPECT_EQ(Reducing(Reduction::minimum, DType::u64).of_integers({}), -1);
  EXPECT_EQ(Reducing(Reduction::any, DType::boolean).of_integers({}), 0);
  EXPECT_EQ(Reducing(Reduction::all, DType::boolean).of_integers({}), 1);
}

TEST(Evaluator, MaximumPropagatesNaNAndOrdersZeros) {
  const Reducing maximum(Reduction::maximum, DType::f32), minimum(Reduction::minimum, DType::f32);
  EXPECT_TRUE(std::isnan(maximum.of({1, nan, 3})));
  EXPECT_TRUE(std::isnan(minimum.of({1, nan, 3})));
  EXPECT_FALSE(std::signbit(maximum.of({-0.0, 0.0})));
  EXPECT_TRUE(std::signbit(minimum.of({0.0, -0.0})));
  EXPECT_EQ(maximum.of({-infinity, -5}), -5);
}

TEST(Evaluator, ArgmaxCorners) {
  const Reducing largest(Reduction::argmax, DType::f32), smallest(Reduction::argmin, DType::f32);
  EXPECT_EQ(largest.index_of({7}), 0);
  EXPECT_EQ(largest.index_of({1, 5, 5, 2}), 1);
  EXPECT_EQ(largest.index_of({nan, nan}), 0);
  EXPECT_EQ(largest.index_of({1, 9, nan, 3, nan}), 2);
  EXPECT_EQ(smallest.index_of({1, 9, nan, 3, nan}), 2);
  EXPECT_EQ(largest.index_of({-0.0, 0.0}), 0);
  EXPECT_EQ(largest.index_of({-infinity, -infinity}), 0);
}

TEST(Evaluator, NthRanksWithTiesByIndex) {
  const std::vector<double> values = {3, nan, 7, 3, 7};
  const std::int64_t expected[] = {1, 2, 4, 0, 3, -1};
  for (int nth = 0; nth < 6; ++nth) {
    EXPECT_EQ(Reducing(Reduction::argmax, DType::f32, nth).index_of(values), expected[nth]) << nth;
  }
  EXPECT_EQ(Reducing(Reduction::maximum, DType::f32, 1).of(values), 7);
  EXPECT_EQ(Reducing(Reduction::minimum, DType::f32, 1).of(values), 3);
  EXPECT_EQ(Reducing(Reduction::maximum, DType::f32, 5).of(values), -infinity);
}

TEST(Evaluator, IntegerSumsWrap) {
  EXPECT_EQ(Reducing(Reduction::sum, DType::i32).of_integers({INT32_MAX, 1}), INT32_MIN);
  EXPECT_EQ(Reducing(Reduction::product, DType::u32).of_integers({0x10000, 0x10000}), 0);
}

/// fn mm(a: T[M, K], b: T[K, N]) -> y: R[M, N]
struct Product : FunctionBuilder {
  TensorId a, b, y;
  explicit Product(DType type, DType result = DType::f32) {
    const ExpressionId m = dim("M"), k = dim("K"), n = dim("N");
    a = tensor("a", type, {m, k});
    b = tensor("b", type, {k, n});
    y = tensor("y", result, {m, n}, TensorRole::output);
    const dsl::AxisId i = axis("i", m), j = axis("j", n), l = axis("k", k);
    const ExpressionId body = multiply(read(a, {value(i), value(l)}), read(b, {value(l), value(j)}));
    define(y, {i, j}, arena().reduce(Reduction::sum, core::compute_type(type), {l}, body));
  }
  Arguments arguments(std::int64_t m, std::int64_t k, std::int64_t n) const {
    return {{{a, random_small_integers(function[a].dtype, {m, k}, 1)},
             {b, random_small_integers(function[b].dtype, {k, n}, 2)}},
            {}};
  }
};

TEST(Evaluator, ProductsAreExactOnSmallIntegers) {
  const Product product(DType::bf16);
  const Arguments arguments = product.arguments(5, 7, 3);
  const HostTensor wide = run(product, arguments), typed = run(product, arguments, Arithmetic::as_typed);
  const HostTensor &a = arguments.tensors.at(product.a), &b = arguments.tensors.at(product.b);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 7; ++k) sum += a.floats[i * 7 + k] * b.floats[k * 3 + j];
      EXPECT_EQ(wide.floats[i * 3 + j], sum);
    }
  }
  EXPECT_EQ(wide.floats, typed.floats);
}

TEST(Evaluator, EmptyDimsGiveIdentitiesAndEmptyResults) {
  const Product product(DType::f32);
  EXPECT_THAT(run(product, product.arguments(2, 0, 2)).floats, ElementsAre(0, 0, 0, 0));
  EXPECT_TRUE(run(product, product.arguments(0, 3, 2)).floats.empty());
  EXPECT_TRUE(run(product, product.arguments(0, 0, 0)).floats.empty());
}

TEST(Evaluator, AsTypedFusesMultiplyAddsOfSums) {
  const Product product(DType::f32);
  const double x = 1 + 0x1p-12;
  const Arguments arguments = {
      {{product.a, floats(DType::f32, {1, 2}, {1, x})}, {product.b, floats(DType::f32, {2, 1}, {-1, x})}},
      {}};
  // x * x - 1 with one rounding keeps the product's last bit; with two it is lost.
  EXPECT_EQ(run(product, arguments, Arithmetic::as_typed).floats[0], 0x1p-11 + 0x1p-24);
}

TEST(Evaluator, AsTypedRoundsEachOperation) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N");
  const TensorId x = f.tensor("x", DType::f32, {n}), y = f.tensor("y", DType::f32, {n}, TensorRole::output);
  const dsl::AxisId i = f.axis("i", n);
  const ExpressionId big = f.real(0x1p24);
  f.define(y, {i}, f.subtract(f.add(f.read(x, {f.value(i)}), big), big));
  const Arguments arguments = {{{x, floats(DType::f32, {1}, {1})}}, {}};
  EXPECT_EQ(run(f, arguments).floats[0], 1);
  EXPECT_EQ(run(f, arguments, Arithmetic::as_typed).floats[0], 0);
}

TEST(Evaluator, StorageTypesRoundBetweenDefinitions) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N");
  const TensorId x = f.tensor("x", DType::f32, {n}), h = f.tensor("h", DType::bf16, {n}, TensorRole::local);
  const TensorId y = f.tensor("y", DType::f32, {n}, TensorRole::output);
  const dsl::AxisId i = f.axis("i", n), j = f.axis("j", n);
  f.define(h, {i}, f.read(x, {f.value(i)}));
  f.define(y, {j}, f.read(h, {f.value(j)}));
  EXPECT_THAT(run(f, {{{x, floats(DType::f32, {2}, {1 + 0x1p-9, 1 + 0x1p-7})}}, {}}).floats,
              ElementsAre(1, 1 + 0x1p-7));
}

TEST(Evaluator, GathersOutsideGiveZeroAndGuardsTheirAlternative) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N"), v = f.dim("V");
  const TensorId t = f.tensor("t", DType::i32, {n}), x = f.tensor("x", DType::f32, {v});
  const TensorId y = f.tensor("y", DType::f32, {n, f.number(2)}, TensorRole::output);
  const dsl::AxisId i = f.axis("i", n), c = f.axis("c", f.number(2));
  const ExpressionId index = f.arena().cast(DType::i64, f.read(t, {f.value(i)}));
  const ExpressionId first = f.test(Op::equal, {f.value(c), f.number(0)});
  f.define(y, {i, c},
           f.apply(Op::where, {first, f.read(x, {index}, Guard::gather),
                               f.read(x, {index}, Guard::alternative, f.real(-9))}));
  const Arguments arguments = {
      {{t, integers(DType::i32, {4}, {0, 2, 3, -1})}, {x, floats(DType::f32, {3}, {5, 6, 7})}}, {}};
  EXPECT_THAT(run(f, arguments).floats, ElementsAre(5, 5, 7, 7, 0, -9, 0, -9));
}

TEST(Evaluator, UpdatesReadTheVersionBeforeAndDropOutsideWrites) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N"), v = f.dim("V");
  const TensorId t = f.tensor("t", DType::i32, {n}), y = f.tensor("y", DType::f32, {v}, TensorRole::inout);
  const dsl::AxisId i = f.axis("i", n);
  const ExpressionId index = f.arena().cast(DType::i64, f.read(t, {f.value(i)}));
  dsl::Definition update;
  update.target = y;
  update.axes = {i};
  update.update = dsl::UpdateOperator::add;
  update.indices = {index};
  update.value = f.add(f.read(y, {index}, Guard::gather), f.real(1));
  f.function.definitions.push_back(update);
  const Arguments arguments = {
      {{t, integers(DType::i32, {4}, {1, 1, 7, -1})}, {y, floats(DType::f32, {3}, {10, 20, 30})}}, {}};
  EXPECT_THAT(run(f, arguments).floats, ElementsAre(10, 20 + 21 + 21, 30));
}

TEST(Evaluator, RecurrencesRunInOrder) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N"), d = f.dim("D");
  const TensorId x = f.tensor("x", DType::f32, {d, n}),
                 h = f.tensor("h", DType::f32, {d, n}, TensorRole::output);
  const dsl::AxisId c = f.axis("c", d), t = f.axis("t", n);
  const ExpressionId before =
      f.read(h, {f.value(c), f.subtract(f.value(t), f.number(1))}, Guard::alternative, f.real(100));
  f.define(h, {c, t}, f.add(f.multiply(before, f.real(2)), f.read(x, {f.value(c), f.value(t)})));
  f.function.definitions.back().recurrent = 1;
  EXPECT_THAT(run(f, {{{x, floats(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6})}}, {}}).floats,
              ElementsAre(201, 404, 811, 204, 413, 832));
}

TEST(Evaluator, DependentRangesMakeCumulativeSums) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N");
  const TensorId x = f.tensor("x", DType::f32, {n}), y = f.tensor("y", DType::f32, {n}, TensorRole::output);
  const dsl::AxisId i = f.axis("i", n), j = f.axis("j", f.number(0), f.add(f.value(i), f.number(1)));
  f.define(y, {i}, f.arena().reduce(Reduction::sum, DType::f32, {j}, f.read(x, {f.value(j)})));
  EXPECT_THAT(run(f, {{{x, floats(DType::f32, {4}, {1, 2, 3, 4})}}, {}}).floats, ElementsAre(1, 3, 6, 10));
}

TEST(Evaluator, LimitsItsWork) {
  const Product product(DType::f32);
  const Arguments arguments = product.arguments(32, 32, 32);
  const auto results =
      evaluate(product.function, bind_arguments(product, arguments), arguments, Arithmetic::wide, 20000);
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("more than 20000"));
  const dsl::Binding huge = *dsl::bind(product.function, {{{1 << 20, 1}, {1, 1 << 20}}, {}});
  EXPECT_THAT(evaluate(product.function, huge, arguments).error().message, HasSubstr("elements"));
}

TEST(Evaluator, NamesMissingAndMisshapenArguments) {
  const Product product(DType::f32);
  Arguments arguments = product.arguments(2, 3, 4);
  const dsl::Binding binding = bind_arguments(product, arguments);
  arguments.tensors[product.b].dtype = DType::f64;
  EXPECT_THAT(evaluate(product.function, binding, arguments).error().message,
              HasSubstr("'b' must be f32[3, 4]"));
  arguments.tensors.erase(product.b);
  EXPECT_THAT(evaluate(product.function, binding, arguments).error().message, HasSubstr("'b' was not given"));
}

TEST(Evaluator, SharedExpressionsAreComputedOnce) {
  FunctionBuilder f;
  const ExpressionId n = f.dim("N");
  const TensorId x = f.tensor("x", DType::f32, {n}), y = f.tensor("y", DType::f32, {n}, TensorRole::output);
  const dsl::AxisId i = f.axis("i", n);
  ExpressionId power = f.read(x, {f.value(i)});
  for (int step = 0; step < 200; ++step)
    power = f.multiply(power, power);  // 2^200 evaluations, were they repeated
  f.define(y, {i}, power);
  EXPECT_THAT(run(f, {{{x, floats(DType::f32, {2}, {1, -1})}}, {}}).floats, ElementsAre(1, 1));
}

TEST(Evaluator, ManagesAProductOf256Cubed) {
  const Product product(DType::f32);
  const Arguments arguments = product.arguments(256, 256, 256);
  EXPECT_EQ(run(product, arguments).floats.size(), 65536u);
}

TEST(Philox, KnownAnswer) {
  EXPECT_EQ(dsl::philox(0, 0),
            0x6627e8d5u);  // Random123's kat_vectors: philox4x32, 10 rounds, counter and key 0
  EXPECT_NE(dsl::philox(1, 0), dsl::philox(0, 0));
  EXPECT_NE(dsl::philox(std::uint64_t{1} << 32, 0), dsl::philox(1, 0));
}

TEST(Bounds, CoverWhatTypedArithmeticDoes) {
  const Product product(DType::f32, DType::bf16);
  Arguments arguments = product.arguments(8, 100, 8);
  arguments.tensors[product.a] = random_uniform(DType::f32, {8, 100}, 3);
  arguments.tensors[product.b] = random_uniform(DType::f32, {100, 8}, 4);
  const auto bounded = evaluate_with_bounds(product.function, bind_arguments(product, arguments), arguments);
  ASSERT_TRUE(bounded.ok());
  const HostTensor& wide = bounded->values.at(product.y);
  const std::vector<double>& bounds = bounded->bounds.at(product.y);
  EXPECT_EQ(wide.floats, run(product, arguments).floats);
  HostTensor typed = run(product, arguments, Arithmetic::as_typed);
  EXPECT_TRUE(compare(wide, typed, Tolerance::bounded(bounds)).ok);
  typed.floats[9] *= 1.02;
  const Comparison wrong = compare(wide, typed, Tolerance::bounded(bounds));
  EXPECT_FALSE(wrong.ok);
  EXPECT_THAT(wrong.index, ElementsAre(1, 1));
  EXPECT_THAT(wrong.text("y"), HasSubstr("y[1, 1] is"));
}

TEST(Bounds, AreZeroForExactResults) {
  const Product product(DType::i8, DType::i32);
  const Arguments arguments = product.arguments(3, 5, 3);
  const auto bounded = evaluate_with_bounds(product.function, bind_arguments(product, arguments), arguments);
  ASSERT_TRUE(bounded.ok());
  for (const double bound : bounded->bounds.at(product.y)) EXPECT_EQ(bound, 0);
}

TEST(Compare, NaNsInfinitiesAndShapes) {
  const HostTensor reference = floats(DType::f32, {4}, {nan, infinity, -infinity, 1});
  const auto agrees = [&](const std::vector<double>& values, const Tolerance& tolerance) {
    return compare(reference, floats(DType::f32, {4}, values), tolerance).ok;
  };
  const Tolerance loose = Tolerance::of(DType::f32);
  EXPECT_TRUE(agrees({nan, infinity, -infinity, 1}, Tolerance::exact()));
  EXPECT_FALSE(agrees({0, infinity, -infinity, 1}, loose));
  EXPECT_FALSE(agrees({nan, 3e38, -infinity, 1}, loose));
  EXPECT_FALSE(agrees({nan, infinity, infinity, 1}, loose));
  EXPECT_TRUE(agrees({nan, infinity, -infinity, 1 + 0x1p-23}, loose));
  EXPECT_FALSE(agrees({nan, infinity, -infinity, 1 + 0x1p-23}, Tolerance::exact()));
  EXPECT_FALSE(compare(reference, floats(DType::f32, {2, 2}, {nan, infinity, -infinity, 1}), loose).ok);
  const HostTensor wide = integers(DType::u64, {1}, {-1});
  EXPECT_EQ(compare(wide, integers(DType::u64, {1}, {0}), Tolerance::exact()).error, 0x1p64);
}

TEST(RandomTensor, IsTheSameForTheSameSeed) {
  const HostTensor a = random_small_integers(DType::f16, {100}, 5),
                   b = random_small_integers(DType::f16, {100}, 5);
  EXPECT_EQ(a.floats, b.floats);
  EXPECT_NE(a.floats, random_small_integers(DType::f16, {100}, 6).floats);
  for (const double value : a.floats) {
    EXPECT_GE(std::fabs(value), 1);
    EXPECT_LE(std::fabs(value), 3);
  }
  for (const std::int64_t value : random_indices(DType::i32, {100}, -2, 3, 1).integers) {
    EXPECT_GE(value, -2);
    EXPECT_LT(value, 3);
  }
}

}  // namespace
}  // namespace einkern::codegen::reference
