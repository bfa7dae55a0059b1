// What the parser says about mistakes, and that what it proposes works.
#include <gtest/gtest.h>

#include <ostream>

#include "syntax_testing.h"

namespace einkern::dsl {
namespace {

using testing::apply_first_fix;
using testing::parse_expression;
using testing::parse_text;

struct Mistake {
  const char* written;
  const char* message;   ///< a part of it
  const char* repaired;  ///< with the fix, or "" where none is offered
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.written; }

class ExpressionMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(ExpressionMistake, IsExplainedAndRepaired) {
  const Mistake& mistake = GetParam();
  const auto parsed = parse_expression(mistake.written);
  ASSERT_FALSE(parsed->diagnostics.empty()) << mistake.written;
  EXPECT_NE(parsed->text().find(mistake.message), std::string::npos) << parsed->text();
  if (*mistake.repaired == '\0') return;
  const std::string repaired = apply_first_fix(*parsed);
  EXPECT_NE(repaired.find(std::string("y[i] = ") + mistake.repaired + "\n"), std::string::npos) << repaired;
  const auto again = parse_text(repaired);
  EXPECT_TRUE(again->diagnostics.empty()) << again->text();
}

INSTANTIATE_TEST_SUITE_P(
    All, ExpressionMistake,
    ::testing::Values(
        Mistake{"sum(k) -x[k] * 2", "body of `sum` begins with a name, a number or `(`",
                "sum(k) (-x[k] * 2)"},
        Mistake{"max(k) -x[k]", "body of `max` begins", "max(k) (-x[k])"},
        Mistake{"any(k) not p[k]", "body of `any` begins", "any(k) (not p[k])"},
        Mistake{"sum(k in 0..N) ~x[k]", "body of `sum` begins", "sum(k in 0..N) (~x[k])"},
        Mistake{"any(k) a[k] > b[k]", "the body of `any` ends before `>`", "any(k) (a[k] > b[k])"},
        Mistake{"0 < all(k) a[k] <= b", "the body of `all` ends before `<=`", "0 < all(k) (a[k] <= b)"},
        Mistake{"sum(k) x[k] * 2 / N", "warning: this `/` belongs to the body of `sum`",
                "(sum(k) x[k] * 2) / N"},
        Mistake{"sum(k) x[k] % 3", "warning: this `%` belongs", "(sum(k) x[k]) % 3"},
        Mistake{"sum(k) x[k] / sum(k) x[k]", "warning: this `/` belongs", "(sum(k) x[k]) / sum(k) x[k]"},
        Mistake{"2 * x[i - 1] else 0", "nothing but a read may stand on its left", "2 * (x[i - 1] else 0)"},
        Mistake{"sum(k) x[k - 1] else 0", "nothing but a read", "sum(k) (x[k - 1] else 0)"},
        Mistake{"x else 0", "nothing but a read", ""},
        Mistake{"z[t[i] else 0]", "`else` may stand only as a whole right side", "z[(t[i] else 0)]"},
        Mistake{"sun(k) x[k]", "`sun` is no reduction", "sum(k) x[k]"},
        Mistake{"total(k in 0..N) x[k]", "`total` is no reduction; there are sum, prod", ""},
        Mistake{"sum(x)", "`sum` needs a body", ""}, Mistake{"max(k) + 1", "`max` needs a body", ""},
        Mistake{"sum(k)\n    x[k]", "body of `sum` must begin on this line", ""},
        Mistake{"(sum(k)\n    x[k])", "body of `sum` must begin on this line", ""},
        Mistake{"sum(x[k]) x[k]", "`sum` reduces over index variables", ""},
        Mistake{"sum(k 0..N) x[k]", "expected `)` or an operator, found `0`", ""},
        Mistake{"sum(k in N) x[k]", "expected `..` and the end of the range", ""},
        Mistake{"argmax(e, nth = 1, nth = 2) z[e]", "`nth =` stands twice", ""},
        Mistake{"x[i] ** 2", "there is no `**`; a power is written pow(x, y)", ""},
        Mistake{"a && b", "logical and is written `and`", "a and b"},
        Mistake{"a || b", "logical or is written `or`", "a or b"},
        Mistake{"!a", "logical not is written `not`", "not a"},
        Mistake{"a // 2", "`/` of integers rounds down already", ""},
        Mistake{"a <> b", "not equal is written `!=`", "a != b"},
        Mistake{"where(a = b, 1, 2)", "equality is written `==`", "where(a == b, 1, 2)"},
        Mistake{"x[i] ? 1 : 2", "a choice is written where(condition, a, b)", ""},
        Mistake{"a if b else c", "there is no `if`", ""}, Mistake{"a == not b", "`not` binds looser", ""},
        Mistake{"+a", "there is no unary `+`", "a"},
        Mistake{"x[i][j]", "only a tensor or a call can be indexed, and once", "x[i, j]"},
        Mistake{"(a + b)[i]", "only a tensor or a call can be indexed", ""},
        Mistake{"x[]", "a tensor of rank 0 is read by its name alone", "x"},
        Mistake{"x[1:2]", "a slice `:` takes its whole dimension", ""},
        Mistake{"x[:2]", "a slice `:` takes its whole dimension", ""},
        Mistake{"x[...]", "there is no `...`", ""}, Mistake{"(a + b", "expected `)` or an operator", ""},
        Mistake{"f(a, b", "expected `)` or an operator", ""},
        Mistake{"a b", "expected an operator or the end of the definition, found `b`", ""},
        Mistake{"a; z = 3 w = 4", "expected an operator or the end of the definition, found `w`", ""},
        Mistake{"a +", "expected an expression, found the end of the line", ""},
        Mistake{"", "expected an expression", ""},
        Mistake{"1. + a", "a digit must follow the decimal point", "1.0 + a"},
        Mistake{".5", "a number begins with a digit", "0.5"},
        Mistake{"0xFF & a", "numbers are written in decimal", "255 & a"},
        Mistake{"1.0f", "literals have no suffix", "1.0"},
        Mistake{"2K", "`2K` is neither a number nor a name; a product is written `2 * K`", ""},
        Mistake{"99999999999999999999", "does not fit 64 bits", ""},
        Mistake{"1e999", "outside the range of f64", ""}, Mistake{"\"text\"", "there are no strings", ""},
        Mistake{"x.shape", "a `.` stands only inside a number", ""},
        Mistake{"a $ b", "`$` means nothing here", ""}, Mistake{"a \x01 b", "a control character, 0x01", ""},
        Mistake{"\xC3\xA9 + a", "characters outside ASCII may stand in comments only", ""},
        Mistake{"a + \xFF", "byte 0xFF is not UTF-8 text", ""}));

class SourceMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(SourceMistake, IsExplainedAndRepaired) {
  const Mistake& mistake = GetParam();
  const auto parsed = parse_text(mistake.written);
  ASSERT_TRUE(parsed->diagnostics.has_errors()) << mistake.written;
  EXPECT_NE(parsed->text().find(mistake.message), std::string::npos) << parsed->text();
  if (*mistake.repaired == '\0') return;
  const std::string repaired = apply_first_fix(*parsed);
  EXPECT_EQ(repaired, mistake.repaired);
  const auto again = parse_text(repaired);
  EXPECT_TRUE(again->diagnostics.empty()) << again->text();
}

INSTANTIATE_TEST_SUITE_P(
    All, SourceMistake,
    ::testing::Values(
        Mistake{"fn f(x f32[N]) -> y: f32 { y = 1 }", "expected `:` and a type, found `f32`",
                "fn f(x: f32[N]) -> y: f32 { y = 1 }"},
        Mistake{"fn f(f32 x) -> y: f32 { y = 1 }",
                "`f32` is a word of the language and cannot be a parameter's name", ""},
        Mistake{"fn f(inout x: f32[N]) { x[i] = 1 }", "`inout` stands before the type", ""},
        Mistake{"fn f(C: dim[3]) { x[i] = 1 }", "a dim is one integer and has no shape", ""},
        Mistake{"fn f(x: f32[]) -> y: f32 { y = x }", "rank 0 is written without brackets",
                "fn f(x: f32) -> y: f32 { y = x }"},
        Mistake{"fn f(x: f32[N]) -> f32[N] { y[i] = x[i] }", "a result has a name",
                "fn f(x: f32[N]) -> y: f32[N] { y[i] = x[i] }"},
        Mistake{"fn f(x: f32[N]) => y: f32 { y = 1 }", "results follow `->`",
                "fn f(x: f32[N]) -> y: f32 { y = 1 }"},
        Mistake{"fn f(x: f32[N]) : f32 { y = 1 }", "expected `->`, `where` or `{`, found `:`", ""},
        Mistake{"fn f(x: f32[N]) where G = 2, A + B = G { y = 1 }", "a constraint is written with `==`",
                "fn f(x: f32[N]) where G = 2, A + B == G { y = 1 }"},
        Mistake{"fn f<T>(x: T[N]) { y = 1 }", "expected `:`, found `>`", ""},
        Mistake{"fn f(x: f32[N], ) { y = 1 }", "expected a parameter's name, found `)`", ""},
        Mistake{"fn f(x: f32[N] { y = 1 }", "expected `,` or `)`, found `{`", ""},
        Mistake{"fn where() { y = 1 }", "`where` is a word of the language", ""},
        Mistake{"def f(x): return x", "expected `fn`, found `def`", ""},
        Mistake{"y[i] = x[i]", "a definition stands inside the braces of a function", ""},
        Mistake{"fn f() { y = 1 } }", "this `}` closes nothing", ""},
        Mistake{"fn f() { y = 1\nfn g() { y = 2 }", "expected `}`, found `fn`", ""},
        Mistake{"fn f() { y = 1", "expected `}`, found the end of the file", ""},
        Mistake{"@atomics\n", "expected `fn` after the attributes, found the end of the file", ""},
        Mistake{"@3 fn f() {}", "expected an attribute's name, found `3`", ""},
        Mistake{"fn f() { y[i] == 2 }", "a definition is written with `=`", "fn f() { y[i] = 2 }"},
        Mistake{"fn f() { y[i] := 2 }", "a definition is written with `=`", "fn f() { y[i] = 2 }"},
        Mistake{"fn f() { y[i] -= 2 }", "updates are `=`, `+=`, `max=` and `min=`", ""},
        Mistake{"fn f() { y(i) = 2 }", "indices stand in brackets", ""},
        Mistake{"fn f() { y[] = 2 }", "a tensor of rank 0 is defined by its name alone", "fn f() { y = 2 }"},
        Mistake{"fn f() { y[i, :] = 2 }", "a left side names its indices", ""},
        Mistake{"fn f() { y[i + 1 in 0..N] = 2 }", "only a variable can be given a range", ""},
        Mistake{"fn f() { y[i] 2 }", "expected `=` or an update", ""},
        Mistake{"fn f() { f16 = 2 }", "`f16` is a word of the language and cannot be a definition's name",
                ""},
        Mistake{"fn f() {\n  if x > 0\n}", "there is no `if`", ""},
        Mistake{"fn f() {\n  for i in 0..N\n}", "there is no `for`", ""},
        Mistake{"fn f() {\n  return x\n}", "there is no `return`", ""},
        Mistake{"fn f() {\n  let z = 3\n}", "a definition needs no `let`", ""},
        Mistake{"// comment\nfn f() { y = 1 }", "a comment begins with `#`", ""},
        Mistake{"# \xC0\xAF\nfn f() { y = 1 }", "byte 0xC0 is not UTF-8 text", ""}));

TEST(ParserErrors, ANulByteIsAnErrorWithAPlace) {
  const auto parsed = parse_text(std::string("fn f() { y = 1 \0 + 2 }", 22));
  EXPECT_EQ(parsed->messages(), "a NUL byte cannot stand in a source\n");
  EXPECT_EQ(parsed->diagnostics.all()[0].range, (SourceRange{0, 15, 16}));
  EXPECT_TRUE(parse_text(std::string("# \0\nfn f() { y = 1 }", 20))->diagnostics.has_errors());
}

TEST(ParserErrors, FindsSeveralInARunAndGoesOnAtTheNextDefinition) {
  const auto parsed = parse_text(
      "fn f(x: f32[N]) -> y: f32[N] {\n"
      "  a[i] = x[i\n"
      "  b[i] = x[i] + )\n"
      "  c[i] = x[i]\n"
      "}\n"
      "fn g(x: f32[N] -> y: f32[N] {\n"
      "  d[i] = (x[i] +\n"
      "}\n"
      "fn h(x: f32[N]) -> y: f32[N] { y[i] = x[i] }\n");
  EXPECT_EQ(parsed->messages(),
            "expected `]` or an operator, found `b`\n"
            "expected an expression, found `)`\n"
            "expected `,` or `)`, found `->`\n"
            "expected an expression, found `}`\n");
  ASSERT_EQ(parsed->module().functions.size(), 3u);
  EXPECT_TRUE(parsed->module().functions[0].incomplete);
  EXPECT_EQ(parsed->module().functions[0].body.size(), 1u);
  EXPECT_FALSE(parsed->module().functions[2].incomplete);
}

TEST(ParserErrors, ParenthesesAroundTheBodySilenceTheWarningAboutAQuotient) {
  EXPECT_TRUE(parse_expression("sum(k) (x[k] / N)")->diagnostics.empty());
  EXPECT_TRUE(parse_expression("sum(k) x[k] / w[k]")->diagnostics.empty());
  EXPECT_TRUE(parse_expression("sum(k) x[k] / N * w[k]")->diagnostics.empty());
}

TEST(ParserErrors, StopAtTwentyAndSaySo) {
  std::string text = "fn f() {\n";
  for (int i = 0; i < 30; ++i) text += "  y = )\n";
  const auto parsed = parse_text(text + "}\n");
  EXPECT_EQ(parsed->diagnostics.error_count(), 20);
  EXPECT_TRUE(parsed->diagnostics.full());
  EXPECT_NE(parsed->text().find("stopped after 20 errors"), std::string::npos);
}

}  // namespace
}  // namespace einkern::dsl
