#include "dsl/printer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "syntax_generator.h"
#include "syntax_testing.h"

namespace einkern::dsl {
namespace {

using testing::parse_text;

std::string formatted(const std::string& text) {
  const auto parsed = parse_text(text);
  EXPECT_FALSE(parsed->diagnostics.has_errors()) << parsed->text() << "\nof\n" << text;
  return format(parsed->module());
}

/// The expression printed again on one line.
std::string printed(const std::string& expression) {
  const auto parsed = testing::parse_expression(expression);
  return expression_text(*parsed->module().functions.at(0).body.at(0).value);
}

TEST(Printer, KeepsTheParenthesesThatMeanSomething) {
  for (const char* text : {"(a + b) * c",
                           "a - (b - c)",
                           "a / (b * c)",
                           "-(a + b)",
                           "-(-a)",
                           "(sum(k) x[k]) * 2",
                           "2 * sum(k) x[k]",
                           "2 * (sum(k) x[k]) * 3",
                           "sum(k) (x[k] + 1)",
                           "sum(k) (-x[k])",
                           "any(k) (a[k] > b)",
                           "(any(k) a[k]) == b",
                           "not (a and b)",
                           "(not a) == b",
                           "(a or b) and c",
                           "(a < b) == c",
                           "a & (b | c)",
                           "a << (b << c)",
                           "(x[i] else 0) + 1",
                           "f(x[i] else 0)",
                           "x[i] else y[i] else 0",
                           "sum(k) (x[k] / N)",
                           "a * (b % c)",
                           "(x & 15) << 4",
                           "x & 15 | y"}) {
    const std::string again = printed(text);
    EXPECT_EQ(testing::tree_of(again), testing::tree_of(text));
    EXPECT_EQ(again, text);
  }
}

TEST(Printer, DropsTheOthersAndSpacesEvenly) {
  EXPECT_EQ(printed("((a)*(b))+(c)"), "a * b + c");
  EXPECT_EQ(printed("(sum(k) (x[k]*y[k]))+1"), "sum(k) x[k] * y[k] + 1");
  EXPECT_EQ(printed("f( (x[i] else 0),x[:,(i)] )"), "f(x[i] else 0, x[:, i])");
  EXPECT_EQ(printed("sum(j in 0..(i+1),k) (x[j])"), "sum(j in 0..i + 1, k) x[j]");
  EXPECT_EQ(printed("not(a<b)and(-c)<=d"), "not a < b and -c <= d");
  EXPECT_EQ(printed("argmax(e,nth=j)z[e]"), "argmax(e, nth = j) z[e]");
}

TEST(Printer, AlignsNeighboursAndKeepsCommentsAndBlankLines) {
  EXPECT_EQ(formatted("# licence\n"
                      "\n\n\n"
                      "# What it does.\n"
                      "@precision( error<1e-5 ) @atomics\n"
                      "fn f<T:f16|bf16,U:float>(x:T[N],  # the x\n"
                      "  # above w\n"
                      "  w:inout U[2*N] , C:dim=3  # last\n"
                      "  # the end\n"
                      " )->y:T[N],z:f32 where N%2==0,G=N/2 { # brace\n"
                      "  # first\n"
                      "\n\n"
                      "  m[i] = x[i]; longer[i, j in 0..N] = m[i]  # second\n"
                      "  y[t[i]]+=1 # third\n"
                      "\n"
                      "  q,s=f(x) # fourth\n"
                      "  z:bf16 =  x[0]   # a\n"
                      "    + 1 # fifth\n"
                      "  # last\n"
                      "} # after\n"
                      "fn g(){y=1}\n"
                      "fn h(){y=1;z=2}   # one line\n"
                      "# end"),
            "# licence\n"
            "\n"
            "# What it does.\n"
            "@precision(error < 1e-5)\n"
            "@atomics\n"
            "fn f<T: f16 | bf16, U: float>(\n"
            "  x: T[N],  # the x\n"
            "  # above w\n"
            "  w: inout U[2 * N],\n"
            "  C: dim = 3  # last\n"
            "  # the end\n"
            ") -> y: T[N], z: f32 where N % 2 == 0, G = N / 2 {  # brace\n"
            "  # first\n"
            "\n"
            "  m[i]                 = x[i]\n"
            "  longer[i, j in 0..N] = m[i]  # second\n"
            "  y[t[i]]             += 1     # third\n"
            "\n"
            "  q, s = f(x)  # fourth\n"
            "  # a\n"
            "  z: bf16 = x[0] + 1  # fifth\n"
            "  # last\n"
            "}  # after\n"
            "\n"
            "fn g() { y = 1 }\n"
            "fn h() { y = 1; z = 2 }  # one line\n"
            "# end\n");
}

TEST(Printer, BreaksLongLinesAtTheirLoosestOperators) {
  const std::string term = "a_rather_long_name[index_one, index_two] * another_long_name[index_two]";
  EXPECT_EQ(formatted("fn f() {\n y[i] = " + term + " + " + term + "\n}"),
            "fn f() {\n  y[i] = " + term + "\n         + " + term + "\n}\n");
  const std::string name(40, 'n');
  EXPECT_EQ(
      formatted("fn f() {\n y = where(" + name + ", " + name + ", 2 * (" + name + " + 1))\n}"),
      "fn f() {\n  y = where(" + name + ",\n          " + name + ",\n          2 * (" + name + " + 1))\n}\n");
}

TEST(Printer, CanonicalTextDependsOnTheProgramAlone) {
  const auto one = parse_text("# doc\n@atomics fn f(x:f32[N]) # c\n { y[i]=(sum(k) (x[k]/N));z=1 }");
  const auto two =
      parse_text("@atomics\nfn f(\n  x: f32[N]\n) {\n\n  # c\n  y[i] = sum(k) x[k] / N\n  z    = 1\n}");
  const std::string canonical = canonical_text(one->module().functions.at(0));
  EXPECT_EQ(canonical, canonical_text(two->module().functions.at(0)));
  EXPECT_EQ(canonical, "@atomics\nfn f(x: f32[N]) {\n  y[i] = sum(k) (x[k] / N)\n  z = 1\n}\n");
}

TEST(Printer, FormatsTheConformanceOperationsToTheSamePrograms) {
  const auto original = parse_text(testing::read_test_file("conformance/ops.ein"));
  const std::string once = format(original->module());
  const auto again = parse_text(once);
  EXPECT_TRUE(again->diagnostics.empty()) << again->text();
  EXPECT_TRUE(ast::equal(original->module(), again->module()));
  EXPECT_EQ(format(again->module()), once);
}

std::size_t comments_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '#'));
}

