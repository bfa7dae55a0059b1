// The matrix product in f32 and, from the same source, in f64; and how its kernels are looked at.
#include "example.h"

void product(const ek::Device& device, const ek::Function& matmul, ek::DType dtype, double tolerance) {
  const ek::Tensor a = ek::Tensor::random({96, 200}, dtype, device, 1);
  const ek::Tensor b = ek::Tensor::random({200, 80}, dtype, device, 2);
  const ek::Tensor c = matmul(a, b);
  const example::Values x(a), y(b);
  example::check("c", c, tolerance, [&](const example::Index& at) {
    double sum = 0;
    for (int k = 0; k < 200; ++k) sum += x(at[0], k) * y(k, at[1]);
    return sum;
  });
  std::printf("%s\n", matmul.explain({a, b}).c_str());
}

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("matmul.ein"));
  const ek::Function matmul = program["matmul"].on(device);
  product(device, matmul, ek::f32, 1e-5);
  product(device, matmul, ek::f64, 1e-13);
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
