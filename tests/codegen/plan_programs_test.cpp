// Programs that ask each rule of the planner: what they become, and that every plan gives the reference's
// results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/plan/verify.h"
#include "tests/codegen/plan_interpreter.h"
#include "tests/codegen/random_call.h"
#include "tests/support/call.h"

namespace einkern::testing {
namespace {

using codegen::Plan;
using codegen::reference::Arithmetic;
using ::testing::ElementsAre;

/// A program, and the forms of its fused plan's kernels.
struct PlannedProgram {
  const char* name;
  std::vector<std::string> forms;
  const char* source;
};

std::shared_ptr<const dsl::Function> last_function(const std::string& source) {
  const auto program = compile_source(source);
  if (!program.ok()) {
    ADD_FAILURE() << program.error().message;
    return nullptr;
  }
  const dsl::Signature& signature = program->signatures().back();
  dsl::TypeBinding types;
  for (const auto& [generic, allowed] : signature.generics) types[generic] = allowed.front();
  return program->instantiate(signature.name, types).value();
}

std::vector<std::string> forms_of(const Plan& plan) {
  std::vector<std::string> forms;
  for (const codegen::Kernel& kernel : plan.kernels) forms.emplace_back(form_name(kernel));
  return forms;
}

void expect_right(const std::shared_ptr<const dsl::Function>& function, const std::vector<Plan>& plans) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto random = random_call(*function, seed);
    ASSERT_TRUE(random) << "no sizes for seed " << seed;
    Call call;
    call.function = function;
    call.name = function->name;
    call.binding = random->binding;
    call.arguments = random->arguments;
    for (const Plan& plan : plans) {
      const RunCase run = [&plan](const Call& of) {
        return interpret(plan, of.binding, of.arguments, Arithmetic::as_typed);
      };
      EXPECT_EQ(difference_from_reference(call, run), "") << "seed " << seed << "\n" << describe(plan);
    }
  }
}

