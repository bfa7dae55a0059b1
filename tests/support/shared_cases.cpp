#include "tests/support/shared_cases.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "codegen/reference/random_tensor.h"
#include "tests/support/tensors.h"

namespace einkern::testing {
namespace {

namespace reference = codegen::reference;
using Expected = std::map<std::string, HostTensor>;
using Cases = std::vector<SharedCase>;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

constexpr const char* reductions_source =
    R"(fn reductions(x: f32[R, C]) -> hi: f32[R], lo: f32[R], total: f32[R], at: i64[R] {
  hi[r] = max(c) x[r, c]
  lo[r] = min(c) x[r, c]
  total[r] = sum(c) x[r, c]
  at[r] = argmax(c) x[r, c]
}
)";

/// Rows of small integers, each with a NaN at another place: the NaN wins everywhere.
void add_nan_cases(Cases& cases) {
  for (const std::int64_t length : {3, 33, 1025, 70000}) {
    const std::vector<std::int64_t> places = {0,          1,          31 % length, 32 % length,
                                              length / 2, length - 2, length - 1};
    const auto rows = static_cast<std::int64_t>(places.size());
    const auto arguments = [=]() -> NamedArguments {
      HostTensor x = reference::random_small_integers(DType::f32, {rows, length}, 7);
      for (std::int64_t row = 0; row < rows; ++row) {
        x.floats[static_cast<std::size_t>(row * length + places[static_cast<std::size_t>(row)])] = nan;
      }
      return {{"x", x}};
    };
    const auto expected = [=]() -> Expected {
      const HostTensor all_nan = floats(DType::f32, {rows}, std::vector<double>(places.size(), nan));
      return {
          {"hi", all_nan}, {"lo", all_nan}, {"total", all_nan}, {"at", integers(DType::i64, {rows}, places)}};
    };
    cases.push_back({fmt::format("nan_in_rows_of_{}", length), reductions_source, {}, arguments, expected});
  }
}

void add_empty_cases(Cases& cases) {
  const auto reducing = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    const auto fill = [=](double value) {
      return floats(DType::f32, {rows}, std::vector<double>(static_cast<std::size_t>(rows), value));
    };
    cases.push_back({name,
                     reductions_source,
                     {},
                     [=]() -> NamedArguments { return {{"x", floats(DType::f32, {rows, columns}, {})}}; },
                     [=]() -> Expected {
                       return {
                           {"hi", fill(-infinity)},
                           {"lo", fill(infinity)},
                           {"total", fill(0)},
                           {"at", integers(DType::i64, {rows},
                                           std::vector<std::int64_t>(static_cast<std::size_t>(rows), -1))}};
                     }});
  };
  reducing("empty_columns", 3, 0);
  reducing("empty_rows", 0, 5);
  reducing("empty_rows_and_columns", 0, 0);
  const char* product =
      "fn mm(a: f32[M, K], b: f32[K, N]) -> y: f32[M, N] { y[i, j] = sum(k) a[i, k] * b[k, j] }\n";
  for (const auto& [m, k, n] : {std::tuple{3, 0, 4}, {0, 5, 4}, {3, 5, 0}, {0, 0, 0}}) {
    const std::vector<std::int64_t> a = {m, k}, b = {k, n}, y = {m, n};
    cases.push_back({fmt::format("empty_product_{}_{}_{}", m, k, n),
                     product,
                     {},
                     [=]() -> NamedArguments {
                       return {{"a", reference::random_small_integers(DType::f32, a, 1)},
                               {"b", reference::random_small_integers(DType::f32, b, 2)}};
                     },
                     [=]() -> Expected { return {{"y", HostTensor::zeros(DType::f32, y)}}; }});
  }
  cases.push_back({"empty_pointwise",
                   "fn f(x: f32[A, B, C]) -> y: f32[A, B, C] { y[a, b, c] = exp(x[a, b, c]) }\n",
                   {},
                   [] { return NamedArguments{{"x", HostTensor::zeros(DType::f32, {2, 0, 3})}}; },
                   [] { return Expected{{"y", HostTensor::zeros(DType::f32, {2, 0, 3})}}; }});
}

