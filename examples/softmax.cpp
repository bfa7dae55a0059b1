// Softmax of rows, of large numbers too.
#include "example.h"

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("softmax.ein"));
  std::vector<float> numbers(12 * 200);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1e4f + 10 * std::sin(static_cast<float>(i));
  const ek::Tensor x = ek::Tensor::from(numbers, {12, 200}, ek::f32, device);
  const ek::Tensor y = program["softmax"].on(device)(x);
  const example::Values xs(x);
  example::check("y", y, 1e-6, [&](const example::Index& at) {
    double sum = 0;
    for (int c = 0; c < 200; ++c) sum += std::exp(xs(at[0], c) - xs(at[0], at[1]));
    return 1 / sum;
  });
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
