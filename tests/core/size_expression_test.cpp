#include "core/size_expression.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace einkern::core {
namespace {

using Op = SizeExpression::Op;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

SizeExpression dim(const char* name) { return SizeExpression::symbol(name); }

TEST(SizeExpression, DividesAndTakesModuloLikeTheLanguage) {
  struct Case {
    std::int64_t a, b, floor, ceil, modulo;
  };
  const Case cases[] = {{7, 2, 3, 4, 1},     {-7, 2, -4, -3, 1},
                        {7, -2, -4, -3, -1}, {-7, -2, 3, 4, -1},
                        {6, 3, 2, 2, 0},     {-6, 3, -2, -2, 0},
                        {5, 0, 0, 0, 5},     {0, 5, 0, 0, 0},
                        {9, -1, -9, -9, 0},  {lowest, 1, lowest, lowest, 0}};
  for (const Case& c : cases) {
    const SymbolValues values = {{"a", c.a}, {"b", c.b}};
    EXPECT_EQ(floor_divide(dim("a"), dim("b")).evaluate(values).value(), c.floor) << c.a << " " << c.b;
    EXPECT_EQ(ceil_divide(dim("a"), dim("b")).evaluate(values).value(), c.ceil) << c.a << " " << c.b;
    EXPECT_EQ(modulo(dim("a"), dim("b")).evaluate(values).value(), c.modulo) << c.a << " " << c.b;
    EXPECT_EQ(floor_divide(c.a, c.b).evaluate({}).value(), c.floor) << "folded";
  }
}

TEST(SizeExpression, RefusesWhatDoesNotFit64Bits) {
  const SymbolValues values = {{"big", highest}, {"small", lowest}, {"minus", -1}};
  for (const SizeExpression& overflowing :
       {dim("big") + 1, dim("small") - 1, dim("big") * 2, dim("small") * dim("minus"),
        floor_divide(dim("small"), dim("minus")), SizeExpression(highest) + SizeExpression(1)}) {
    const auto result = overflowing.evaluate(values);
    ASSERT_FALSE(result.ok()) << overflowing.text();
    EXPECT_EQ(result.error().kind, ErrorKind::shape);
    EXPECT_NE(result.error().message.find(overflowing.text()), std::string::npos) << result.error().message;
  }
  EXPECT_EQ(modulo(dim("small"), dim("minus")).evaluate(values).value(), 0);
}

TEST(SizeExpression, NamesTheSymbolWithoutAValue) {
  const auto result = (dim("M") * dim("x.stride.0")).evaluate({{"M", 2}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "The size 'x.stride.0' has no value.");
}

TEST(SizeExpression, SimplifiesNeutralElementsAndConstants) {
  EXPECT_EQ((dim("M") * 1 + 0).text(), "M");
  EXPECT_EQ((SizeExpression(0) + dim("M")).text(), "M");
  EXPECT_EQ(ceil_divide(dim("M"), 1).text(), "M");
  EXPECT_EQ((ceil_divide(7, 2) * 4).text(), "16");
  EXPECT_TRUE((SizeExpression(2) * 3).is_constant());
  EXPECT_FALSE(dim("M").is_constant());
}

TEST(SizeExpression, WritesParenthesesWhereTheyAreNeeded) {
  EXPECT_EQ((ceil_divide(dim("M"), 128) * 4).text(), "ceil_div(M, 128) * 4");
  EXPECT_EQ(((dim("M") + 1) * dim("N")).text(), "(M + 1) * N");
  EXPECT_EQ((dim("M") - (dim("N") - dim("K"))).text(), "M - (N - K)");
  EXPECT_EQ((dim("M") * (dim("N") * dim("K"))).text(), "M * (N * K)");
  EXPECT_EQ((dim("M") * -3).text(), "M * (-3)");
}

SizeExpression random_expression(std::mt19937& random, int depth) {
  const unsigned choice = random() % (depth == 0 ? 2 : 10);
  if (choice == 0) return SizeExpression(static_cast<std::int64_t>(random() % 21) - 10);
  if (choice == 1) return dim(std::array{"M", "x.stride.0", "sm_count"}[random() % 3]);
  const auto op = static_cast<Op>(2 + choice % 8);
  return SizeExpression::binary(op, random_expression(random, depth - 1),
                                random_expression(random, depth - 1));
}

TEST(SizeExpression, ParsesItsTextBack) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const SizeExpression expression = random_expression(random, 5);
    const auto parsed = SizeExpression::parse(expression.text());
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << expression.text();
    ASSERT_EQ(parsed->text(), expression.text()) << "seed " << seed;
    const SymbolValues values = {{"M", 37}, {"x.stride.0", -5}, {"sm_count", 132}};
    const auto a = expression.evaluate(values), b = parsed->evaluate(values);
    ASSERT_EQ(a.ok(), b.ok());
    if (a.ok()) {
      ASSERT_EQ(*a, *b) << "seed " << seed << ": " << expression.text();
    }
  }
}

TEST(SizeExpression, RefusesMalformedText) {
  for (const char* text : {"", " ", "M +", "(M", "M)", "min(M)", "min(M, N", "power(M, 2)",
                           "99999999999999999999", "-", "M N", "M / 2", "\xff", "min", "3M"}) {
    const bool is_symbol = std::string_view(text) == "min";  // a name like any other when it is not called
    EXPECT_EQ(SizeExpression::parse(text).ok(), is_symbol) << text;
  }
  EXPECT_FALSE(SizeExpression::parse(std::string(100000, '(')).ok());
  std::string chain = "M";
  for (int i = 0; i < 100000; ++i) chain += "+M";
  EXPECT_FALSE(SizeExpression::parse(chain).ok());
}

}  // namespace
}  // namespace einkern::core