void add_argmax_cases(Cases& cases) {
  const char* source = R"(fn arg(x: f32[R, C]) -> hi: i64[R], lo: i64[R] {
  hi[r] = argmax(c) x[r, c]
  lo[r] = argmin(c) x[r, c]
}
)";
  cases.push_back(
      {"argmax_corners",
       source,
       {},
       [] {
         return NamedArguments{
             {"x", floats(DType::f32, {7, 4}, {1,         5,         5,         2,    //
                                               nan,       nan,       nan,       nan,  //
                                               1,         9,         nan,       3,    //
                                               -0.0,      0.0,       -0.0,      0.0,  //
                                               -infinity, -infinity, -infinity, -infinity, infinity, 1,
                                               infinity,  -infinity, 7,         7,         7,        7})}};
       },
       [] {
         return Expected{{"hi", integers(DType::i64, {7}, {1, 0, 2, 0, 0, 0, 0})},
                         {"lo", integers(DType::i64, {7}, {0, 0, 2, 0, 0, 3, 0})}};
       }});
  cases.push_back({"argmax_of_length_one",
                   source,
                   {},
                   [] { return NamedArguments{{"x", floats(DType::f32, {3, 1}, {5, nan, -infinity})}}; },
                   [] {
                     const HostTensor zeros = integers(DType::i64, {3}, {0, 0, 0});
                     return Expected{{"hi", zeros}, {"lo", zeros}};
                   }});
}

/// The number that an f8 code stands for, from the format's definition (OCP 8-bit floating point, 2023).
double decode_f8(int code, int exponent_bits, bool has_infinity) {
  const int fraction_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1),
            fraction = code & ((1 << fraction_bits) - 1);
  const double sign = (code & 0x80) != 0 ? -1 : 1;
  const bool top = exponent == (1 << exponent_bits) - 1;
  if (has_infinity && top) return fraction == 0 ? sign * infinity : nan;
  if (!has_infinity && top && fraction == (1 << fraction_bits) - 1) return nan;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

void add_conversion_cases(Cases& cases) {
  for (const bool wide_exponent : {false, true}) {
    const DType dtype = wide_exponent ? DType::f8e5m2 : DType::f8e4m3;
    std::vector<double> values, stored;
    for (int code = 0; code < 256; ++code) {
      const double value = decode_f8(code, wide_exponent ? 5 : 4, wide_exponent);
      values.push_back(value);
      stored.push_back(std::isinf(value) ? std::copysign(core::largest(dtype), value)
                                         : value);  // a store saturates
    }
    const std::string name(core::dtype_name(dtype));
    cases.push_back(
        {"every_code_of_" + name,
         fmt::format("fn f(x: {0}[N]) -> wide: f32[N], back: {0}[N] {{ wide[i] = x[i]; back[i] = x[i] }}\n",
                     name),
         {},
         [=] { return NamedArguments{{"x", HostTensor{dtype, {256}, values, {}}}}; },
         [=] {
           return Expected{{"wide", floats(DType::f32, {256}, values)},
                           {"back", HostTensor{dtype, {256}, stored, {}}}};
         }});
  }
  cases.push_back(
      {"integers_to_bf16_at_ties",
       "fn f(x: i32[N]) -> y: bf16[N] { y[i] = f32(x[i]) }\n",
       {},
       [] { return NamedArguments{{"x", integers(DType::i32, {6}, {256, 257, 258, 259, -257, -259})}}; },
       [] { return Expected{{"y", floats(DType::bf16, {6}, {256, 256, 258, 260, -256, -260})}}; }});
  cases.push_back(
      {"subnormals_are_kept",
       "fn f(x: f32[N]) -> y: f32[N], h: f16[N] { y[i] = x[i] * 0.5; h[i] = x[i] }\n",
       {},
       [] { return NamedArguments{{"x", floats(DType::f32, {4}, {0x1p-148, 0x1p-126, 0x1p-24, 0x1p-25})}}; },
       [] {
         return Expected{{"y", floats(DType::f32, {4}, {0x1p-149, 0x1p-127, 0x1p-25, 0x1p-26})},
                         {"h", HostTensor{DType::f16, {4}, {0, 0, 0x1p-24, 0}, {}}}};
       }});
  cases.push_back({"f64_to_narrow_in_one_rounding",
                   "fn f(x: f64[N]) -> h: f16[N], b: bf16[N] { h[i] = x[i]; b[i] = x[i] }\n",
                   {},
                   [] {  // just above a tie: rounded to f32 first, it would fall on the tie and go down
                     return NamedArguments{
                         {"x", floats(DType::f64, {2}, {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40})}};
                   },
                   [] {
                     return Expected{{"h", HostTensor{DType::f16, {2}, {1 + 0x1p-10, 1 + 0x1p-8}, {}}},
                                     {"b", HostTensor{DType::bf16, {2}, {1, 1 + 0x1p-7}, {}}}};
                   }});
}

