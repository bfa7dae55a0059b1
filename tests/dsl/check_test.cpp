// What checked functions hold: types, casts, guards, ranges, calls inlined, updates and recurrences.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/dsl/checked.h"

namespace einkern {
namespace {

using testing::Compiled;

/// The canonical text of the first function of a source that has no errors.
std::string canonical(const std::string& source) {
  const Compiled compiled(source);
  return compiled.program ? compiled.first()->canonical_text : compiled.messages();
}

/// The one definition of a local tensor `a[i] = expression` over tensors of every type: "i32: x + 1".
std::string typed(const std::string& expression) {
  const Compiled compiled(
      "fn f(b: bool[N], e1: i8[N], e4: i32[N], e8: i64[N], v4: u32[N], v8: u64[N], h: bf16[N], q: f8e4m3[N], "
      "x: "
      "f32[N], d: f64[N], s: f32, n: i32, D: dim) -> y: f32[N] {\n"
      "  a[i in 0..N] = " +
      expression + "\n  y[i] = x[i]\n}\n");
  if (!compiled.program) return compiled.messages();
  const std::string& text = compiled.first()->canonical_text;
  const std::size_t begin = text.find("a[i0 in 0..N]: ") + 15, equals = text.find(" = ", begin);
  return text.substr(begin, equals - begin) + ": " +
         text.substr(equals + 3, text.find('\n', equals) - equals - 3);
}

struct Rule {
  const char* written;
  const char* checked;
};
void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.written; }

class TypeRule : public ::testing::TestWithParam<Rule> {};

TEST_P(TypeRule, GivesTypeAndCasts) { EXPECT_EQ(typed(GetParam().written), GetParam().checked); }

INSTANTIATE_TEST_SUITE_P(
    Joins, TypeRule,
    ::testing::Values(
        Rule{"e4[i] + e8[i]", "i64: i64(e4[i0]) + e8[i0]"},
        Rule{"v4[i] + v8[i]", "u64: u64(v4[i0]) + v8[i0]"},
        Rule{"v4[i] + e8[i]", "i64: i64(v4[i0]) + e8[i0]"}, Rule{"e8[i] * x[i]", "f32: f32(e8[i0]) * x[i0]"},
        Rule{"e4[i] * d[i]", "f64: f64(e4[i0]) * d[i0]"}, Rule{"x[i] - d[i]", "f64: f64(x[i0]) - d[i0]"},
        Rule{"h[i] * q[i]", "f32: h[i0] * q[i0]"}, Rule{"e1[i] + e1[i]", "i32: e1[i0] + e1[i0]"},
        Rule{"i + e4[i]", "i64: i0 + i64(e4[i0])"}, Rule{"D * x[i]", "f32: f32(D) * x[i0]"},
        Rule{"-h[i]", "f32: -h[i0]"}, Rule{"e4[i] >> e8[i]", "i32: e4[i0] >> i32(e8[i0])"},
        Rule{"v8[i] << e4[i]", "u64: v8[i0] << u64(e4[i0])"},
        Rule{"e4[i] & 3 | 4 ^ ~e4[i]", "i32: e4[i0] & 3 | 4 ^ ~e4[i0]"},
        Rule{"b[i] == (x[i] > 0)", "bool: b[i0] == (0.0 < x[i0])"},
        Rule{"0 <= i - D < 3", "bool: 0 <= i0 - D and i0 - D < 3"},
        Rule{"3 > x[i] >= s", "bool: x[i0] < 3.0 and s <= x[i0]"},
        Rule{"not b[i] and true", "bool: not b[i0] and true"},
        Rule{"where(b[i], e4[i], 2.5)", "f32: where(b[i0], f32(e4[i0]), 2.5)"},
        Rule{"where(b[i], b[i], false)", "bool: where(b[i0], b[i0], false)"},
        Rule{"e4[i] / 2", "i32: e4[i0] / 2"}, Rule{"x[i] * 1.0 / D", "f32: x[i0] * 1.0 / f32(D)"},
        Rule{"f32(e4[i] / 2)", "f32: f32(e4[i0] / 2)"}));

INSTANTIATE_TEST_SUITE_P(
    Literals, TypeRule,
    ::testing::Values(Rule{"1", "i32: i32(1)"}, Rule{"3000000000", "i64: i64(3000000000)"},
                      Rule{"18446744073709551615", "u64: u64(18446744073709551615)"},
                      Rule{"1.5", "f32: f32(1.5)"}, Rule{"e4[i] + 1.5", "f32: f32(e4[i0]) + 1.5"},
                      Rule{"d[i] * 0.1", "f64: d[i0] * 0.1"}, Rule{"x[i] * 0.1", "f32: x[i0] * 0.1"},
                      Rule{"x[i] * (2 * 3 + 1)", "f32: x[i0] * 7.0"},
                      Rule{"d[i] * (1.0 / 3)", "f64: d[i0] * 0.3333333333333333"},
                      Rule{"x[i] * sqrt(2.0)", "f32: x[i0] * 1.4142135"},
                      Rule{"e4[i] + 7 / 2", "i32: e4[i0] + 3"}, Rule{"e4[i] + -7 / 2", "i32: e4[i0] + -4"},
                      Rule{"e4[i] % -3", "i32: e4[i0] % -3"}, Rule{"-7 % 3", "i32: i32(2)"},
                      Rule{"x[i] + (1 << 4)", "f32: x[i0] + 16.0"}, Rule{"max(1, 2.5, -3)", "f32: f32(2.5)"},
                      Rule{"1 < 2", "bool: true"}, Rule{"x[i] + inf", "f32: x[i0] + inf"},
                      Rule{"-inf", "f32: f32(-inf)"}, Rule{"nan", "f32: f32(nan)"},
                      Rule{"e4[i] * 0 - 1", "i32: e4[i0] * 0 - 1"}));

INSTANTIATE_TEST_SUITE_P(
    Casts, TypeRule,
    ::testing::Values(Rule{"bf16(x[i])", "f32: bf16(x[i0])"}, Rule{"bf16(e4[i])", "f32: bf16(e4[i0])"},
                      Rule{"i8(x[i])", "i32: i8(x[i0])"}, Rule{"f64(1)", "f64: f64(1.0)"},
                      Rule{"bf16(0.1)", "f32: f32(0.100097656)"}, Rule{"i32(2.7)", "i32: i32(2)"},
                      Rule{"u8(257)", "i32: i32(1)"}, Rule{"bool(x[i])", "bool: bool(x[i0])"},
                      Rule{"f32(b[i])", "f32: f32(b[i0])"}, Rule{"f32(x[i])", "f32: x[i0]"},
                      Rule{"bitcast(u32, x[i])", "u32: bitcast(u32, x[i0])"},
                      Rule{"bitcast(i64, d[i])", "i64: bitcast(i64, d[i0])"}));

INSTANTIATE_TEST_SUITE_P(
    Functions, TypeRule,
    ::testing::Values(
        Rule{"sqrt(D)", "f32: sqrt(f32(D))"}, Rule{"exp(e4[i])", "f32: exp(f32(e4[i0]))"},
        Rule{"pow(x[i], 2)", "f32: pow(x[i0], 2.0)"}, Rule{"pow(d[i], x[i])", "f64: pow(d[i0], f64(x[i0]))"},
        Rule{"fma(x[i], 2, 1)", "f32: fma(x[i0], 2.0, 1.0)"}, Rule{"isnan(x[i])", "bool: isnan(x[i0])"},
        Rule{"popcount(v8[i])", "i32: popcount(v8[i0])"}, Rule{"abs(e4[i])", "i32: abs(e4[i0])"},
        Rule{"max(e4[i], x[i], 2)", "f32: max(max(f32(e4[i0]), x[i0]), 2.0)"},
        Rule{"clamp(e4[i], 0, D - 1)", "i64: min(i64(max(e4[i0], 0)), D - 1)"},
        Rule{"random(n, i)", "u32: random(u64(n), u64(i0))"},
        Rule{"uniform(3, i)", "f32: uniform(u64(3), u64(i0))"}, Rule{"largest(i8)", "i32: i32(127)"},
        Rule{"lowest(i64)", "i64: i64(-9223372036854775808)"},
        Rule{"largest(u64)", "u64: u64(18446744073709551615)"}, Rule{"lowest(u8)", "i32: i32(0)"},
        Rule{"largest(f8e4m3)", "f32: f32(448.0)"}, Rule{"epsilon(bf16)", "f32: f32(0.0078125)"},
        Rule{"sigmoid(x[i])", "f32: 1.0 / (1.0 + exp(-x[i0]))"}, Rule{"relu(e4[i])", "i32: max(e4[i0], 0)"},
        Rule{"silu(x[i])", "f32: max(x[i0], -1000.0) / (1.0 + exp(-max(x[i0], -1000.0)))"},
        Rule{"softplus(x[i])", "f32: max(x[i0], 0.0) + log1p(exp(-abs(x[i0])))"},
        Rule{"gelu(d[i])",
             "f64: 0.5 * max(d[i0], -20.0) * (1.0 + erf(max(d[i0], -20.0) * 0.7071067811865476))"}));

INSTANTIATE_TEST_SUITE_P(
    Reductions, TypeRule,
    ::testing::Values(
        Rule{"sum(k) h[k]", "f32: sum(k0 in 0..N) h[k0]"},
        Rule{"sum(k in 0..3) 1", "i32: sum(k0 in 0..3) i32(1)"},
        Rule{"prod(k) e1[k]", "i32: prod(k0 in 0..N) e1[k0]"},
        Rule{"argmax(k) x[k]", "i64: argmax(k0 in 0..N) x[k0]"},
        Rule{"max(k, nth = 2) x[k]", "f32: max(k0 in 0..N, nth = 2) x[k0]"},
        Rule{"any(k) (x[k] > 0)", "bool: any(k0 in 0..N) (0.0 < x[k0])"},
        Rule{"mean(k) e4[k]", "f32: (sum(k0 in 0..N) f32(e4[k0])) / f32(N)"},
        Rule{"mean(k in 0..i) d[k]", "f64: (sum(k0 in 0..i0) d[k0]) / f64(max(i0, 0))"},
        Rule{"mean(k in 0..N, m in 0..k) x[m]",
             "f32: (sum(k0 in 0..N, k1 in 0..k0) x[k1]) / f32(sum(k0 in 0..N, k1 in 0..k0) i64(1))"},
        Rule{"sum(i) x[i]", "f32: sum(k0 in 0..N) x[k0]"},
        Rule{"-sum(k) x[k] * 2 + 1", "f32: -(sum(k0 in 0..N) x[k0] * 2.0) + 1.0"}));

TEST(CheckRanges, TheLeftSideComesFirstThenTheReadsThenTheBounds) {
  EXPECT_NE(
      canonical("fn f(off: i32[B + 1], x: f32[N]) -> y: f32[B] { y[b] = sum(n in off[b]..off[b + 1]) x[n] }")
          .find("y[i0 in 0..B] = sum(k0 in i64(off[i0])..i64(off[i0 + 1])) x[k0]"),
      std::string::npos);
  EXPECT_NE(
      canonical("fn f(len: i32[B], x: f32[N]) -> y: f32[B] { a[b] = sum(n in 0..len[b]) x[n]; y[b] = a[b] }")
          .find("a[i0 in 0..B]: f32"),
      std::string::npos);
}

TEST(CheckRanges, GuardedReadsGiveNone) {
  EXPECT_NE(canonical("fn f(a: f32[N], b: f32[M]) -> y: f32[N + M] { y[i] = a[i] else b[i - N] else 0 }")
                .find("y[i0 in 0..N + M] = a[i0] else b[i0 - N] else 0.0"),
            std::string::npos);
}

TEST(CheckRanges, EqualSizesAgreeHoweverTheyAreWritten) {
  EXPECT_TRUE(Compiled("fn f(a: f32[2 * N], b: f32[N + N]) -> y: f32[N * 2] { y[i] = a[i] * b[i] }").program);
}

TEST(CheckRanges, DimsMadeOneAgree) {
  EXPECT_EQ(canonical("fn f(a: f32[A], b: f32[B]) -> y: f32[C] where A == B, C == A { y[i] = a[i] * b[i] }"),
            "fn f(a: f32[A], b: f32[A]) -> y: f32[A] {\n  y[i0 in 0..A] = a[i0] * b[i0]\n}\n");
}

dsl::Guard guard_of(const std::string& read) {
  const Compiled compiled(
      "fn f(x: f32[N], t: i32[N], z: f32[N], n: i32, K: dim) -> y: f32[N] { y[i] = " + read + " }");
  if (!compiled.program) ADD_FAILURE() << compiled.messages();
  const auto function = compiled.first();
  const dsl::ExpressionId value = function->definitions.front().value;
  dsl::Guard guard = dsl::Guard::proven;
  dsl::visit_nodes(function->arena, value, [&](dsl::ExpressionId id) {
    const dsl::Expression& node = function->arena[id];
    if (node.op == dsl::Op::read && (*function)[dsl::TensorId{node.index}].name == "x") guard = node.guard;
  });
  return guard;
}

TEST(CheckGuards, ComputedIndicesAreProvenAndDataGather) {
  for (const char* read :
       {"x[i]", "x[N - 1 - i]", "x[(i + K) % N]", "x[clamp(i + 1, 0, N - 1)]", "sum(k in 0..i) x[k]"})
    EXPECT_EQ(guard_of(read), dsl::Guard::proven) << read;
  for (const char* read : {"x[t[i]]", "x[i + n]", "x[i32(z[i])]", "x[i32(floor(i * 0.5))]",
                           "sum(k in 0..t[i]) x[k]", "sum(k in n..N) x[k]", "x[argmax(k) z[k]]"})
    EXPECT_EQ(guard_of(read), dsl::Guard::gather) << read;
  for (const char* read : {"x[i + 1] else 0", "x[t[i]] else 1", "(x[2 * i] else 0)"})
    EXPECT_EQ(guard_of(read), dsl::Guard::alternative) << read;
}

TEST(CheckStores, RoundOnceToTheDeclaredType) {
  EXPECT_EQ(canonical("fn f(d: f64[N], i: i32[N]) -> a: f16[N], b: bf16[N], c: i8[N], e: f32[N] {\n"
                      "  a[n] = d[n]; b[n] = i[n]; c[n] = i[n]; e[n] = 2\n}"),
            "fn f(d: f64[N], i: i32[N]) -> a: f16[N], b: bf16[N], c: i8[N], e: f32[N] {\n"
            "  a[i0 in 0..N] = f16(d[i0])\n"
            "  b[i0 in 0..N] = bf16(i[i0])\n"
            "  c[i0 in 0..N] = i[i0]\n"
            "  e[i0 in 0..N] = f32(2.0)\n"
            "}\n");
}

TEST(CheckSignature, KeepsDefaultsConstraintsDerivationsAndPrecision) {
  EXPECT_EQ(canonical("# Doc.\n@precision(error < 1e-5)\n"
                      "fn f(x: f32[2 * F, B + 1], S: dim = 1, s: f64 = 1.0 / sqrt(F)) -> y: f32[G] "
                      "where F % S == 0, G = F / S { y[i] = x[2 * i, 0] * f32(s) }"),
            "@precision(error < 1e-05)\n"
            "fn f(x: f32[2 * F, B + 1], S: dim = 1, s: f64 = f64(1.0 / sqrt(f32(F)))) -> y: f32[G] "
            "where G = F / S, F % S == 0 {\n"
            "  y[i0 in 0..G] = x[2 * i0, 0] * f32(s)\n}\n");
}

TEST(CheckUpdates, RunOverTheVariablesOfTheirLeftSide) {
  const Compiled compiled(
      "fn f(g: f32[N, D], t: i32[N], V: dim) -> y: f32[V, D] {\n  y[v, d] = 0\n  y[t[n], d] += g[n, d]\n}");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const auto function = compiled.first();
  ASSERT_EQ(function->definitions.size(), 2u);
  const dsl::Definition& update = function->definitions[1];
  EXPECT_EQ(update.update, dsl::UpdateOperator::add);
  ASSERT_EQ(update.axes.size(), 2u);
  EXPECT_EQ(function->arena[update.axes[0]].name, "n");
  EXPECT_EQ(update.indices.size(), 2u);
  EXPECT_FALSE(function->definitions[0].update);
}

TEST(CheckUpdates, NewVersionsOfInoutTensors) {
  const Compiled compiled("fn f(p: inout f32[N], s: inout f32) { p[i] = p[i] * s; s = s + 1; p[i] max= 0 }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const auto function = compiled.first();
  ASSERT_EQ(function->definitions.size(), 3u);
  for (const dsl::Definition& definition : function->definitions) EXPECT_TRUE(definition.update);
  EXPECT_EQ(function->definitions[2].update, dsl::UpdateOperator::maximum);
  EXPECT_TRUE(function->definitions[1].indices.empty());
}

TEST(CheckRecurrences, KnowTheirPositionAndTakeTheirTypeFromTheRest) {
  const Compiled compiled(
      "fn f(x: i32[B, T]) -> y: f32[B, T] { h[b, t] = (h[b, t - 2] else 0) + (h[0, t - 1] else 1) + x[b, t]\n"
      "  y[b, t] = h[b, t] }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const auto function = compiled.first();
  EXPECT_EQ(function->definitions[0].recurrent, 1);
  EXPECT_EQ((*function)[function->definitions[0].target].dtype, DType::i32);
  EXPECT_FALSE(function->definitions[1].recurrent);
}

TEST(CheckCalls, AFunctionOfScalarsBecomesAnExpression) {
  EXPECT_EQ(canonical("fn f(x: f32[N]) -> y: f32[N] { y[i] = g(x[i], 2) * g(x[i], 2) }\n"
                      "fn g(v: f32, k: i32) -> w: bf16 { a = v * k; w = a + 1 }"),
            "fn f(x: f32[N]) -> y: f32[N] {\n"
            "  y[i0 in 0..N] = bf16(x[i0] * f32(i32(2)) + 1.0) * bf16(x[i0] * f32(i32(2)) + 1.0)\n}\n");
}

TEST(CheckCalls, WholeTensorsAndSeveralResults) {
  EXPECT_EQ(canonical("fn f(x: f32[R, C]) -> y: f32[R, C] { q, s = quantise(x); y[r, c] = q[r, c] * s[r] }\n"
                      "fn quantise(x: f32[N, M]) -> q: i8[N, M], s: f32[N] {\n"
                      "  s[n] = (max(m) abs(x[n, m])) / 127; q[n, m] = i8(round(x[n, m] / s[n])) }"),
            "fn f(x: f32[R, C]) -> y: f32[R, C] {\n"
            "  quantise_1_s[i0 in 0..R]: f32 = (max(k0 in 0..C) abs(x[i0, k0])) / 127.0\n"
            "  quantise_1_q[i0 in 0..R, i1 in 0..C]: i8 = i8(round(x[i0, i1] / quantise_1_s[i0]))\n"
            "  q[i0 in 0..R, i1 in 0..C]: i8 = quantise_1_q[i0, i1]\n"
            "  s[i0 in 0..R]: f32 = quantise_1_s[i0]\n"
            "  y[i0 in 0..R, i1 in 0..C] = f32(q[i0, i1]) * s[i0]\n}\n");
}

TEST(CheckCalls, ElementsOfCallsOnSlicesHaveTheCallersAxesInFront) {
  EXPECT_EQ(
      canonical("fn f(x: f32[B, R, C]) -> y: f32[B, C, R] { y[b, c, r] = norm(x[b, :, :])[r, c] + norm(x[b, "
                ":, :])[r, 0] }\n"
                "fn norm(v: f32[M, N]) -> w: f32[M, N] { s[m] = sum(n) v[m, n]; w[m, n] = v[m, n] / s[m] }"),
      "fn f(x: f32[B, R, C]) -> y: f32[B, C, R] {\n"
      "  norm_1_s[i0 in 0..B, i1 in 0..R]: f32 = sum(k0 in 0..C) x[i0, i1, k0]\n"
      "  norm_1_w[i0 in 0..B, i1 in 0..R, i2 in 0..C]: f32 = x[i0, i1, i2] / norm_1_s[i0, i1]\n"
      "  y[i0 in 0..B, i1 in 0..C, i2 in 0..R] = norm_1_w[i0, i2, i1] + norm_1_w[i0, i2, 0]\n}\n");
}

TEST(CheckCalls, InsideReductionsThatDoNotBeginAtZero) {
  EXPECT_EQ(canonical("fn f(x: f32[8, C]) -> y: f32 { y = sum(b in 2..5) total(x[b, :]) }\n"
                      "fn total(v: f32[N]) -> s: f32 { s = sum(n) v[n] }"),
            "fn f(x: f32[8, C]) -> y: f32 {\n"
            "  total_1_s[i0 in 0..3]: f32 = sum(k0 in 0..C) x[i0 + 2, k0]\n"
            "  y = sum(k0 in 2..5) total_1_s[k0 - 2]\n}\n");
}

TEST(CheckCalls, TensorsThatWouldHaveNoSizeBecomeFormulas) {
  const Compiled compiled(
      "fn f(q: f32[S, D], k: f32[S, D], start: i32[S]) -> y: f32[S] {\n"
      "  y[s] = sum(t in start[s]..s + 1) dot(q[s, :], k[t, :]) * half(k[t, :])[start[s]] }\n"
      "fn dot(a: f32[K], b: f32[K]) -> s: f32 { s = sum(k) a[k] * b[k] }\n"
      "fn half(a: f32[K]) -> h: bf16[K] { h[k] = a[k] / 2 }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const auto function = compiled.first();
  EXPECT_EQ(function->canonical_text,
            "fn f(q: f32[S, D], k: f32[S, D], start: i32[S]) -> y: f32[S] {\n"
            "  y[i0 in 0..S] = sum(k0 in i64(start[i0])..i0 + 1) (sum(k1 in 0..D) q[i0, k1] * k[k0, k1]) * "
            "where(0 <= i64(start[i0]) and i64(start[i0]) < D, bf16(k[k0, i64(start[i0])] / 2.0), 0.0)\n}\n");
  dsl::visit_nodes(function->arena, function->definitions[0].value, [&](dsl::ExpressionId id) {
    const dsl::Expression& node = function->arena[id];
    if (node.op == dsl::Op::read && (*function)[dsl::TensorId{node.index}].name == "k") {
      EXPECT_EQ(node.guard, dsl::Guard::gather);
    }
  });
}

TEST(CheckCalls, UpdatesAndRecurrencesOfACalleeKeepTheirMeaning) {
  const Compiled compiled(
      "fn f(x: f32[B, N], t: i32[B, N]) -> y: f32[B, N] { y[b, n] = scan(x[b, :], t[b, :])[n] }\n"
      "fn scan(v: f32[N], t: i32[N]) -> w: f32[N] { h[n] = (h[n - 1] else 0) + v[n]\n"
      "  w[n] = h[n]\n  w[t[m]] += v[m] }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const auto function = compiled.first();
  ASSERT_EQ(function->definitions.size(), 4u);
  EXPECT_EQ(function->definitions[0].recurrent, 1);
  EXPECT_EQ(function->definitions[2].axes.size(), 2u);
  EXPECT_EQ(function->definitions[2].indices.size(), 2u);
}

TEST(CheckCalls, ShapesThatAreNotKnownToAgreeBecomeConstraints) {
  const Compiled compiled(
      "fn f(a: f32[M, K], b: f32[L, N]) -> y: f32[M, N] { y[i, j] = dot(a[i, :], b[:, j]) }\n"
      "fn dot(a: f32[K], b: f32[K]) -> s: f32 where K >= 1 { s = sum(k) a[k] * b[k] }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  EXPECT_EQ(compiled.first()->constraint_texts, (std::vector<std::string>{"K == L", "1 <= K"}));
}

TEST(CheckCalls, DimsOfACalleeAreSolvedExactly) {
  const std::string half = "fn half(v: f32[2 * F + 1]) -> w: f32[F] { w[i] = v[2 * i] }\n";
  EXPECT_NE(canonical("fn f(x: f32[4 * N + 1]) -> y: f32[2 * N] { y = half(x) }\n" + half)
                .find("half_1_w[i0 in 0..N * 2]"),
            std::string::npos);
  const Compiled odd("fn f(x: f32[N]) -> y: f32[(N - 1) / 2] { y = half(x) }\n" + half);
  ASSERT_TRUE(odd.program) << odd.messages();
  EXPECT_EQ(odd.first()->constraint_texts, std::vector<std::string>{"2 * ((N - 1) / 2) + 1 == N"});
}

TEST(CheckCalls, AUsersFunctionWinsOverABuiltInOne) {
  EXPECT_NE(
      canonical("fn f(x: f32[N]) -> y: f32[N] { y[i] = exp(x[i]) }\nfn exp(v: f32) -> w: f32 { w = v * 3 }")
          .find("x[i0] * 3.0"),
      std::string::npos);
}

TEST(CheckCalls, ACalleeWithoutPrecisionHasItsCallers) {
  const Compiled compiled(
      "@precision(tf32)\nfn f(x: f32[N]) -> y: f32 { y = dot(x, x) }\n"
      "fn dot(a: f32[K], b: f32[K]) -> s: f32 { s = sum(k) a[k] * b[k] }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  EXPECT_EQ(compiled.first()->precision.kind, dsl::Precision::Kind::tf32);
  EXPECT_EQ(compiled.function("dot")->precision.kind, dsl::Precision::Kind::exact);
}

TEST(CheckNames, ATensorMayBeNamedAsAFunctionAndAVariableMayShadow) {
  EXPECT_EQ(
      canonical(
          "fn f(x: f32[R, C]) -> y: f32[R] { mean[r] = mean(c) x[r, c]\n  y[c] = mean[c] * sum(c) x[0, c] }"),
      "fn f(x: f32[R, C]) -> y: f32[R] {\n"
      "  mean[i0 in 0..R]: f32 = (sum(k0 in 0..C) x[i0, k0]) / f32(C)\n"
      "  y[i0 in 0..R] = mean[i0] * (sum(k0 in 0..C) x[0, k0])\n}\n");
}

}  // namespace
}  // namespace einkern
