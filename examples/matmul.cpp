// The matrix product, and how its kernels are looked at.
#include "example.h"

void body(const ek::Device& device) {
  const ek::Function matmul = ek::compile_file(example::path("matmul.ein"))["matmul"].on(device);
  const ek::Tensor a = ek::Tensor::random({96, 200}, ek::f32, device, 1);
  const ek::Tensor b = ek::Tensor::random({200, 80}, ek::f32, device, 2);
  const ek::Tensor c = matmul(a, b);
  const example::Values x(a), y(b);
  example::check("c", c, 1e-5, [&](const example::Index& at) {
    double sum = 0;
    for (int k = 0; k < 200; ++k) sum += x(at[0], k) * y(k, at[1]);
    return sum;
  });
  std::printf("%s\n", matmul.explain({a, b}).c_str());
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
