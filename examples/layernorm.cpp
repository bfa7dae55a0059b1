// Layer normalisation; arguments by name, and a default.
#include "example.h"

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("layernorm.ein"));
  const ek::Function layernorm = program["layernorm"].on(device);
  const ek::Tensor x = ek::Tensor::random({10, 192}, ek::f32, device, 1);
  const ek::Tensor gain = ek::Tensor::random({192}, ek::f32, device, 2);
  const ek::Tensor bias = ek::Tensor::random({192}, ek::f32, device, 3);
  const ek::Tensor y = layernorm({{"x", x}, {"gain", gain}, {"bias", bias}});  // epsilon is 1e-5
  const example::Values xs(x), gains(gain), biases(bias);
  example::check("y", y, 1e-5, [&](const example::Index& at) {
    double mean = 0, variance = 0;
    for (int c = 0; c < 192; ++c) mean += xs(at[0], c) / 192;
    for (int c = 0; c < 192; ++c) variance += (xs(at[0], c) - mean) * (xs(at[0], c) - mean) / 192;
    return (xs(at[0], at[1]) - mean) / std::sqrt(variance + 1e-5) * gains(at[1]) + biases(at[1]);
  });
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
