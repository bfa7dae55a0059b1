// A linear layer with bias and GELU in one kernel, in f32 and bf16.
#include "example.h"

void layer(const ek::Device& device, const ek::Function& linear_gelu, ek::DType dtype, double tolerance) {
  const ek::Tensor x = ek::Tensor::random({33, 128}, dtype, device, 1);
  const ek::Tensor w = ek::Tensor::random({70, 128}, dtype, device, 2);
  const ek::Tensor b = ek::Tensor::random({70}, dtype, device, 3);
  const ek::Tensor y = linear_gelu(x, w, b);
  const example::Values xs(x), ws(w), bs(b);
  example::check("y", y, tolerance, [&](const example::Index& at) {
    double sum = bs(at[1]);
    for (int k = 0; k < 128; ++k) sum += xs(at[0], k) * ws(at[1], k);
    return sum / 2 * std::erfc(-sum / std::sqrt(2.0));
  });
}

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("linear_gelu.ein"));
  const ek::Function linear_gelu = program["linear_gelu"].on(device);
  layer(device, linear_gelu, ek::f32, 1e-5);
  layer(device, linear_gelu, ek::bf16, 0x1p-8);  // the result is rounded to 8 significant bits
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
