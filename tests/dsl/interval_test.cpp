#include "dsl/interval.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <random>

#include "dsl/scalar_operations.h"
#include "tests/support/function_builder.h"

namespace einkern::dsl {
namespace {

using testing::FunctionBuilder;

struct IntervalTest : ::testing::Test {
  FunctionBuilder b;
  std::vector<std::int64_t> dims;

  ExpressionId dim(const std::string& name, std::int64_t value) {
    dims.push_back(value);
    return b.dim(name);
  }
  ExpressionId axis(ExpressionId low, ExpressionId high) { return b.value(b.axis("v", low, high)); }
  ExpressionId axis(ExpressionId high) { return axis(b.number(0), high); }
  void expect(ExpressionId id, std::int64_t low, std::int64_t high) {
    const Interval range = interval_of(b.function, id, dims);
    EXPECT_EQ(range.low, low);
    EXPECT_EQ(range.high, high);
  }
};

TEST_F(IntervalTest, GroupAndChannelFillTheirProduct) {
  const ExpressionId g = axis(dim("G", 3)), d = dim("D", 5), c = axis(d);
  expect(b.add(b.multiply(g, d), c), 0, 14);
}

TEST_F(IntervalTest, FlippedIndexStaysInside) {
  const ExpressionId n = dim("N", 7), i = axis(n);
  expect(b.subtract(b.subtract(n, b.number(1)), i), 0, 6);
}

TEST_F(IntervalTest, AxesCancelInLinearForm) {
  const ExpressionId n = dim("N", 7), i = axis(n);
  const ExpressionId rest = b.subtract(b.subtract(n, b.number(1)), i);
  expect(b.add(i, rest), 6, 6);
  expect(b.subtract(b.add(b.multiply(b.number(3), i), b.number(2)), i), 2, 14);
}

TEST_F(IntervalTest, TriangleOfDependentBoundsIsExact) {
  const ExpressionId n = dim("N", 7), i = axis(n), j = axis(b.number(0), b.add(i, b.number(1)));
  expect(j, 0, 6);
  expect(b.subtract(i, j), 0, 6);
  const ExpressionId k = axis(j, b.add(i, b.number(1)));
  expect(b.subtract(k, j), 0, 6);
  expect(b.subtract(i, k), 0, 6);
}

TEST_F(IntervalTest, DivisionAndModulo) {
  const ExpressionId m = dim("M", 10), i = axis(m), four = b.number(4);
  expect(b.divide(i, four), 0, 2);
  expect(b.modulo(i, four), 0, 3);
  expect(b.modulo(i, b.number(20)), 0, 9);
  expect(b.divide(b.subtract(i, b.number(5)), four), -2, 1);
  expect(b.modulo(b.subtract(i, b.number(5)), b.number(-3)), -2, 0);
  const ExpressionId rotated = b.add(i, b.number(5));
  expect(b.modulo(rotated, m), 0, 9);
}

TEST_F(IntervalTest, WindowsClampAndCasts) {
  const ExpressionId h = dim("H", 9), i = axis(h);
  expect(b.subtract(i, b.number(1)), -1, 7);
  const ExpressionId clamped =
      b.apply(Op::minimum, {b.apply(Op::maximum, {b.number(0), b.subtract(i, b.number(3))}), b.number(4)});
  expect(clamped, 0, 4);
  const ExpressionId narrow = b.arena().cast(DType::i32, i);
  expect(narrow, 0, 8);
  expect(b.arena().cast(DType::i8, b.multiply(i, b.number(100))), -128, 127);
}

TEST_F(IntervalTest, WhatMayWrapIsUnknown) {
  const ExpressionId n = dim("N", 3), i = axis(n), huge = b.number(INT64_MAX);
  expect(b.add(i, huge), INT64_MIN, INT64_MAX);
  expect(b.subtract(b.add(i, huge), huge), 0, 2);  // wraps there and back
  const ExpressionId narrow = b.arena().cast(DType::i32, i);
  expect(b.multiply(narrow, b.number(INT32_MAX, DType::i32)), INT32_MIN, INT32_MAX);
  expect(b.multiply(i, b.multiply(i, huge)), INT64_MIN, INT64_MAX);
}

TEST_F(IntervalTest, AxisWithoutValuesIsEmpty) {
  const ExpressionId i = axis(dim("N", 0));
  EXPECT_TRUE(interval_of(b.function, b.add(i, b.number(4)), dims).empty());
  EXPECT_TRUE(interval_of(b.function, i, dims).inside(5, 4));
}

TEST_F(IntervalTest, ReadsAndScalarsHaveTheirTypesRange) {
  const TensorId t = b.tensor("t", DType::i8, {b.number(4)});
  expect(b.read(t, {b.number(0)}), -128, 127);
  expect(b.scalar("s", DType::u32), 0, 0xFFFFFFFF);
}

TEST_F(IntervalTest, DeepSumsNeitherOverflowTheStackNorTakeLong) {
  const ExpressionId i = axis(dim("N", 4));
  ExpressionId sum = i;
  for (int step = 0; step < 20000; ++step) sum = b.apply(Op::maximum, {b.add(sum, b.number(1)), i});
  expect(sum, 20000, 20003);
}

// Property: every value found by brute force lies in the interval, for random integer expressions over
// dependent axes.
class IntervalProperty : public ::testing::TestWithParam<int> {
 protected:
  FunctionBuilder b;
  std::mt19937 random{static_cast<unsigned>(GetParam())};
  std::vector<AxisId> axes;
  std::map<ExpressionId, Interval> found;

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  ExpressionId leaf(DType type, std::size_t outer) {
    if (type == DType::i64 && outer > 0 && pick(0, 2) > 0)
      return b.value(axes[pick(0, static_cast<int>(outer) - 1)]);
    if (outer > 0 && pick(0, 1) > 0)
      return b.arena().cast(type, b.value(axes[pick(0, static_cast<int>(outer) - 1)]));
    const std::int64_t value = pick(0, 30) == 0 ? std::int64_t{1} << pick(20, 62) : pick(-9, 9);
    return b.number(core::wrap_integer(type, value), type);
  }

