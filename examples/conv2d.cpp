// A 3 x 5 convolution with 'same' padding.
#include "example.h"

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("conv2d.ein"));
  const ek::Tensor x = ek::Tensor::random({2, 9, 11, 8}, ek::f32, device, 1);
  const ek::Tensor f = ek::Tensor::random({3, 5, 8, 12}, ek::f32, device, 2);
  const ek::Tensor y = program["conv2d"].on(device)(x, f);
  const example::Values xs(x), fs(f);
  example::check("y", y, 1e-5, [&](const example::Index& at) {
    double sum = 0;
    for (int u = 0; u < 3; ++u)
      for (int v = 0; v < 5; ++v) {
        const std::int64_t row = at[1] + u - 1, column = at[2] + v - 2;
        if (row < 0 || row >= 9 || column < 0 || column >= 11) continue;
        for (int c = 0; c < 8; ++c) sum += xs(at[0], row, column, c) * fs(u, v, c, at[3]);
      }
    return sum;
  });
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
