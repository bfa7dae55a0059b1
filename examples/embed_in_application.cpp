// einkern inside an application that has memory of its own: strided views, results written where the caller
// wants them, several results, kernels prepared ahead, calls from many threads, errors to act on.
#include <thread>

#include "example.h"

constexpr const char* source = R"(
# Rows in 8 bits, each with the scale that turns them back.
fn quantise(x: f32[R, C]) -> q: i8[R, C], s: f32[R] {
  s[r]    = max(max(c) abs(x[r, c]), 1e-12) / 127
  q[r, c] = i8(round(x[r, c] / s[r]))
}

fn scale_add(a: f32, x: f32[R, C], y: f32[R, C]) -> z: f32[R, C] { z[r, c] = a * x[r, c] + y[r, c] }
)";

/// Stands for the application: a buffer with rows of `pitch` numbers, of which `columns` count.
struct Buffer {
  static constexpr std::int64_t rows = 40, columns = 60, pitch = 64;
  explicit Buffer(const ek::Device& device, std::uint64_t seed)
      : memory(ek::Tensor::random({rows * pitch}, ek::f32, device, seed)) {}
  /// The buffer as einkern sees it: no copy, strides in elements.
  ek::Tensor view() const {
    return ek::Tensor::view(memory.data(), ek::f32, {rows, columns}, {pitch, 1}, memory.device());
  }
  ek::Tensor memory;
};

void write_into_views(const ek::Function& scale_add, const ek::Device& device) {
  const Buffer x(device, 1), y(device, 2), z(device, 3);
  const std::vector<float> before = z.memory.to_floats();
  scale_add.prepare({2.0f, x.view(), y.view()});  // compiles now, so that the call only launches
  scale_add.into(z.view(), ek::Stream{}, 2.0f, x.view(), y.view());
  device.synchronize();
  const example::Values xs(x.view()), ys(y.view());
  example::check("z", z.view(), 1e-6, [&](const example::Index& at) { return 2 * xs.at(at) + ys.at(at); });
  const std::vector<float> after = z.memory.to_floats();
  for (std::int64_t row = 0; row < Buffer::rows; ++row)
    for (auto i = static_cast<std::size_t>(row * Buffer::pitch + Buffer::columns); i % Buffer::pitch != 0;
         ++i)
      if (before[i] != after[i]) throw std::runtime_error("the padding of a row was written to");
  // Views of views: every other row, transposed.
  const ek::Tensor columns = x.view().slice(0, 0, Buffer::rows, 2).permute({1, 0});
  const ek::Tensor doubled = scale_add(1.0f, columns, columns);
  example::check("doubled", doubled, 0, [&](const example::Index& at) { return 2 * xs(2 * at[1], at[0]); });
}

void take_several_results(const ek::Function& quantise, const ek::Device& device) {
  const Buffer x(device, 4);
  const auto [q, s] = quantise(x.view()).unpack<2>();
  const example::Values xs(x.view()), qs(q), scales(s);
  example::check("q", q, 0, [&](const example::Index& at) {
    const double back = qs.at(at) * scales(at[0]);  // within half a step of what it was
    return std::abs(back - xs.at(at)) <= 0.501 * scales(at[0]) ? qs.at(at) : NAN;
  });
}

void call_from_threads(const ek::Function& scale_add, const ek::Device& device) {
  std::vector<ek::Tensor> results(4);
  std::vector<std::thread> threads;
  const Buffer x(device, 5), y(device, 6);
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] { results[i] = scale_add(static_cast<float>(i), x.view(), y.view()); });
  for (std::thread& thread : threads) thread.join();
  const example::Values xs(x.view()), ys(y.view());
  for (std::size_t i = 0; i < results.size(); ++i)
    example::check("a thread's z", results[i], 1e-6,
                   [&](const example::Index& at) { return static_cast<double>(i) * xs.at(at) + ys.at(at); });
}

void meet_errors(const ek::Function& scale_add, const ek::Device& device) {
  try {
    scale_add(1.0f, ek::Tensor::zeros({2, 3}, ek::f32, device), ek::Tensor::zeros({2, 4}, ek::f32, device));
  } catch (const ek::ShapeError& error) {
    std::printf("two shapes that do not fit: %s\n", error.what());
    try {
      ek::compile("fn f(x: f32[N]) -> y: f32[N] { y[i] = x[i + 1] }", "wrong.ein");
    } catch (const ek::CompileError& diagnostics) {
      std::printf("a read outside of its tensor:\n%s\n", diagnostics.what());
      return;
    }
  }
  throw std::runtime_error("an error was not noticed");
}

void body(const ek::Device& device) {
  const ek::Program program = ek::compile(source, "application.ein");
  const ek::Function scale_add = program["scale_add"].on(device);
  write_into_views(scale_add, device);
  take_several_results(program["quantise"].on(device), device);
  call_from_threads(scale_add, device);
  meet_errors(scale_add, device);
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