  ExpressionId expression(DType type, std::size_t outer, int depth) {
    if (depth == 0) return leaf(type, outer);
    static const Op binary[] = {Op::add,     Op::subtract, Op::multiply,   Op::divide,      Op::modulo,
                                Op::maximum, Op::minimum,  Op::shift_left, Op::shift_right, Op::bit_and,
                                Op::bit_or,  Op::bit_xor,  Op::add,        Op::subtract};
    const auto part = [&] { return expression(type, outer, depth - 1); };
    switch (pick(0, 9)) {
      case 0:
        return b.apply(std::array{Op::negate, Op::absolute, Op::sign, Op::bit_not}[pick(0, 3)], {part()});
      case 1: {
        const ExpressionId condition = b.test(
            std::array{Op::less, Op::less_equal, Op::equal, Op::not_equal}[pick(0, 3)], {part(), part()});
        return b.apply(Op::where, {condition, part(), part()});
      }
      case 2: {
        static const DType types[] = {DType::i64, DType::i32, DType::u32, DType::u64, DType::i8, DType::u16};
        const DType through = types[pick(0, 5)];
        return b.arena().cast(
            type, b.arena().cast(through, expression(core::compute_type(through), outer, depth - 1)));
      }
      default:
        return b.apply(binary[pick(0, 13)], {part(), part()});
    }
  }

  std::int64_t evaluate(ExpressionId id, const std::map<AxisId, std::int64_t>& at) {
    const Expression& node = b.arena()[id];
    std::int64_t values[3] = {0, 0, 0};
    for (std::size_t i = 0; i < node.operands.size(); ++i) values[i] = evaluate(node.operands[i], at);
    std::int64_t result = 0;
    if (node.op == Op::constant)
      result = node.integer_value();
    else if (node.op == Op::axis)
      result = at.at(AxisId{node.index});
    else if (node.op == Op::cast)
      result = core::wrap_integer(node.target, values[0]);
    else if (node.op == Op::where)
      result = values[0] != 0 ? values[1] : values[2];
    else
      result = apply_integer(node.op, b.arena()[node.operands[0]].type, values[0], values[1]);
    const auto [known, first] = found.try_emplace(id, Interval{result, result});
    known->second = {std::min(known->second.low, result), std::max(known->second.high, result)};
    return result;
  }

  void each_point(std::size_t level, std::map<AxisId, std::int64_t>& at, const std::function<void()>& visit) {
    if (level == axes.size()) return visit();
    const Axis axis = b.arena()[axes[level]];
    const std::int64_t low = evaluate(axis.low, at), high = evaluate(axis.high, at);
    for (std::int64_t value = low; value < high && value - low < 8; ++value) {
      at[axes[level]] = value;
      each_point(level + 1, at, visit);
    }
  }
};

TEST_P(IntervalProperty, HoldsEveryValue) {
  for (std::size_t i = 0; i < 3; ++i) {
    const ExpressionId low =
        pick(0, 2) == 0 && i > 0 ? b.add(b.value(axes[i - 1]), b.number(pick(-2, 1))) : b.number(pick(-3, 1));
    const ExpressionId high =
        i > 0 && pick(0, 1) > 0 ? b.add(b.value(axes[pick(0, static_cast<int>(i) - 1)]), b.number(pick(0, 3)))
                                : b.number(pick(0, 5));
    axes.push_back(b.axis(std::string(1, static_cast<char>('i' + i)), low, high));
  }
  std::vector<ExpressionId> roots;
  for (int i = 0; i < 40; ++i) roots.push_back(expression(DType::i64, axes.size(), pick(1, 4)));
  std::map<AxisId, std::int64_t> at;
  each_point(0, at, [&] {
    for (const ExpressionId root : roots) evaluate(root, at);
  });
  const std::vector<std::int64_t> dims;
  IntervalAnalysis analysis(b.function, dims);
  for (const auto& [id, values] : found) {
    const Interval range = analysis.of(id);
    EXPECT_LE(range.low, values.low) << "seed " << GetParam() << " expression " << id.value;
    EXPECT_GE(range.high, values.high) << "seed " << GetParam() << " expression " << id.value;
  }
}

// Property: affine expressions over boxes and triangles get their exact range.
TEST_P(IntervalProperty, IsExactForAffineExpressions) {
  axes.push_back(b.axis("i", b.number(0), b.number(pick(1, 6))));
  axes.push_back(b.axis("j", b.number(pick(-3, 0)), b.number(pick(1, 6))));
  axes.push_back(b.axis("k", b.number(0), b.add(b.value(axes[0]), b.number(pick(1, 3)))));
  ExpressionId sum = b.number(pick(-20, 20));
  for (int term = 0; term < 6; ++term) {
    const ExpressionId product = b.multiply(b.value(axes[pick(0, 2)]), b.number(pick(-4, 4)));
    sum = pick(0, 1) > 0 ? b.add(sum, product) : b.subtract(product, sum);
  }
  std::map<AxisId, std::int64_t> at;
  each_point(0, at, [&] { evaluate(sum, at); });
  EXPECT_EQ(interval_of(b.function, sum, {}), found.at(sum)) << "seed " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Seeds, IntervalProperty, ::testing::Range(0, 60));

}  // namespace
}  // namespace einkern::dsl