TEST(PrinterProperty, WhatIsPrintedParsesBackToTheSameTree) {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::SyntaxGenerator generate(seed);
    const ast::Module module = generate.module();
    const std::string text = format(module);
    const auto parsed = parse_text(text);
    ASSERT_FALSE(parsed->diagnostics.has_errors()) << parsed->text() << "\nof\n" << text;
    ASSERT_TRUE(ast::equal(module, parsed->module())) << text;
    const std::string again = format(parsed->module());
    ASSERT_EQ(again, text);
    ASSERT_EQ(comments_in(again), comments_in(text));
    for (const ast::Function& function : module.functions) {
      const auto canonical = parse_text(canonical_text(function));
      ASSERT_FALSE(canonical->diagnostics.has_errors()) << canonical->text();
      ASSERT_TRUE(ast::equal(function, canonical->module().functions.at(0))) << canonical_text(function);
    }
  }
}

TEST(PrinterProperty, ExpressionsKeepTheirTrees) {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    testing::SyntaxGenerator generate(seed);
    const auto expression = generate.expression(6, true);
    const std::string text = expression_text(*expression);
    ASSERT_TRUE(ast::equal(*expression, *ast::clone(*expression)));
    const auto parsed = testing::parse_expression(text);
    ASSERT_FALSE(parsed->diagnostics.has_errors()) << "seed " << seed << "\n" << parsed->text();
    ASSERT_TRUE(ast::equal(*expression, *parsed->module().functions.at(0).body.at(0).value))
        << "seed " << seed << "\n"
        << text;
  }
}

}  // namespace
}  // namespace einkern::dsl
