// Every limit of the front end at the limit and one past it, and inputs that are made to hurt.
#include "dsl/limits.h"

#include <gtest/gtest.h>

#include <chrono>

#include "dsl/printer.h"
#include "syntax_testing.h"

namespace einkern::dsl {
namespace {

using testing::parse_expression;
using testing::parse_text;

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// `count` of an item, separated by commas.
std::string listed(const std::string& item, std::size_t count) {
  return item + repeated(", " + item, count - 1);
}

/// At `limit` there is nothing to say; one past it one error that holds `message`.
template <typename Make>
void expect_limit(std::size_t limit, const char* message, Make make) {
  const auto fits = parse_text(make(limit));
  EXPECT_TRUE(fits->diagnostics.empty()) << fits->messages();
  const auto exceeds = parse_text(make(limit + 1));
  ASSERT_EQ(exceeds->diagnostics.error_count(), 1) << exceeds->messages();
  EXPECT_NE(exceeds->messages().find(message), std::string::npos) << exceeds->messages();
}

std::string defining(const std::string& expression) { return "fn f() { y = " + expression + " }"; }

TEST(Limits, SourceBytes) {
  expect_limit(limits::source_bytes, "the source has more than 1048576 bytes, which is the limit",
               [](std::size_t n) { return "#" + std::string(n - 1, 'x'); });
}

TEST(Limits, Tokens) {
  expect_limit(limits::tokens, "the source has more than 400000 tokens, which is the limit",
               [](std::size_t n) {
                 const std::string function = "fn f(){y=1}\n";  // nine tokens
                 const std::size_t whole = n / 9, rest = n - whole * 9;
                 return repeated(function, whole - 1) + "fn f(){y=1" + std::string(rest, ';') + "}";
               });
}

TEST(Limits, IdentifierLength) {
  expect_limit(limits::identifier_length, "this name has more than 128 characters",
               [](std::size_t n) { return defining(std::string(n, 'a')); });
}

TEST(Limits, Nesting) {
  const char* message =
      "this nests more than 256 levels, which is the limit; give a part a definition of its own";
  expect_limit(limits::nesting, message,
               [](std::size_t n) { return defining(repeated("(", n) + "a" + repeated(")", n)); });
  expect_limit(limits::nesting, message,
               [](std::size_t n) { return defining(repeated("x[", n) + "a" + repeated("]", n)); });
  expect_limit(limits::nesting, message,
               [](std::size_t n) { return defining(repeated("f(", n) + "a" + repeated(")", n)); });
  expect_limit(limits::nesting, message, [](std::size_t n) { return defining(repeated("-", n) + "a"); });
  expect_limit(limits::nesting, message, [](std::size_t n) { return defining(repeated("not ", n) + "a"); });
  expect_limit(limits::nesting, message,
               [](std::size_t n) { return defining(repeated("sum(k) ", n) + "a"); });
  expect_limit(limits::nesting - 1, message,
               [](std::size_t n) { return defining(repeated("x[i] else ", n) + "x[i]"); });
}

TEST(Limits, ExpressionHeight) {
  const char* message = "this expression has more than 1000 operators in a row, which is the limit";
  expect_limit(limits::expression_height, message,
               [](std::size_t n) { return defining(repeated("a + ", n - 1) + "a"); });
  expect_limit(limits::expression_height, message,
               [](std::size_t n) { return defining(repeated("a and ", n - 1) + "a"); });
}

TEST(Limits, Rank) {
  expect_limit(limits::rank, "there are more than 16 dimensions",
               [](std::size_t n) { return "fn f(x: f32[" + listed("N", n) + "]) { y = 1 }"; });
  expect_limit(limits::rank, "this read has more than 16 indices",
               [](std::size_t n) { return defining("x[" + listed("i", n) + "]"); });
  expect_limit(limits::rank, "there are more than 16 indices",
               [](std::size_t n) { return "fn f() { y[" + listed("i", n) + "] = 1 }"; });
  expect_limit(limits::rank, "this reduction has more than 16 variables",
               [](std::size_t n) { return defining("sum(" + listed("i", n) + ") 1"); });
  EXPECT_EQ(parse_text("fn f(x: f32[" + listed("N", 100) + "]) { y = 1 }")->diagnostics.error_count(), 1);
}

TEST(Limits, Parameters) {
  expect_limit(limits::parameters, "there are more than 256 parameters",
               [](std::size_t n) { return "fn f(" + listed("x: f32", n) + ") { y = 1 }"; });
  expect_limit(limits::parameters, "there are more than 256 results",
               [](std::size_t n) { return "fn f() -> " + listed("x: f32", n) + " { y = 1 }"; });
  expect_limit(limits::parameters, "there are more than 256 constraints",
               [](std::size_t n) { return "fn f() where " + listed("A == B", n) + " { y = 1 }"; });
  expect_limit(limits::parameters, "there are more than 256 type parameters",
               [](std::size_t n) { return "fn f<" + listed("T: float", n) + ">() { y = 1 }"; });
  expect_limit(limits::parameters, "there are more than 256 targets",
               [](std::size_t n) { return "fn f() { " + listed("y", n) + " = f(x) }"; });
  expect_limit(limits::parameters, "this call has more than 256 arguments",
               [](std::size_t n) { return defining("f(" + listed("x", n) + ")"); });
}

TEST(HardInput, NeverOverflowsTheStack) {
  constexpr std::size_t many = 100'000;
  for (const char* unit :
       {"(",     "[", "x[", "f(", "-",    "~",   "not ", "sum(k) ", "x[i] else ", "a + ",     "a < ",
        "a or ", "{", "}",  "<",  "y = ", "y, ", "@a ",  "fn ",     "where(",     "sum(k in "})
    EXPECT_GT(parse_expression(repeated(unit, many))->diagnostics.error_count(), 0) << unit;
}

TEST(HardInput, AThousandNestedParenthesesGiveOneCleanError) {
  const auto parsed = parse_expression(repeated("(", 1000) + "x[i]" + repeated(")", 1000));
  EXPECT_EQ(parsed->messages(),
            "this nests more than 256 levels, which is the limit; give a part a definition of its own\n");
}

TEST(HardInput, TenThousandLinesTakeNoTime) {
  std::string text = "fn f(x: f32[N]) -> y: f32[N] {\n";
  for (int i = 0; i < 10'000; ++i)
    text += "  t" + std::to_string(i) + "[i] = exp(x[i]) * 2.0 + sum(k) x[k] * x[k]\n";
  const auto start = std::chrono::steady_clock::now();
  const auto parsed = parse_text(text + "  y[i] = t0[i]\n}\n");
  const std::string formatted = format(parsed->module());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(parsed->diagnostics.empty());
  EXPECT_EQ(parsed->module().functions.at(0).body.size(), 10'001u);
  EXPECT_LT(seconds.count(), 5.0) << "it takes 0.1 s; this is for slow machines and sanitizers";
}

}  // namespace
}  // namespace einkern::dsl
