// One prepared launch called from many threads at once, each with arguments of its own: every kernel gets
// those of its caller. With the thread sanitizer this also shows that a launch shares nothing that it writes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/fakes/fake_gpu.h"

namespace einkern::runtime::cuda {
namespace {

using namespace core;

constexpr std::uint64_t thread_count = 8, launches_each = 500;
constexpr std::int64_t tickets_bytes = 256, partial_bytes = 4096;

/// What the calling thread's kernels have to find. The workspace is whatever the first kernel got where the
/// launch takes its own.
struct Expected {
  Address x = 0, y = 0, workspace = 0;
  std::uint64_t scalar = 0;
  bool second = false;  // the second kernel is next
};
thread_local Expected expected;
std::atomic<int> kernels, mismatches;

/// Both kernels: (map of x, scalar, counters, map of partial, y).
void run_kernel(void** parameters) {
  const auto word = [&](int parameter, std::size_t index) {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(parameters[parameter]) + 8 * index, sizeof value);
    return value;
  };
  const Address tickets = word(2, 0);
  if (!expected.second && expected.workspace == 0) expected.workspace = tickets;
  auto& counter = *reinterpret_cast<std::uint64_t*>(tickets);
  bool right = word(1, 0) == expected.scalar && tickets == expected.workspace && word(4, 0) == expected.y &&
               counter == (expected.second ? 1u : 0u);  // zeroed before the first
  for (std::size_t i = 0; i < 16; ++i)
    right = right && word(0, i) == expected.x && word(3, i) == expected.workspace + tickets_bytes;
  ++counter;
  expected.second = !expected.second;
  kernels.fetch_add(1, std::memory_order_relaxed);
  if (!right) mismatches.fetch_add(1, std::memory_order_relaxed);
}

LaunchPlan two_kernels() {
  const auto map_of = [](int buffer) {
    return TensorMapArgument{buffer, 0, DType::bf16, {{64, 0, 64}, {32, 128, 32}}, Swizzle::span_128};
  };
  LaunchPlan plan;
  plan.buffers = {{"x", BufferKind::input, DType::bf16, 0, 16, false},
                  {"tickets", BufferKind::counter, DType::u64, tickets_bytes, 8, true},
                  {"partial", BufferKind::scratch, DType::bf16, partial_bytes, 128, false},
                  {"y", BufferKind::output, DType::f32, 0, 16, false}};
  plan.scalars = {{"a", DType::f64}};
  for (int i = 0; i < 2; ++i) {
    KernelStep kernel;
    kernel.entry = "k";
    kernel.cluster = kernel.grid = {2, 1, 1};
    kernel.arguments = {map_of(0), ScalarArgument{0}, PointerArgument{1, 0}, map_of(2),
                        PointerArgument{3, 0}};
    plan.steps.emplace_back(kernel);
  }
  return plan;
}

TEST(ConcurrentLaunch, GivesEveryThreadItsOwnArguments) {
  fakes::FakeDriverState& state = reset_fake_driver();
  const auto gpu = open_fake_gpu();
  const std::vector<std::shared_ptr<const Module>> modules = {gpu->load(fake_artifact("k", 5)).value()};
  const auto prepared = gpu->prepare(two_kernels(), modules, {}).value();
  ASSERT_EQ(prepared->workspace_bytes(), tickets_bytes + partial_bytes);
  state.run_kernel = run_kernel;
  kernels = mismatches = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      const bool own_workspace = t % 2 == 0;  // the others let the launch take one
      const Address workspace = own_workspace ? gpu->allocate(prepared->workspace_bytes()).value() : 0;
      for (std::uint64_t i = 0; i < launches_each; ++i) {
        expected = {(t + 1) << 32 | i << 8, (t + 1) << 40 | i << 8, workspace, t * launches_each + i, false};
        const Address buffers[] = {expected.x, 0, 0, expected.y};
        const std::uint64_t scalars[] = {expected.scalar};
        if (!prepared->launch({buffers, scalars, {workspace, false}}, {}).ok()) ++failures;
      }
      if (own_workspace) gpu->free(workspace);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(kernels, static_cast<int>(2 * thread_count * launches_each));
  EXPECT_EQ(mismatches, 0);
  EXPECT_TRUE(state.allocations.empty());
  reset_fake_driver();
}

}  // namespace
}  // namespace einkern::runtime::cuda