const std::vector<PlannedProgram> programs = {
    {"chained_products",
     {"contraction", "contraction"},
     "fn f(a: f32[M, K], b: f32[K, L], c: f32[L, N]) -> y: f32[M, N] {\n"
     "  y[i, j] = sum(l) (sum(k) a[i, k] * b[k, l]) * c[l, j]\n}"},
    {"two_layers",
     {"contraction", "contraction"},
     "fn f(x: bf16[M, K], w: bf16[H, K], b: f32[H], u: bf16[N, H]) -> y: bf16[M, N] {\n"
     "  h[i, j] = gelu(sum(k) x[i, k] * w[j, k] + b[j])\n"
     "  y[i, j] = sum(k) h[i, k] * u[j, k]\n}"},
    {"norm_then_product",
     {"row reduction", "contraction"},
     "fn f(x: f32[M, K], g: f32[K], w: f32[N, K]) -> y: f32[M, N] {\n"
     "  n[i, k] = x[i, k] * rsqrt(mean(k) x[i, k] * x[i, k] + 1e-5) * g[k]\n"
     "  y[i, j] = sum(k) n[i, k] * w[j, k]\n}"},
    {"layernorm_then_product",
     {"row reduction", "contraction"},
     "fn f(x: f32[M, K], g: f32[K], w: f32[N, K]) -> y: f32[M, N] {\n"
     "  m[i] = mean(k) x[i, k]\n"
     "  v[i] = mean(k) (x[i, k] - m[i]) * (x[i, k] - m[i])\n"
     "  y[i, j] = sum(k) ((x[i, k] - m[i]) * rsqrt(v[i] + 1e-5) * g[k]) * w[j, k]\n}"},
    {"attention_and_projection",
     {"contraction", "row reduction", "contraction", "contraction"},
     "fn f(q: f32[S, H, D], k: f32[T, H, D], v: f32[T, H, D], w: f32[H, D, E]) -> y: f32[S, E] {\n"
     "  p[h, s, t] = where(t <= s, sum(d) q[s, h, d] * k[t, h, d], -1e9)\n"
     "  e[h, s, t] = exp(p[h, s, t] - max(t) p[h, s, t])\n"
     "  o[s, h, d] = (sum(t) e[h, s, t] * v[t, h, d]) / sum(t) e[h, s, t]\n"
     "  y[s, i] = sum(h, d) o[s, h, d] * w[h, d, i]\n}"},
    {"a_product_that_two_results_need_is_computed_once",
     {"contraction", "row reduction", "pointwise"},
     "fn f(x: f32[M, K], w: f32[N, K]) -> y: f32[M, N], z: f32[M, N] {\n"
     "  h[i, j] = sum(k) x[i, k] * w[j, k]\n"
     "  y[i, j] = h[i, j] / max(j) abs(h[i, j])\n"
     "  z[i, j] = relu(h[i, j])\n}"},
    {"a_product_and_what_is_made_of_it_share_a_kernel",
     {"contraction"},
     "fn f(x: f32[M, K], w: f32[N, K]) -> h: f32[M, N], y: bf16[M, N] {\n"
     "  h[i, j] = sum(k) x[i, k] * w[j, k]\n"
     "  y[i, j] = tanh(h[i, j])\n}"},
    {"a_stored_product_is_read_from_its_rounded_result",
     {"contraction", "row reduction"},
     "fn f(x: f32[M, K], w: f32[N, K]) -> h: bf16[M, N], y: f32[M, N] {\n"
     "  h[i, j] = sum(k) x[i, k] * w[j, k]\n"
     "  y[i, j] = h[i, j] - max(j) h[i, j]\n}"},
    {"transposed_result",
     {"contraction"},
     "fn f(x: f32[M, K], w: f32[N, K]) -> y: f32[N, M] { y[j, i] = sum(k) x[i, k] * w[j, k] }"},
    {"product_with_an_outer_factor",
     {"contraction", "pointwise"},
     "fn f(a: f32[M, K], b: f32[N, K], c: f32[L]) -> y: f32[M, N, L] {\n"
     "  y[i, j, l] = (sum(k) a[i, k] * b[j, k]) * c[l]\n}"},
    {"batch_of_three_factors",
     {"contraction"},
     "fn f(a: f32[B, M, K], b: f32[B, N, K], s: f32[K], t: f32[B]) -> y: f32[B, M, N] {\n"
     "  y[b0, i, j] = sum(k) a[b0, i, k] * b[b0, j, k] * s[k] * t[b0]\n}"},
    {"many_dims",
     {"contraction"},
     "fn f(x: f32[B, I, K, J, G], w: f32[I, K, J, L, G, F]) -> o: f32[B, I, J, L, F] {\n"
     "  o[b, i, j, l, f] = sum(k, g) x[b, i, k, j, g] * w[i, k, j, l, g, f]\n}"},
    {"matrix_and_vector",
     {"row reduction"},
     "fn f(a: f32[M, K], x: f32[K]) -> y: f32[M] { y[i] = sum(k) a[i, k] * x[k] }"},
    {"column_sums", {"row reduction"}, "fn f(a: f32[M, K]) -> y: f32[K] { y[k] = sum(i) a[i, k] }"},
    {"batch_norm",
     {"row reduction"},
     "fn f(x: f32[N, C, S]) -> y: f32[N, C, S] {\n"
     "  m[c] = mean(n, s) x[n, c, s]\n"
     "  y[n, c, s] = x[n, c, s] - m[c]\n}"},
    {"one_row_is_folded_before_it_is_stored",
     {"row reduction", "pointwise"},
     "fn f(x: f32[N]) -> y: f32[N] { y[i] = exp(x[i] - max(i) x[i]) / sum(i) exp(x[i] - max(i) x[i]) }"},
    {"sums_over_rows_and_columns",
     {"row reduction", "row reduction"},
     "fn f(x: f32[M, N]) -> y: f32[M, N] { y[i, j] = x[i, j] / (1 + abs(sum(j) x[i, j])) / (1 + abs(sum(i) "
     "x[i, j])) }"},
    {"row_statistics_with_an_extra_axis",
     {"row reduction", "pointwise"},
     "fn f(x: f32[M, N], z: f32[L]) -> y: f32[M, N, L] { y[i, j, l] = (x[i, j] - mean(j) x[i, j]) * z[l] }"},
    {"results_of_one_row",
     {"row reduction"},
     "fn f(x: f32[M, N]) -> mean: f32[M], top: i64[M], y: f32[M, N] {\n"
     "  mean[i] = mean(j) x[i, j]\n  top[i] = argmax(j) x[i, j]\n  y[i, j] = x[i, j] - mean[i]\n}"},
    {"costly_factor_with_fewer_axes",
     {"pointwise", "row reduction"},
     "fn f(x: f32[M, N], g: f32[N]) -> y: f32[M] { y[i] = max(j) x[i, j] * exp(g[j]) }"},
    {"argmax_then_gather",
     {"row reduction"},
     "fn f(z: f32[M, N], u: f32[N]) -> y: f32[M] { y[i] = u[argmax(j) z[i, j]] }"},
    {"guarded_reads_of_a_local",
     {"pointwise"},
     "fn f(x: f32[N], y: f32[M]) -> z: f32[N + M] {\n"
     "  a[i] = 2 * x[i]\n  b[i] = y[i] + 1\n  z[i] = a[i] else b[i - N] else 0\n}"},
    {"stencil_of_a_stencil",
     {"pointwise"},
     "fn f(x: f32[N]) -> z: f32[N] {\n"
     "  a[i] = (x[i - 1] else 0) + x[i]\n  z[i] = (a[i + 1] else 0) - (a[i - 1] else a[0])\n}"},
    {"gather_of_a_local",
     {"pointwise"},
     "fn f(x: f32[V, D], t: i32[N]) -> y: f32[N, D] {\n"
     "  n[v, d] = x[v, d] / 2\n  y[i, d] = n[t[i], d]\n}"},
    {"fold_read_at_other_places",
     {"row reduction", "pointwise"},
     "fn f(x: f32[M, N]) -> y: f32[M] {\n"
     "  s[i] = sum(j) x[i, j]\n  y[i] = s[i] + (s[i - 1] else 0) + s[M - 1 - i]\n}"},
    {"folds_inside_folds",
     {"row reduction", "row reduction"},
     "fn f(x: f32[M, N]) -> y: f32 { y = max(i) sum(j) abs(x[i, j]) }"},
    {"dependent_ranges",
     {"generic", "generic"},
     "fn f(x: f32[M, N]) -> y: f32[M, N] {\n"
     "  y[i, j] = x[i, j] - max(k in 0..i + 1) x[k, j] / (1 + abs(sum(k in 0..i + 1) x[k, 0]))\n}"},
    {"window_and_row",
     {"generic", "row reduction"},
     "fn f(x: f32[M], z: f32[M, N]) -> y: f32[M] {\n"
     "  y[i] = (sum(j) z[i, j]) + max(u in 0..3) (x[i + u - 1] else 0)\n}"},
    {"storage_types_round_between",
     {"pointwise"},
     "fn f(x: f32[N]) -> y: f32[N] { a[i]: f8e4m3 = x[i] * 3\n b[i]: i8 = i8(a[i] * 100)\n y[i] = a[i] + "
     "b[i] }"},
    {"in_place_elsewhere_goes_through_memory",
     {"pointwise", "pointwise"},
     "fn f(x: inout f32[N]) { x[i] = x[N - 1 - i] + 1 }"},
    {"in_place_after_a_reader",
     {"pointwise", "pointwise", "pointwise"},
     "fn f(x: inout f32[N]) -> y: f32[N] {\n"
     "  old[i in 0..N] = x[N - 1 - i]\n  x[i] = 2 * x[i]\n  y[i] = old[i] + x[N - 1 - i]\n}"},
    {"in_place_one_after_the_other",
     {"pointwise"},
     "fn f(x: inout f32[N], m: inout bf16[N]) { m[i] = m[i] * 0.9 + x[i]\n x[i] = x[i] - m[i] }"},
    {"update_of_what_it_reads",
     {"pointwise", "pointwise", "generic"},
     "fn f(t: i32[M], g: f32[N]) -> y: f32[N] { y[i] = g[i]\n y[t[n]] += y[n % N] }"},
    {"rank_zero",
     {"pointwise", "row reduction"},
     "fn f(a: f32, x: f32[N]) -> y: f32, z: f32 { y = 2 * a\n z = sum(i) x[i] * a }"},
};

