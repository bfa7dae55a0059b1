#include "tests/cuda/emission_cases.h"

#include "tests/support/kernel_cases.h"

namespace einkern::testing {

const std::vector<EmissionCase>& emission_cases() {
  static const std::vector<EmissionCase> cases = {
      {"saxpy",
       "fn saxpy(a: f32, x: f32[N], y: f32[N]) -> z: f32[N] { z[i] = a * x[i] + y[i] }",
       {{4096}, {4096}},
       "cuda.pointwise",
       "vector=4 unroll=2 threads=256"},
      {"gelu_bias",
       "fn gelu_bias(x: bf16[R, C], b: bf16[C]) -> y: bf16[R, C] { y[r, c] = gelu(x[r, c] + b[c]) }",
       {{64, 1000}, {1000}},
       "cuda.pointwise",
       "vector=8 unroll=2 threads=256"},
      {"scalar_tail",
       "fn tail(x: f16[N], y: f32[N]) -> z: f16[N] { z[i] = where(x[i] > 0, x[i] / y[i], y[i]) }",
       {{1002}, {1002}},
       "cuda.pointwise",
       "vector=8 unroll=1 threads=128"},
      {"quantise",
       "fn quantise(x: f32[R, C], s: f32[R]) -> q: f8e4m3[R, C] { q[r, c] = x[r, c] / s[r] }",
       {{64, 256}, {64}},
       "cuda.pointwise",
       "vector=4 unroll=4 threads=256"},
      {"names",  // keywords, built-in variables and the prelude's functions as names
       "fn float_(int: f32[blockIdx, class], threadIdx: f32[class], ek_max_f32: f32) -> asm: f32[blockIdx, "
       "class] {\n"
       "  asm[for_, while] = int[for_, while] * threadIdx[while] + max(ek_max_f32, int[for_, while])\n}",
       {{32, 64}, {64}},
       "cuda.pointwise",
       "vector=4 unroll=1 threads=256"},
      {"transpose",
       "fn transpose(x: bf16[R, C]) -> y: bf16[C, R] { y[c, r] = x[r, c] }",
       {{512, 256}},
       "cuda.permute",
       "tile=64 vector=8 threads=256"},
      {"permute_batched",
       "fn permute(x: f32[B, R, C], s: f32[C]) -> y: f32[C, B, R] { y[c, b, r] = 2 * x[b, r, c] + s[c] }",
       {{3, 33, 65}, {65}},
       "cuda.permute",
       "tile=32 vector=1 threads=256"},
      {"softmax",
       "fn softmax(x: bf16[R, C]) -> y: bf16[R, C] {\n  m[r] = max(c) x[r, c]\n  e[r, c] = exp(x[r, c] - "
       "m[r])\n"
       "  y[r, c] = e[r, c] / sum(c) e[r, c]\n}",
       {{64, 4096}},
       "cuda.row_reduction",
       "rows_across_lanes=0 threads=256 threads_per_row=256 vector=8 vectors=2 resident=1 splits=1"},
      {"layernorm",
       "fn layernorm(x: f32[R, C], g: f32[C], b: f32[C], eps: f32) -> y: f32[R, C] {\n  m[r] = mean(c) x[r, "
       "c]\n"
       "  v[r] = mean(c) (x[r, c] - m[r]) * (x[r, c] - m[r])\n"
       "  y[r, c] = (x[r, c] - m[r]) * rsqrt(v[r] + eps) * g[c] + b[c]\n}",
       {{64, 1024}, {1024}, {1024}},
       "cuda.row_reduction",
       "rows_across_lanes=0 threads=128 threads_per_row=32 vector=4 vectors=8 resident=1 splits=1"},
      {"row_sums",
       "fn row_sums(x: f16[R, C]) -> y: f32[R] { y[r] = sum(c) x[r, c] }",
       {{64, 4096}},
       "cuda.row_reduction",
       "rows_across_lanes=0 threads=256 threads_per_row=128 vector=8 vectors=4 resident=0 splits=1"},
      {"column_sums",
       "fn column_sums(x: f32[R, C]) -> y: f32[C] { y[c] = sum(r) x[r, c] }",
       {{512, 1000}},
       "cuda.row_reduction",
       "rows_across_lanes=1 threads=256 threads_per_row=8 vector=1 vectors=4 resident=0 splits=1"},
      {"full_sum",
       "fn full_sum(x: f32[N]) -> y: f32 { y = sum(i) x[i] }",
       {{1 << 20}},
       "cuda.row_reduction",
       "rows_across_lanes=0 threads=256 threads_per_row=256 vector=4 vectors=4 resident=0 splits=128"},
      {"argmax",
       "fn best(x: f32[R, C]) -> y: i64[R] { y[r] = argmax(c) x[r, c] }",
       {{64, 1000}},
       "cuda.row_reduction",
       "rows_across_lanes=0 threads=128 threads_per_row=32 vector=4 vectors=2 resident=0 splits=1"},
      {"embed",
       "fn embed(t: i32[S], w: bf16[V, D]) -> e: bf16[S, D] { e[s, d] = w[t[s], d] }",
       {{128}, {1000, 512}},
       "cuda.pointwise",
       "vector=8 unroll=1 threads=256"},
      {"conv2d",
       "fn conv2d(x: f32[N, H, W, C], f: f32[U, V, C, O]) -> y: f32[N, H, W, O] {\n"
       "  y[n, h, w, o] = sum(u, v, c) (x[n, h + u - U/2, w + v - V/2, c] else 0) * f[u, v, c, o]\n}",
       {{2, 16, 16, 8}, {3, 3, 8, 16}},
       "cuda.generic",
       "threads=128"},
      {"cumsum",
       "fn cumsum(x: f32[R, N]) -> y: f32[R, N] { y[r, i] = sum(j in 0..i + 1) x[r, j] }",
       {{8, 100}},
       "cuda.generic",
       "threads=128"},
      {"reference_row_sums",
       "fn row_sums(x: f16[R, C]) -> y: bf16[R] { y[r] = sum(c) x[r, c] * x[r, c] }",
       {{64, 100}},
       "cuda.reference",
       "threads=128"},
  };
  return cases;
}

core::Result<core::Emission> emit_case(const EmissionCase& which, const std::string& architecture) {
  const auto function = checked_function(which.source);
  if (function == nullptr) return core::Error{core::ErrorKind::internal, which.name + " does not check"};
  const KernelCase kernels = kernel_case(function, {.tensors = which.shapes, .dims = {}}, architecture);
  const codegen::KernelContext context = kernels.context();
  const codegen::Schedule* schedule = codegen::find_schedule(which.schedule);
  if (schedule == nullptr) return core::Error{core::ErrorKind::internal, "no schedule " + which.schedule};
  if (const auto reason = schedule->reason_against(context))
    return core::Error{core::ErrorKind::internal, *reason};
  EINKERN_TRY(const codegen::Configuration configuration, codegen::Configuration::parse(which.configuration));
  if (const auto violated = schedule->space(context).violation(configuration))
    return core::Error{core::ErrorKind::internal, *violated};
  return schedule->emit(context, configuration);
}

}  // namespace einkern::testing
