#include "tests/support/element_checks.h"

#include <fmt/format.h>

#include <limits>

#include "dsl/element_checks.h"
#include "tests/support/tensors.h"

namespace einkern::testing {
namespace {

using Cases = std::vector<ElementCase>;

HostTensor ints(std::vector<std::int64_t> values, DType dtype = DType::i32) {
  const auto count = static_cast<std::int64_t>(values.size());
  return integers(dtype, {count}, std::move(values));
}
HostTensor ramp(std::vector<std::int64_t> shape) {
  HostTensor tensor = HostTensor::zeros(DType::f32, std::move(shape));
  for (std::size_t i = 0; i < tensor.floats.size(); ++i) tensor.floats[i] = static_cast<double>(i);
  return tensor;
}

void add_gathers(Cases& cases) {
  const std::string embed =
      "fn f(tokens: i32[S], table: f32[V, D]) -> e: f32[S, D] { e[s, d] = table[tokens[s], d] }";
  const std::string outside =
      "definition of `e` reads `table[i64(tokens[s]), d]` outside `table`: dimension 0 is V = 4, and the "
      "index is ";
  cases.push_back({"all_inside", embed, {{"tokens", ints({0, 3, 1})}, {"table", ramp({4, 5})}}, ""});
  cases.push_back(
      {"too_large", embed, {{"tokens", ints({0, 7, 1})}, {"table", ramp({4, 5})}}, outside + "7"});
  cases.push_back({"negative_does_not_wrap",
                   embed,
                   {{"tokens", ints({0, 3, -1})}, {"table", ramp({4, 5})}},
                   outside + "-1"});
  cases.push_back({"nothing_to_read", embed, {{"tokens", ints({9})}, {"table", ramp({4, 0})}}, ""});
  cases.push_back({"no_points", embed, {{"tokens", ints({})}, {"table", ramp({4, 5})}}, ""});
  cases.push_back(
      {"a_scalar_index",
       "fn f(x: f32[N], k: i32) -> y: f32 { y = x[k] }",
       {{"x", ramp({4})}, {"k", integer_scalar(4)}},
       "definition of `y` reads `x[i64(k)]` outside `x`: dimension 0 is N = 4, and the index is 4"});
  cases.push_back(
      {"a_cast_of_infinity",
       "fn f(x: f32[N], a: f32[M]) -> y: f32[M] { y[i] = x[i64(a[i])] }",
       {{"x", ramp({4})}, {"a", floats(DType::f32, {2}, {1, std::numeric_limits<double>::infinity()})}},
       "definition of `y` reads `x[i64(a[i])]` outside `x`: dimension 0 is N = 4, and the index is "
       "9223372036854775806"});
  cases.push_back(
      {"an_index_of_an_index",
       "fn f(x: f32[N], p: i32[N], q: i32[N]) -> y: f32[N] { y[i] = x[p[q[i]]] }",
       {{"x", ramp({3})}, {"p", ints({2, 1, 0})}, {"q", ints({0, 5, 1})}},
       "definition of `y` reads `p[i64(q[i])]` outside `p`: dimension 0 is N = 3, and the index is 5"});
  cases.push_back(
      {"of_a_local",
       "fn f(x: f32[N], p: i32[N]) -> y: f32[N] {\n  m[i] = 2 * x[i]\n  y[i] = m[p[i]]\n}",
       {{"x", ramp({3})}, {"p", ints({2, 1, 3})}},
       "definition of `y` reads `m[i64(p[i])]` outside `m`: dimension 0 is N = 3, and the index is 3"});
  const std::string twice = "fn twice(x: f32[N]) -> y: f32[N] { y[i] = 2 * x[i] }\n";
  cases.push_back(
      {"of_a_call",
       twice + "fn f(x: f32[R], p: i32[N]) -> y: f32[N] { y[i] = twice(x)[p[i]] }",
       {{"x", ramp({2})}, {"p", ints({1, 2})}},
       "definition of `y` reads `twice_1_y[i64(p[i])]` outside `twice_1_y`: dimension 0 is R = 2, "
       "and the index is 2"});
  // A range that depends on data leaves the callee without a size, and so without memory.
  const std::string ragged = twice +
                             "fn f(x: f32[B, R], n: i32[J], p: i32[J]) -> y: f32[J] {\n"
                             "  y[j] = sum(b in 0..n[j]) twice(x[b, :])[p[j]]\n}";
  cases.push_back(
      {"of_a_call_without_a_size",
       ragged,
       {{"x", ramp({3, 2})}, {"n", ints({2, 1})}, {"p", ints({1, 2})}},
       "definition of `y` takes an element of a call outside its result: dimension 0 is R = 2, and "
       "the index is 2"});
  cases.push_back({"of_a_call_without_a_size_inside",
                   ragged,
                   {{"x", ramp({3, 2})}, {"n", ints({2, 0})}, {"p", ints({1, 9})}},
                   ""});
}

void add_lazy_reads(Cases& cases) {
  const std::string masked =
      "fn f(x: f32[N], p: i32[M]) -> y: f32[M] { y[i] = where(p[i] >= 0, x[p[i]], -1) }";
  cases.push_back({"not_chosen", masked, {{"x", ramp({4})}, {"p", ints({-5, 2, -1})}}, ""});
  cases.push_back(
      {"chosen",
       masked,
       {{"x", ramp({4})}, {"p", ints({-5, 6, -1})}},
       "definition of `y` reads `x[i64(p[i])]` outside `x`: dimension 0 is N = 4, and the index is 6"});
  cases.push_back(
      {"other_branch",
       "fn f(x: f32[N], p: i32[M]) -> y: f32[M] { y[i] = where(p[i] >= 0, 0, x[p[i]]) }",
       {{"x", ramp({4})}, {"p", ints({9, -2})}},
       "definition of `y` reads `x[i64(p[i])]` outside `x`: dimension 0 is N = 4, and the index is -2"});
  const std::string both = "fn f(x: f32[N], p: i32[M]) -> y: bool[M] { y[i] = p[i] >= 0 and x[p[i]] > 1 }";
  cases.push_back({"and_stops", both, {{"x", ramp({4})}, {"p", ints({-5, 2})}}, ""});
  cases.push_back({"or_stops",
                   "fn f(x: f32[N], p: i32[M]) -> y: bool[M] { y[i] = p[i] < 0 or x[p[i]] > 1 }",
                   {{"x", ramp({4})}, {"p", ints({-5, 2})}},
                   ""});
  cases.push_back({"guarded",
                   "fn f(x: f32[N], p: i32[M]) -> y: f32[M] { y[i] = x[p[i]] else 7 }",
                   {{"x", ramp({4})}, {"p", ints({-5, 12})}},
                   ""});
  const std::string alternative = "fn f(x: f32[N], p: i32[N]) -> y: f32[N] { y[i] = x[i + 1] else x[p[i]] }";
  cases.push_back({"alternative_not_asked_for", alternative, {{"x", ramp({3})}, {"p", ints({9, 9, 0})}}, ""});
  cases.push_back(
      {"alternative_asked_for",
       alternative,
       {{"x", ramp({3})}, {"p", ints({0, 0, 9})}},
       "definition of `y` reads `x[i64(p[i])]` outside `x`: dimension 0 is N = 3, and the index is 9"});
  cases.push_back(
      {"shared_by_a_branch_and_without",
       "fn f(x: f32[N], p: i32[M]) -> y: f32[M] { y[i] = where(p[i] >= 0, x[p[i]], -1) + x[p[i]] }",
       {{"x", ramp({4})}, {"p", ints({-5, 2})}},
       "definition of `y` reads `x[i64(p[i])]` outside `x`: dimension 0 is N = 4, and the index is -5"});
}

void add_reductions(Cases& cases) {
  const std::string ragged =
      "fn f(x: f32[N], off: i32[B + 1]) -> y: f32[B] { y[b] = sum(n in off[b]..off[b + 1]) x[n] }";
  cases.push_back({"ragged_inside", ragged, {{"x", ramp({6})}, {"off", ints({0, 2, 6})}}, ""});
  cases.push_back({"ragged_outside",
                   ragged,
                   {{"x", ramp({6})}, {"off", ints({0, 2, 8})}},
                   "definition of `y` reads `x[n]` outside `x`: dimension 0 is N = 6, and the index is 6"});
  cases.push_back({"empty_range", ragged, {{"x", ramp({6})}, {"off", ints({9, 9, 9})}}, ""});
  const std::string paged =
      "fn f(x: f32[N, D], p: i32[S, K]) -> y: f32[S, D] { y[s, d] = sum(k) x[p[s, k], d] }";
  cases.push_back(
      {"in_a_sum",
       paged,
       {{"x", ramp({4, 3})}, {"p", integers(DType::i32, {2, 2}, {0, 1, 2, 4})}},
       "definition of `y` reads `x[i64(p[s, k]), d]` outside `x`: dimension 0 is N = 4, and the index is 4"});
  cases.push_back(
      {"in_a_sum_under_a_mask",
       "fn f(x: f32[N], p: i32[S, K]) -> y: f32[S] { y[s] = sum(k) where(k <= s, x[p[s, k]], 0) }",
       {{"x", ramp({4})}, {"p", integers(DType::i32, {2, 3}, {0, 9, 9, 1, 2, 9})}},
       ""});
  cases.push_back(
      {"in_a_bound",
       "fn f(x: f32[N], p: i32[S], q: i32[M]) -> y: f32[S] { y[s] = sum(n in 0..q[p[s]]) x[n % N] }",
       {{"x", ramp({4})}, {"p", ints({0, 2})}, {"q", ints({1, 2})}},
       "definition of `y` reads `q[i64(p[s])]` outside `q`: dimension 0 is M = 2, and the index is 2"});
}

void add_updates(Cases& cases) {
  const std::string scatter =
      "fn f(x: f32[N], p: i32[N], V: dim) -> y: f32[V] {\n  y[v] = 0\n  y[p[n]] = x[n]\n}";
  const NamedArgument four = std::int64_t{4};
  cases.push_back({"scatter_apart", scatter, {{"x", ramp({3})}, {"p", ints({3, 0, 1})}, {"V", four}}, ""});
  cases.push_back(
      {"scatter_outside",
       scatter,
       {{"x", ramp({3})}, {"p", ints({3, 4, 1})}, {"V", four}},
       "update of `y` writes `y[i64(p[n])]` outside: dimension 0 is V = 4, and the index is 4, so that "
       "the write is dropped"});
  cases.push_back(
      {"scatter_twice",
       scatter,
       {{"x", ramp({3})}, {"p", ints({3, 1, 3})}, {"V", four}},
       "update of `y` assigns the element `y[3]` more than once, and which value stays is not said"});
  const std::string add =
      "fn f(x: f32[N, D], p: i32[N], V: dim) -> y: f32[V, D] {\n  y[v, d] = 0\n  y[p[n], d] += x[n, d]\n}";
  cases.push_back(
      {"adding_twice_is_meant", add, {{"x", ramp({3, 2})}, {"p", ints({3, 1, 3})}, {"V", four}}, ""});
  cases.push_back(
      {"adding_outside",
       add,
       {{"x", ramp({3, 2})}, {"p", ints({3, -1, 3})}, {"V", four}},
       "update of `y` writes `y[i64(p[n]), d]` outside: dimension 0 is V = 4, and the index is -1, so "
       "that the write is dropped"});
  cases.push_back(
      {"rows_twice",
       "fn f(x: f32[N, D], p: i32[N], c: inout f32[V, D]) -> y: f32[N] {\n  c[p[n], d] = x[n, d]\n"
       "  y[n] = c[p[n], 0]\n}",
       {{"x", ramp({3, 2})}, {"p", ints({2, 1, 2})}, {"c", ramp({4, 2})}},
       "update of `c` assigns the element `c[2, 0]` more than once, and which value stays is not said"});
  // What an update has written is what a later index reads.
  const std::string after =
      "fn f(x: f32[N], p: i32[M], c: inout i32[V]) -> y: f32[V] {\n  c[p[m]] = 5\n  y[v] = x[c[v]]\n}";
  cases.push_back(
      {"updated_index_inside", after, {{"x", ramp({6})}, {"p", ints({1})}, {"c", ints({0, 9, 1})}}, ""});
  cases.push_back(
      {"updated_index_outside",
       after,
       {{"x", ramp({4})}, {"p", ints({1})}, {"c", ints({0, 1, 2})}},
       "definition of `y` reads `x[i64(c[v])]` outside `x`: dimension 0 is N = 4, and the index is 5"});
  cases.push_back(
      {"in_a_recurrence",
       "fn f(x: f32[V], p: i32[T]) -> h: f32[T] { h[t] = x[p[t]] + (h[t - 1] else 0) }",
       {{"x", ramp({4})}, {"p", ints({1, 4})}},
       "definition of `h` reads `x[i64(p[t])]` outside `x`: dimension 0 is V = 4, and the index is 4"});
}

/// The call of one function of a program.
core::Result<Call> call_of(const std::string& source, const NamedArguments& arguments) {
  return make_call(source, "f", {}, arguments);
}

}  // namespace

const std::vector<ElementCase>& element_cases() {
  static const Cases cases = [] {
    Cases all;
    add_gathers(all);
    add_lazy_reads(all);
    add_reductions(all);
    add_updates(all);
    return all;
  }();
  return cases;
}

std::string expected_message(const ElementCase& which) {
  return which.fault.empty() ? "" : fmt::format("EINKERN_CHECK: in `f`, the {}.", which.fault);
}

std::string check_element_case(const ElementCase& which, const RunCase& run) {
  const auto call = call_of(which.source, which.arguments);
  if (!call) return fmt::format("{}: {}", which.name, call.error().message);
  const auto checks = dsl::make_element_checks(*call->function);
  std::string found;
  if (checks) {
    const auto checking = call_of(checks->function->canonical_text, which.arguments);
    if (!checking)
      return fmt::format("{}: {}\n{}", which.name, checking.error().message,
                         checks->function->canonical_text);
    auto results = run(*checking);
    if (!results) return fmt::format("{}: {}", which.name, results.error().message);
    std::vector<std::int64_t> values;
    for (const dsl::TensorId result : checking->function->results)
      values.push_back((*results)[result].integers.at(0));
    const auto judged = dsl::judge_elements(*checks, values, call->binding.dims);
    if (!judged) found = judged.error().message;
  }
  if (found == expected_message(which)) return "";
  return fmt::format("{}: expected \"{}\", but got \"{}\"", which.name, expected_message(which), found);
}

}  // namespace einkern::testing