class PlannedPrograms : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlannedPrograms, HaveTheirFormsAndGiveTheReferencesResults) {
  const PlannedProgram& program = programs[GetParam()];
  const auto function = last_function(program.source);
  ASSERT_TRUE(function);
  const std::vector<Plan> plans = codegen::make_plans(function);
  for (const Plan& plan : plans) EXPECT_EQ(plan_violation(plan), std::nullopt) << describe(plan);
  EXPECT_EQ(forms_of(plans.front()), program.forms) << describe(plans.front());
  expect_right(function, plans);
}

INSTANTIATE_TEST_SUITE_P(Programs, PlannedPrograms, ::testing::Range(std::size_t{0}, programs.size()),
                         [](const auto& test) { return programs[test.param].name; });

/// Plans as text, without the function's name.
std::string plans_text(const std::string& source) {
  std::string text;
  for (const Plan& plan : codegen::make_plans(last_function(source))) text += describe(plan);
  return text;
}

TEST(PlanText, DoesNotDependOnHowTheMathWasCut) {
  const std::string whole = plans_text(
      "fn f(x: f32[R, C]) -> y: f32[R, C] {\n"
      "  y[r, c] = exp(x[r, c] - max(c) x[r, c]) / sum(c) exp(x[r, c] - max(c) x[r, c])\n}");
  EXPECT_EQ(plans_text("fn f(x: f32[R, C]) -> y: f32[R, C] {\n"
                       "  m[r] = max(c) x[r, c]; e[r, c] = exp(x[r, c] - m[r])\n"
                       "  y[r, c] = e[r, c] / sum(c) e[r, c]\n}"),
            whole);
  EXPECT_EQ(plans_text("fn f(x: f32[R, C]) -> y: f32[R, C] {\n"
                       "  m[q] = max(k) x[q, k]; e[q, t] = exp(x[q, t] - m[q]); z[q] = sum(t) e[q, t]\n"
                       "  y[r, c] = e[r, c] / z[r]\n}"),
            whole);
  EXPECT_EQ(plans_text("fn softmax(x: f32[N]) -> y: f32[N] {\n"
                       "  m = max(i) x[i]; y[i] = exp(x[i] - m) / sum(i) exp(x[i] - m)\n}\n"
                       "fn f(x: f32[R, C]) -> y: f32[R, C] { y[r, c] = softmax(x[r, :])[c] }"),
            whole);
}

