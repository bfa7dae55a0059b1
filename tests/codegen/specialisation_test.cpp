#include "codegen/specialisation.h"

#include <gtest/gtest.h>

#include "tests/support/function_builder.h"

namespace einkern::codegen {
namespace {

using testing::FunctionBuilder;

/// y[i, j] = x[i, j] in bf16.
struct Copy {
  FunctionBuilder b;
  dsl::TensorId x, y;
  Plan plan;

  Copy() {
    const auto m = b.dim("M"), n = b.dim("N");
    x = b.tensor("x", bf16, {m, n});
    y = b.tensor("y", bf16, {m, n}, dsl::TensorRole::output);
    const auto i = b.axis("i", m), j = b.axis("j", n);
    b.define(y, {i, j}, b.read(x, {b.value(i), b.value(j)}));
    plan = make_plans(std::make_shared<const dsl::Function>(b.function)).front();
  }

  Specialisation operator()(std::int64_t m, std::int64_t n,
                            const std::vector<TensorPlacement>& placements = {}) const {
    return specialise(plan, {{m, n}, {{m, n}, {m, n}}, {}}, placements);
  }
  TensorLayout layout(std::int64_t m, std::int64_t n, TensorPlacement placement) const {
    return (*this)(m, n, {std::move(placement)}).tensors[0];
  }
};

TEST(Specialisation, DenseRowMajor) {
  const Copy copy;
  const TensorLayout layout = copy(64, 32).tensors[0];
  EXPECT_TRUE(layout.dense);
  EXPECT_EQ(layout.unit_axis, 1);
  EXPECT_EQ(layout.alignment, 16);
}

TEST(Specialisation, AlignmentIsThatOfEveryRow) {
  const Copy copy;
  EXPECT_EQ(copy.layout(64, 33, {}).alignment, 2) << "rows of 66 bytes";
  EXPECT_EQ(copy.layout(1, 33, {}).alignment, 16) << "one row";
  EXPECT_EQ(copy.layout(64, 4096, {{4097, 1}, 0}).alignment, 2) << "[4096, 4097] cut to 4096 columns";
  EXPECT_EQ(copy.layout(64, 32, {{}, 2}).alignment, 2) << "an address 2 bytes past alignment";
  EXPECT_EQ(copy.layout(64, 32, {{}, 8}).alignment, 8);
}

TEST(Specialisation, StridedLayouts) {
  const Copy copy;
  const TensorLayout transposed = copy.layout(64, 32, {{1, 64}, 0});
  EXPECT_FALSE(transposed.dense);
  EXPECT_EQ(transposed.unit_axis, 0);
  EXPECT_EQ(transposed.alignment, 16);
  EXPECT_EQ(copy.layout(64, 32, {{0, 1}, 0}).unit_axis, 1) << "broadcast rows";
  EXPECT_EQ(copy.layout(64, 32, {{64, 2}, 0}).unit_axis, -1);
  EXPECT_EQ(copy.layout(64, 32, {{-32, 1}, 0}).alignment, 16) << "rows upside down";
  EXPECT_TRUE(copy.layout(1, 32, {{999, 1}, 0}).dense) << "a dimension of extent 1 never moves";
  EXPECT_TRUE(copy.layout(0, 32, {{5, 7}, 0}).dense) << "nothing to read";
}

TEST(Specialisation, DivisorClasses) {
  const Specialisation s = Copy()(48, 4100);
  EXPECT_EQ(s.dim_divisor, (std::vector<int>{16, 4}));
  EXPECT_EQ(Copy()(0, 7).dim_divisor, (std::vector<int>{16, 1}));
}

TEST(Specialisation, NarrowIndicesOnlyWhereProven) {
  const Copy copy;
  EXPECT_EQ(copy(1024, 1024).index_bits, 32);
  EXPECT_EQ(copy(1 << 16, 1 << 16).index_bits, 64) << "2^32 elements";
  EXPECT_EQ(copy(1 << 16, (1 << 15) - 1).index_bits, 32);
  EXPECT_EQ(copy(2, 2, {{{std::int64_t{1} << 31, 1}, 0}}).index_bits, 64) << "rows far apart";
  EXPECT_EQ(copy(2, 2, {{{-(std::int64_t{1} << 31), 1}, 0}}).index_bits, 64);
  EXPECT_EQ(copy(1 << 16, 1 << 14, {{{0, 0}, 0}}).index_bits, 32);
}

TEST(Specialisation, TextTellsEverythingApart) {
  const Copy copy;
  const auto text = [&](const Specialisation& s) { return s.text(*copy.plan.graph); };
  EXPECT_EQ(text(copy(48, 4100)), "index32 M%16 N%4 x:dense/1/8 y:dense/1/8");
  EXPECT_NE(text(copy(64, 32, {{{1, 64}, 0}})), text(copy(64, 32)));
  Specialisation baked = copy(64, 32);
  baked.baked[1] = 32;
  EXPECT_EQ(text(baked), "index32 M%16 N=32 x:dense/1/16 y:dense/1/16");
}

TEST(Specialisation, StrideSymbols) {
  const Copy copy;
  EXPECT_EQ(stride_symbol((*copy.plan.graph)[copy.x], 1), "x.stride.1");
}

}  // namespace
}  // namespace einkern::codegen
