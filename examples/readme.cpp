// The program of README.md.
#include <cstdio>
#include <einkern/einkern.hpp>
namespace ek = einkern;

int main() {
  const ek::Program program = ek::compile(R"(
    fn linear_gelu(x: bf16[M, K], w: bf16[N, K], b: bf16[N]) -> y: bf16[M, N] {
      y[i, j] = gelu(sum(k) x[i, k] * w[j, k] + b[j])
    })");
  const ek::Tensor x = ek::Tensor::random({64, 512}, ek::bf16), w = ek::Tensor::random({256, 512}, ek::bf16);
  const ek::Tensor b = ek::Tensor::zeros({256}, ek::bf16);
  const ek::Tensor y = program["linear_gelu"](x, w, b);  // compiled now, for the GPU or CPU that is here
  std::printf("y[0, 0] = %g\n", y.to_floats()[0]);
}