TEST(PlanText, IsTheSameForTheSameProgram) {
  const char* source = programs[4].source;
  EXPECT_EQ(plans_text(source), plans_text(source));
}

TEST(Planner, KeepsLongChainsOfDefinitionsInBoundedKernels) {
  std::string source = "fn f(x: f32[N]) -> y: f32[N] {\n  a0[i] = x[i]\n";
  constexpr int length = 3000;
  for (int i = 1; i <= length; ++i)
    source += "  a" + std::to_string(i) + "[i] = a" + std::to_string(i - 1) + "[i] * 0.5 + x[i]\n";
  source += "  y[i] = a" + std::to_string(length) + "[i]\n}";
  const auto plan = codegen::make_plans(last_function(source)).front();
  EXPECT_GT(plan.kernels.size(), 20U);
  EXPECT_LT(plan.kernels.size(), 300U);
  EXPECT_EQ(plan_violation(plan), std::nullopt);
}

TEST(Planner, CutsAnExpressionThatNoCompilerWouldTakeInTime) {
  std::string source = "fn f(x: f32[N]) -> y: f32[N] {\n  y[i] = ";
  for (int outer = 0; outer < 20; ++outer) {
    source += outer ? " + exp(" : "exp(";
    for (int term = 0; term < 200; ++term)
      source += (term ? " - " : "") + std::to_string(1 + (term * (outer + 1)) % 97) + " * (x[i + " +
                std::to_string(term) + "] else 0)";
    source += " / " + std::to_string(1000 + outer) + ")";
  }
  const auto function = last_function(source + "\n}");
  ASSERT_TRUE(function);
  const std::vector<Plan> plans = codegen::make_plans(function);
  EXPECT_EQ(plan_violation(plans.front()), std::nullopt);
  EXPECT_GT(plans.front().kernels.size(), 1U);
  expect_right(function, plans);
}

TEST(Planner, DoesNotUnfoldDoublingChains) {
  std::string source = "fn f(x: f32[N]) -> y: f32[N] {\n  a0[i] = x[i]\n";
  constexpr int length = 40;  // 2^40 reads if every definition were unfolded
  for (int i = 1; i <= length; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    source += "  a" + std::to_string(i) + "[i in 0..N] = (" + before + "[2 * i] else 0) + (" + before +
              "[2 * i + 1] else 1)\n";
  }
  source += "  y[i] = a" + std::to_string(length) + "[i]\n}";
  const auto plan = codegen::make_plans(last_function(source)).front();
  EXPECT_EQ(plan_violation(plan), std::nullopt);
  EXPECT_GT(plan.kernels.size(), 5U);
}

}  // namespace
}  // namespace einkern::testing