void add_division_cases(Cases& cases) {
  const std::vector<std::int64_t> a = {7, -7, 7, -7, 7, -7, 0}, b = {2, 2, -2, -2, 0, 0, -2};
  const std::vector<std::int64_t> quotient = {3, -4, -4, 3, 0, 0, 0}, remainder = {1, 1, -1, -1, 7, -7, 0};
  for (const DType dtype : {DType::i8, DType::i16, DType::i32, DType::i64}) {
    const std::string name(core::dtype_name(dtype));
    cases.push_back(
        {"division_of_negatives_" + name,
         fmt::format("fn f(a: {0}[N], b: {0}[N]) -> q: {0}[N], r: {0}[N] {{ q[i] = a[i] / b[i]; r[i] = a[i] "
                     "% b[i] }}\n",
                     name),
         {},
         [=] { return NamedArguments{{"a", integers(dtype, {7}, a)}, {"b", integers(dtype, {7}, b)}}; },
         [=] {
           return Expected{{"q", integers(dtype, {7}, quotient)}, {"r", integers(dtype, {7}, remainder)}};
         }});
  }
  cases.push_back({"division_in_indices",
                   "fn f(x: f32[N]) -> q: f32[M], r: f32[M] where M = 2 * N {\n"
                   "  q[i] = x[(i - 6) / 2 + 3]\n  r[i] = x[(i - 6) % 3]\n}\n",
                   {},
                   [] { return NamedArguments{{"x", floats(DType::f32, {6}, {0, 1, 2, 3, 4, 5})}}; },
                   [] {
                     return Expected{{"q", floats(DType::f32, {12}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5})},
                                     {"r", floats(DType::f32, {12}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2})}};
                   }});
}

void add_window_cases(Cases& cases) {
  const auto convolution = [&](const std::string& name, const std::string& step, std::int64_t size,
                               std::int64_t output, std::int64_t channels) {
    cases.push_back(
        {name,
         fmt::format("fn conv(x: f32[N, C, H, W], f: f32[M, C, U, V]) -> o: f32[N, M, {0}, {0}] {{\n"
                     "  o[n, m, h, w] = sum(c, u, v) x[n, c, {1}] * f[m, c, u, v]\n}}\n",
                     output, step),
         {},
         [=] {
           return NamedArguments{
               {"x", reference::random_small_integers(DType::f32, {1, channels, size, size}, 3)},
               {"f", reference::random_small_integers(DType::f32, {8, channels, 3, 3}, 4)}};
         },
         {}});
  };
  convolution("window_stride_2", "2 * h + u, 2 * w + v", 58, 28, 16);
  convolution("window_dilation_2", "h + 2 * u, w + 2 * v", 20, 16, 4);
  convolution("window_stride_3_with_remainder", "3 * h + u, 3 * w + v", 23, 7, 4);
}

