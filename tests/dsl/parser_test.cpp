// What the parser accepts, and the trees that it makes.
#include "dsl/parser.h"

#include <gtest/gtest.h>

#include "syntax_testing.h"

namespace einkern::dsl {
namespace {

using testing::dump;
using testing::parse_text;
using testing::tree_of;

TEST(Parser, BindsOperatorsAsTheLanguagePageSays) {
  EXPECT_EQ(tree_of("a + b * c - d"), "(- (+ a (* b c)) d)");
  EXPECT_EQ(tree_of("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(tree_of("a / b % c * d"), "(* (% (/ a b) c) d)");
  EXPECT_EQ(tree_of("a << b + 1 & c"), "(& (<< a (+ b 1)) c)");
  EXPECT_EQ(tree_of("a & b ^ c | d & e"), "(| (^ (& a b) c) (& d e))");
  EXPECT_EQ(tree_of("a | b == c"), "(compare (| a b) == c)");
  EXPECT_EQ(tree_of("not a < b and c or d"), "(or (and (not (compare a < b)) c) d)");
  EXPECT_EQ(tree_of("-a * b"), "(* (- a) b)");
  EXPECT_EQ(tree_of("-~x[i]"), "(- (~ (read x i)))");
  EXPECT_EQ(tree_of("a * -b"), "(* a (- b))");
  EXPECT_EQ(tree_of("(a + b) * c"), "(* (+ a b) c)");
}

TEST(Parser, ChainsComparisonsInOneDirection) {
  EXPECT_EQ(tree_of("0 <= s - t < W"), "(compare 0 <= (- s t) < W)");
  EXPECT_EQ(tree_of("a == b <= c"), "(compare a == b <= c)");
  EXPECT_EQ(tree_of("a > b >= c"), "(compare a > b >= c)");
  const std::string message = "comparisons chain in one direction only; join two with `and`\n";
  EXPECT_EQ(tree_of("a < b > c"), message);
  EXPECT_EQ(tree_of("a < b == c > d"), message);
  EXPECT_EQ(tree_of("a != b < c"), message);
}

TEST(Parser, GivesAReductionTheWholeProductThatFollows) {
  EXPECT_EQ(tree_of("2 * sum(k) a * b / c[k] + d"), "(+ (* 2 (reduce sum k (/ (* a b) (read c k)))) d)");
  EXPECT_EQ(tree_of("-sum(k) x[k]"), "(- (reduce sum k (read x k)))");
  EXPECT_EQ(tree_of("sum(i) mean(j) x[i, j] * -y"), "(reduce sum i (reduce mean j (* (read x i j) (- y))))");
  EXPECT_EQ(tree_of("sum(k) x[k] > 0"), "(compare (reduce sum k (read x k)) > 0)");
  EXPECT_EQ(tree_of("not any(k) p[k] and q"), "(and (not (reduce any k (read p k))) q)");
  EXPECT_EQ(tree_of("sum(j in 0..i + 1) x[j]"), "(reduce sum j:0..(+ i 1) (read x j))");
  EXPECT_EQ(tree_of("sum(n in off[b]..off[b + 1], d) x[n, d]"),
            "(reduce sum n:(read off b)..(read off (+ b 1)) d (read x n d))");
  EXPECT_EQ(tree_of("argmax(e, nth = j) z[n, e]"), "(reduce argmax e nth=j (read z n e))");
  EXPECT_EQ(tree_of("sum(i) i32(x[i] > 0)"), "(reduce sum i (call i32 (compare (read x i) > 0)))");
  EXPECT_EQ(tree_of("sum(n) where(t[n], 0, 1)"), "(reduce sum n (call where (read t n) 0 1))");
}

TEST(Parser, TellsReductionsFromCallsByWhatFollows) {
  EXPECT_EQ(tree_of("max(a, b)"), "(call max a b)");
  EXPECT_EQ(tree_of("max(a, b) - c"), "(- (call max a b) c)");
  EXPECT_EQ(tree_of("max(a, b) x[a, b]"), "(reduce max a b (read x a b))");
  EXPECT_EQ(tree_of("max(max(c) abs(x[c]), 1e-12) / s"),
            "(/ (call max (reduce max c (call abs (read x c))) 1e-12) s)");
  EXPECT_EQ(tree_of("mean(c) mean[c]"), "(reduce mean c (read mean c))") << "a tensor may be called mean";
}

TEST(Parser, LetsTheUsersFunctionWinOverAReduction) {
  const auto parsed = parse_text(
      "fn sum(a: f32) -> y: f32 { y = a }\n"
      "fn g(a: f32, x: f32[N]) -> y: f32 { y = sum(a) - sum(i) x[i] }\n");
  ASSERT_TRUE(parsed->diagnostics.empty()) << parsed->text();
  EXPECT_EQ(dump(*parsed->module().functions.at(1).body.at(0).value),
            "(- (call sum a) (reduce sum i (read x i)))");
}

TEST(Parser, GroupsElseToTheRightAndOnlyInItsPlaces) {
  EXPECT_EQ(tree_of("a[i] else b[i - N] else 0"), "(else (read a i) (else (read b (- i N)) 0))");
  EXPECT_EQ(tree_of("a[i] else 1 + 2"), "(else (read a i) (+ 1 2))");
  EXPECT_EQ(tree_of("f(a[i] else 0, (b[i] else 1) * 2)"),
            "(call f (else (read a i) 0) (* (else (read b i) 1) 2))");
  EXPECT_EQ(tree_of("softmax(x)[i] else 0"), "(else (read (call softmax x) i) 0)");
}

TEST(Parser, ReadsSlicesAndElementsOfCalls) {
  EXPECT_EQ(tree_of("softmax(x[b, :, :])[r, c]"), "(read (call softmax (read x b : :)) r c)");
  EXPECT_EQ(tree_of("x[-1, a % 2]"), "(read x (- 1) (% a 2))");
  EXPECT_EQ(tree_of("bitcast(u32, x) + largest(bf16)"), "(+ (call bitcast u32 x) (call largest bf16))");
}

TEST(Parser, ReadsNumbersAndConstants) {
  EXPECT_EQ(tree_of("1e-5 + 2.5 + 18446744073709551615"), "(+ (+ 1e-5 2.5) 18446744073709551615)");
  EXPECT_EQ(tree_of("where(true, -inf, nan)"), "(call where true (- inf) nan)");
  const auto parsed = testing::parse_expression("2.5e3");
  const auto* number = parsed->module().functions.at(0).body.at(0).value->as<ast::Number>();
  ASSERT_NE(number, nullptr);
  EXPECT_TRUE(number->is_float);
  EXPECT_EQ(number->real, 2500.0);
}

TEST(Parser, EndsADefinitionAtTheNewlineUnlessAnOperatorStandsThere) {
  const auto parsed = parse_text(
      "fn f(x: f32[N]) -> y: f32[N] {\r\n"
      "  a[i] = x[i] +\r\n"
      "    1\r\n"
      "  b[i] = x[i]\r\n"
      "    - 1\r\n"
      "  c[i] = x[i - 1]\r\n"
      "    else 0; d[i] = f(x[i],\n"
      "      2)\n"
      "  e[i] =\n"
      "    x[i\n"
      "      + 1]\n"
      "  (x[i])\n"
      "}\n");
  const auto& body = parsed->module().functions.at(0).body;
  ASSERT_EQ(body.size(), 5u);
  EXPECT_EQ(dump(*body[0].value), "(+ (read x i) 1)");
  EXPECT_EQ(dump(*body[1].value), "(- (read x i) 1)");
  EXPECT_EQ(dump(*body[2].value), "(else (read x (- i 1)) 0)");
  EXPECT_EQ(dump(*body[3].value), "(call f (read x i) 2)");
  EXPECT_EQ(dump(*body[4].value), "(read x (+ i 1))") << "a bracket on the next line is no call";
  EXPECT_EQ(parsed->messages(), "expected a definition's name, found the end of the line\n");
}

TEST(Parser, ReadsWholeSignatures) {
  const auto parsed = parse_text(
      "# Attention with grouped heads.\n#   Two lines.\n"
      "@precision(error < 1e-5) @atomics\n"
      "fn attention<T: f16 | bf16, U: float>(q: T[B, 2 * F], cache: inout U[B], W: i32, C: dim = 3,\n"
      "    scale: f32 = 1.0 / sqrt(D))\n"
      "  -> o: T[B, D - 1], loss: f32\n"
      "  where H % HK == 0, G = H / HK\n"
      "{ o[b, d in 0..D - 1] = q[b, d] }\n");
  ASSERT_TRUE(parsed->diagnostics.empty()) << parsed->text();
  const ast::Function& function = parsed->module().functions.at(0);
  EXPECT_EQ(function.documentation, "Attention with grouped heads.\n  Two lines.");
  ASSERT_EQ(function.attributes.size(), 2u);
  EXPECT_EQ(dump(*function.attributes[0].arguments.at(0)), "(compare error < 1e-5)");
  ASSERT_EQ(function.type_parameters.size(), 2u);
  EXPECT_EQ(function.type_parameters[0].choices.at(1).text, "bf16");
  ASSERT_EQ(function.parameters.size(), 5u);
  EXPECT_EQ(dump(*function.parameters[0].shape.at(1)), "(* 2 F)");
  EXPECT_TRUE(function.parameters[1].is_inout);
  EXPECT_TRUE(function.parameters[2].shape.empty());
  EXPECT_TRUE(function.parameters[3].is_dim);
  EXPECT_EQ(dump(*function.parameters[4].default_value), "(/ 1.0 (call sqrt D))");
  ASSERT_EQ(function.results.size(), 2u);
  EXPECT_TRUE(function.results[1].shape.empty());
  ASSERT_EQ(function.where.size(), 2u);
  EXPECT_FALSE(function.where[0].derived);
  EXPECT_EQ(function.where[1].derived->text, "G");
  EXPECT_TRUE(function.on_one_line);
  EXPECT_FALSE(function.incomplete);
  EXPECT_TRUE(function.body.at(0).targets.at(0).indices.at(1).bounds);
}

TEST(Parser, ReadsEveryKindOfDefinition) {
  const auto parsed = parse_text(
      "fn f(x: f32[N], y: inout f32[N]) {\n"
      "  q, s = quantise(x)\n"
      "  y[t[n], d] += g[n, d]\n"
      "  y[i] max= x[i]\n"
      "  max min= max(q, s)\n"
      "  h[i, j]: bf16 = x[i]\n"
      "  z = 3\n"
      "}\n");
  ASSERT_TRUE(parsed->diagnostics.empty()) << parsed->text();
  const auto& body = parsed->module().functions.at(0).body;
  ASSERT_EQ(body.size(), 6u);
  EXPECT_EQ(body[0].targets.size(), 2u);
  EXPECT_EQ(body[1].assignment, ast::Assignment::add);
  EXPECT_EQ(dump(*body[1].targets[0].indices.at(0).expression), "(read t n)");
  EXPECT_EQ(body[2].assignment, ast::Assignment::maximum);
  EXPECT_EQ(body[3].targets[0].name.text, "max");
  EXPECT_EQ(body[3].assignment, ast::Assignment::minimum);
  EXPECT_EQ(body[4].targets[0].type->text, "bf16");
}

TEST(Parser, ReadsSeveralSourcesEachIntoItsModule) {
  SourceSet sources;
  sources.add("a.ein", "fn a() -> y: f32 { y = 1 }");
  sources.add("b.ein", "fn b() -> y: f32 { y = }");
  DiagnosticBag diagnostics;
  const auto modules = parse(sources, diagnostics);
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].functions.at(0).name.text, "a");
  EXPECT_FALSE(modules[0].functions.at(0).incomplete);
  EXPECT_TRUE(modules[1].functions.at(0).incomplete);
  ASSERT_EQ(diagnostics.error_count(), 1);
  EXPECT_EQ(diagnostics.all()[0].range.file, 1u);
}

TEST(Parser, ReadsTheConformanceOperationsWithoutADiagnostic) {
  const auto parsed = parse_text(testing::read_test_file("conformance/ops.ein"));
  EXPECT_TRUE(parsed->diagnostics.empty()) << parsed->text();
  EXPECT_EQ(parsed->module().functions.size(), 67u);
}

}  // namespace
}  // namespace einkern::dsl
