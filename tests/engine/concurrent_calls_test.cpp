// One Function called from many threads at once, as its documentation allows: first calls that compile, later
// ones that only launch, shapes and types mixed, while somebody asks for sources and explanations.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

#include "einkern/einkern.hpp"

namespace einkern::testing {
namespace {

constexpr int callers = 4, rounds = 12;

constexpr const char* source = R"(
fn centred<T: float>(x: T[R, C], scale: T = 1) -> y: T[R, C] {
  m[r] = mean(c) x[r, c]
  y[r, c] = (x[r, c] - m[r]) * scale
}
fn product(a: f32[M, K], b: f32[K, N]) -> y: f32[M, N] { y[i, j] = sum(k) a[i, k] * b[k, j] }
)";

/// Element i is (i + salt) mod 5: small integers, so that all sums are exact.
std::vector<double> numbers(std::int64_t count, int salt) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i + static_cast<std::size_t>(salt)) % 5);
  return values;
}

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType type) {
  return Tensor::from(std::span<const double>(values), shape, type, Device::cpu());
}

/// Rows of 5 columns hold each of 0 to 4 once, so their mean is 2.
bool centres(const Function& centred, std::int64_t rows, DType type, int salt) {
  const std::vector<double> x = numbers(rows * 5, salt);
  const Tensor y = centred(tensor_of(x, {rows, 5}, type), 3.0);
  const std::vector<double> found = y.to_doubles();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != 3 * (x[i] - 2)) return false;
  return found.size() == x.size();
}

bool multiplies(const Function& product, std::int64_t m, std::int64_t n, std::int64_t k, int salt) {
  const std::vector<double> a = numbers(m * k, salt), b = numbers(k * n, salt + 1);
  const Tensor y = Tensor::empty({m, n}, DType::f32, Device::cpu());
  product.into(y, {}, tensor_of(a, {m, k}, DType::f32), tensor_of(b, {k, n}, DType::f32));
  const std::vector<double> found = y.to_doubles();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
      if (found[static_cast<std::size_t>(i * n + j)] != sum) return false;
    }
  return true;
}

/// Runs `call(caller, round)` from several threads that start together; how many calls were wrong.
int wrong_calls(const std::function<bool(int, int)>& call) {
  std::atomic<int> wrong{0}, waiting{callers};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (int round = 0; round < rounds; ++round)
        if (!call(caller, round)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

TEST(ConcurrentCalls, OfOneShapeCompileOnceAndAgree) {
  const Function product = compile(source)["product"].on(Device::cpu());
  EXPECT_EQ(
      wrong_calls([&](int caller, int round) { return multiplies(product, 33, 65, 17, caller + round); }), 0);
}

TEST(ConcurrentCalls, OfManyShapesAndTypesAgree) {
  const Function centred = compile(source)["centred"].on(Device::cpu());
  EXPECT_EQ(wrong_calls([&](int caller, int round) {
              const DType type = (caller + round) % 2 == 0 ? DType::f32 : DType::f64;
              return centres(centred, 1 + round % 4, type, caller);
            }),
            0);
}

TEST(ConcurrentCalls, GoBesideThoseWhoAskAboutThem) {
  const Program program = compile(source);
  const Function product = program["product"].on(Device::cpu());
  const Tensor a = tensor_of(numbers(12, 0), {3, 4}, DType::f32),
               b = tensor_of(numbers(8, 1), {4, 2}, DType::f32);
  const std::string text = product.source({a, b});
  EXPECT_EQ(wrong_calls([&](int caller, int round) {
              if (caller == 0) return product.source({a, b}) == text && product.workspace_bytes({a, b}) >= 0;
              if (caller == 1) return !product.explain({a, b}).empty();
              // A Function of one's own, of the same Program.
              if (caller == 2) return centres(program["centred"].on(Device::cpu()), 7, DType::f32, round);
              return multiplies(product, 3, 2, 4, round);
            }),
            0);
}

}  // namespace
}  // namespace einkern::testing
