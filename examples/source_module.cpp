// The matrix product of 1024 x 1024 numbers twice: as raw CUDA through SourceModule, and in the language.
// Raw CUDA needs a GPU: without one the program says so.
#include <chrono>

#include "example.h"

constexpr std::int64_t size = 1024;
constexpr std::uint32_t tile = 16;

constexpr const char* source = R"(
// One thread an element of c, 16 x 16 threads a block.
extern "C" __global__ void matrix_mul(const float* a, const float* b, float* c, int size) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < size; ++k) sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}
)";

/// Seconds of one run: the mean of 50 back to back, after 5 that warm up.
template <typename Run>
double seconds(const ek::Device& device, Run run) {
  for (int i = 0; i < 5; ++i) run();
  device.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) run();
  device.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 50;
}

void print_row(const char* name, double time, double difference) {
  std::printf("%-28s %9.1f us %9.1f GFLOP/s %12.2g\n", name, time * 1e6, 2e-9 * size * size * size / time,
              difference);
}

double largest_difference(const ek::Tensor& x, const ek::Tensor& y) {
  const std::vector<float> a = x.to_floats(), b = y.to_floats();
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

void compare(const ek::Device& device, bool tune) {
  const ek::Tensor a = ek::Tensor::random({size, size}, ek::f32, device, 1);
  const ek::Tensor b = ek::Tensor::random({size, size}, ek::f32, device, 2);
  const ek::Tensor raw = ek::Tensor::empty({size, size}, ek::f32, device);
  const ek::Tensor c = ek::Tensor::empty({size, size}, ek::f32, device);

  const ek::SourceModule module(source, {}, device);
  const ek::SourceFunction matrix_mul = module.function("matrix_mul");
  const auto run_raw = [&] {
    matrix_mul({size / tile, size / tile}, {tile, tile}, a, b, raw, static_cast<int>(size));
  };

  const ek::Function matmul = ek::compile_file(example::path("matmul.ein"))["matmul"].on(device);
  if (tune) matmul.tune({a, b});
  const auto run_language = [&] { matmul.into(c, {}, a, b); };

  const double raw_time = seconds(device, run_raw), time = seconds(device, run_language);
  const double difference = largest_difference(raw, c);
  std::printf("%s, %lld x %lld x %lld, f32\n%-28s %12s %17s %12s\n", device.name().c_str(),
              static_cast<long long>(size), static_cast<long long>(size), static_cast<long long>(size),
              "kernel", "time", "rate", "difference");
  print_row("raw CUDA, SourceModule", raw_time, 0);
  print_row(tune ? "matmul.ein, tuned" : "matmul.ein", time, difference);
  std::printf("matmul.ein is %.1f times as fast\n", raw_time / time);
  if (difference > 1e-3) throw std::runtime_error("the two products differ");
}

int main(int argc, char** argv) {
  const bool tune = argc > 1 && std::string(argv[1]) == "--tune";
  ek::Device device;
  try {
    device = ek::Device::cuda();
  } catch (const ek::DeviceError& error) {
    std::printf("There is no GPU here, and raw CUDA runs on nothing else.\n%s\n", error.what());
    return 0;
  }
  try {
    compare(device, tune);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
