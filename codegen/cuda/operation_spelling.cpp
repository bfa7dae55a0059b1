#include "codegen/cuda/operation_spelling.h"

#include <array>
#include <cstdlib>

namespace einkern::codegen::cuda {

namespace {

using dsl::Op;

constexpr std::string_view same = "=";  // as the f32 spelling

// One line an operation. Float functions are CUDA's precise ones: no fast math, denormals kept.
// clang-format off
constexpr std::array rows = {
    //                op                f32                        f64              signed integers            unsigned         index
    OperationSpelling{Op::negate,       "(-{0})",                  same,            "ek_negate({0})",          "(0u - {0})",    "(-{0})"},
    OperationSpelling{Op::bit_not,      "",                        "",              "(~{0})",                  "(~{0})"},
    OperationSpelling{Op::multiply,     "({0} * {1})",             same,            "ek_multiply({0}, {1})",   "({0} * {1})",   "({0} * {1})"},
    OperationSpelling{Op::divide,       "({0} / {1})",             same,            "ek_divide_{3}({0}, {1})", "ek_divide_{3}({0}, {1})"},
    OperationSpelling{Op::modulo,       "ek_modulo_f32({0}, {1})", "ek_modulo_f64({0}, {1})", "ek_modulo_{3}({0}, {1})", "ek_modulo_{3}({0}, {1})"},
    OperationSpelling{Op::add,          "({0} + {1})",             same,            "ek_add({0}, {1})",        "({0} + {1})",   "({0} + {1})"},
    OperationSpelling{Op::subtract,     "({0} - {1})",             same,            "ek_subtract({0}, {1})",   "({0} - {1})",   "({0} - {1})"},
    OperationSpelling{Op::shift_left,   "",                        "",              "ek_shift_left({0}, (int){1})",  "ek_shift_left({0}, (int){1})"},
    OperationSpelling{Op::shift_right,  "",                        "",              "ek_shift_right({0}, (int){1})", "ek_shift_right({0}, (int){1})"},
    OperationSpelling{Op::bit_and,      "",                        "",              "({0} & {1})",             "({0} & {1})"},
    OperationSpelling{Op::bit_xor,      "",                        "",              "({0} ^ {1})",             "({0} ^ {1})"},
    OperationSpelling{Op::bit_or,       "",                        "",              "({0} | {1})",             "({0} | {1})"},
    OperationSpelling{Op::equal,        "({0} == {1})",            same,            same,                      same},
    OperationSpelling{Op::not_equal,    "({0} != {1})",            same,            same,                      same},
    OperationSpelling{Op::less,         "({0} < {1})",             same,            same,                      same},
    OperationSpelling{Op::less_equal,   "({0} <= {1})",            same,            same,                      same},
    OperationSpelling{Op::logical_not,  "(!{0})",                  same,            same,                      same},
    OperationSpelling{Op::logical_and,  "({0} && {1})",            same,            same,                      same},
    OperationSpelling{Op::logical_or,   "({0} || {1})",            same,            same,                      same},
    OperationSpelling{Op::where,        "({0} ? {1} : {2})",       same,            same,                      same},
    OperationSpelling{Op::maximum,      "ek_max_f32({0}, {1})",    "ek_max_f64({0}, {1})", "max({0}, {1})",    "max({0}, {1})"},
    OperationSpelling{Op::minimum,      "ek_min_f32({0}, {1})",    "ek_min_f64({0}, {1})", "min({0}, {1})",    "min({0}, {1})"},
    OperationSpelling{Op::absolute,     "fabsf({0})",              "fabs({0})",     "ek_abs_{3}({0})",         "{0}"},
    OperationSpelling{Op::sign,         "ek_sign_f32({0})",        "ek_sign_f64({0})", "ek_sign_{3}({0})",     "min({0}, 1{4})"},
    OperationSpelling{Op::floor,        "floorf({0})",             "floor({0})",    "",                        ""},
    OperationSpelling{Op::ceil,         "ceilf({0})",              "ceil({0})",     "",                        ""},
    OperationSpelling{Op::round,        "rintf({0})",              "rint({0})",     "",                        ""},
    OperationSpelling{Op::trunc,        "truncf({0})",             "trunc({0})",    "",                        ""},
    OperationSpelling{Op::sqrt,         "sqrtf({0})",              "sqrt({0})",     "",                        ""},
    OperationSpelling{Op::rsqrt,        "rsqrtf({0})",             "rsqrt({0})",    "",                        ""},
    OperationSpelling{Op::exp,          "expf({0})",               "exp({0})",      "",                        ""},
    OperationSpelling{Op::exp2,         "exp2f({0})",              "exp2({0})",     "",                        ""},
    OperationSpelling{Op::expm1,        "expm1f({0})",             "expm1({0})",    "",                        ""},
    OperationSpelling{Op::log,          "logf({0})",               "log({0})",      "",                        ""},
    OperationSpelling{Op::log2,         "log2f({0})",              "log2({0})",     "",                        ""},
    OperationSpelling{Op::log1p,        "log1pf({0})",             "log1p({0})",    "",                        ""},
    OperationSpelling{Op::sin,          "sinf({0})",               "sin({0})",      "",                        ""},
    OperationSpelling{Op::cos,          "cosf({0})",               "cos({0})",      "",                        ""},
    OperationSpelling{Op::tanh,         "tanhf({0})",              "tanh({0})",     "",                        ""},
    OperationSpelling{Op::erf,          "erff({0})",               "erf({0})",      "",                        ""},
    OperationSpelling{Op::pow,          "powf({0}, {1})",          "pow({0}, {1})", "",                        ""},
    OperationSpelling{Op::fma,          "fmaf({0}, {1}, {2})",     "fma({0}, {1}, {2})", "",                   ""},
    OperationSpelling{Op::is_nan,       "isnan({0})",              same,            "",                        ""},
    OperationSpelling{Op::is_infinite,  "isinf({0})",              same,            "",                        ""},
    OperationSpelling{Op::popcount,     "",                        "",              "ek_popcount({0})",        "ek_popcount({0})"},
    OperationSpelling{Op::clz,          "",                        "",              "ek_clz({0})",             "ek_clz({0})"},
    OperationSpelling{Op::random,       "",                        "",              "",                        "ek_random({0}, {1})"},
    OperationSpelling{Op::uniform,      "((float)(ek_random({0}, {1}) >> 8) * 0x1p-24f)", "((double)(ek_random({0}, {1}) >> 8) * 0x1p-24)", "", ""},
};
// clang-format on

constexpr OperationSpelling resolved(OperationSpelling row) {
  if (row.f64 == same) row.f64 = row.f32;
  if (row.signed_integer == same) row.signed_integer = row.f32;
  if (row.unsigned_integer == same) row.unsigned_integer = row.f32;
  if (row.index.empty()) row.index = row.signed_integer;
  return row;
}

}  // namespace

const OperationSpelling& spelling_of(Op op) {
  static const std::array resolved_rows = [] {
    auto result = rows;
    for (OperationSpelling& row : result) row = resolved(row);
    return result;
  }();
  for (const OperationSpelling& row : resolved_rows)
    if (row.op == op) return row;
  std::abort();
}

}  // namespace einkern::codegen::cuda
