// What an application does first: compile, call, read the result.
#include <einkern/einkern.hpp>

#include <cstdio>
#include <vector>

int main() {
  namespace ek = einkern;
  const ek::Program program =
      ek::compile("fn saxpy(a: f32, x: f32[N], y: f32[N]) -> z: f32[N] { z[i] = a * x[i] + y[i] }");
  const std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  try {
    const ek::Device cpu = ek::Device::cpu();
    const ek::Function saxpy = program["saxpy"].on(cpu);
    const ek::Tensor a = ek::Tensor::from(x, {3}, ek::f32, cpu), b = ek::Tensor::from(y, {3}, ek::f32, cpu);
    saxpy.tune({2.0f, a, b}, {.seconds = 1, .candidates = 2});  // finds the installed worker
    const ek::Tensor z = saxpy(2.0f, a, b);
    const std::vector<float> expected = {12, 24, 36};
    if (z.to_floats() != expected) return std::fprintf(stderr, "wrong numbers\n"), 1;
    ek::compile("fn wrong(x: f32[N]) -> z: f32[N] { z[i] = y[i] }");  // no y: throws
  } catch (const ek::CompileError& error) {
    std::printf("an error as it should be:\n%s\n", error.what());
    return 0;
  }
  return 1;
}