void add_gather_cases(Cases& cases) {
  cases.push_back({"gather_behind_its_guard",
                   "fn f(r: i32[L, A], x: f32[N, C, H], s: f32[C]) -> y: f32[N, L, A, H] {\n"
                   "  y[n, l, a, h] = where(r[l, a] == C, 0, x[n, r[l, a], h] * s[r[l, a]])\n}\n",
                   {},
                   [] {
                     return NamedArguments{{"r", reference::random_indices(DType::i32, {5, 3}, 0, 5, 9)},
                                           {"x", reference::random_small_integers(DType::f32, {2, 4, 7}, 5)},
                                           {"s", reference::random_small_integers(DType::f32, {4}, 6)}};
                   },
                   {}});
  cases.push_back(
      {"gather_far_outside",
       "fn f(x: f32[V, D], t: i64[N]) -> y: f32[N, D] { y[n, d] = x[t[n], d] }\n",
       {},
       [] {
         return NamedArguments{{"x", floats(DType::f32, {2, 2}, {1, 2, 3, 4})},
                               {"t", integers(DType::i64, {5}, {1, 2, -1, INT64_MIN, INT64_MAX})}};
       },
       [] { return Expected{{"y", floats(DType::f32, {5, 2}, {3, 4, 0, 0, 0, 0, 0, 0, 0, 0})}}; }});
}

void add_infinity_cases(Cases& cases) {
  cases.push_back(
      {"softmax_of_infinities",
       "fn softmax(x: f32[R, C]) -> y: f32[R, C] {\n  m[r] = max(c) x[r, c]\n"
       "  e[r, c] = exp(x[r, c] - m[r])\n  y[r, c] = e[r, c] / sum(c) e[r, c]\n}\n",
       {},
       [] {
         return NamedArguments{{"x", floats(DType::f32, {5, 3},
                                            {infinity, 1, 2, -infinity, -infinity, -infinity, infinity,
                                             -infinity, 0, -infinity, 4, -infinity, 1, nan, 2})}};
       },
       [] {
         return Expected{
             {"y", floats(DType::f32, {5, 3},
                          {nan, nan, nan, nan, nan, nan, nan, nan, nan, 0, 1, 0, nan, nan, nan})}};
       }});
}

/// Row reductions of every awkward length: an element skipped or repeated changes an integer sum.
void add_length_cases(Cases& cases) {
  for (const std::int64_t length :
       {1, 2, 5, 31, 63, 65, 127, 255, 257, 511, 576, 1000, 1023, 1537, 2047, 2100}) {
    cases.push_back(
        {fmt::format("row_length_{}", length),
         reductions_source,
         {},
         [=] { return NamedArguments{{"x", reference::random_small_integers(DType::f32, {5, length}, 11)}}; },
         {}});
  }
}

}  // namespace

const std::vector<SharedCase>& shared_cases() {
  static const std::vector<SharedCase> cases = [] {
    Cases all;
    for (const auto add :
         {add_nan_cases, add_empty_cases, add_argmax_cases, add_conversion_cases, add_division_cases,
          add_window_cases, add_gather_cases, add_infinity_cases, add_length_cases}) {
      add(all);
    }
    return all;
  }();
  return cases;
}

std::string check_shared_case(const SharedCase& which, const RunCase& run) {
  const core::Result<Call> call = make_call(which.source, "", which.types, which.arguments());
  if (!call.ok()) return call.error().message;
  if (!which.expected) return difference_from_reference(*call, run);
  const core::Result<Results> results = run(*call);
  if (!results.ok()) return results.error().message;
  for (const auto& [name, expected] : which.expected()) {
    const auto comparison =
        reference::compare(expected, results->at(call->tensor(name)), reference::Tolerance::exact());
    if (!comparison.ok) return comparison.text(name);
  }
  return "";
}

}  // namespace einkern::testing
