// The real thing: a kernel compiled, loaded and launched on a GPU, alone and captured. Skipped where there is
// none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <thread>

#include "runtime/cuda/gpu_device.h"

namespace einkern::runtime::cuda {
namespace {

using namespace core;
using testing::HasSubstr;

constexpr const char* source = R"(
struct ek_divisor { unsigned divisor, multiplier, shift; };
// y[i] = a * x[i / d] + y[i], and counts its blocks
extern "C" __global__ void spread(const float* x, float* y, float a, ek_divisor d, long long n, unsigned* blocks) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = (__umulhi(i, d.multiplier) + i) >> d.shift;
  if (i < n) y[i] = a * x[row] + y[i];
  if (threadIdx.x == 0) atomicAdd(blocks, 1u);
}
extern "C" __global__ void large_tile(float* y) {
  extern __shared__ float tile[];
  tile[threadIdx.x * 192] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = tile[(255 - threadIdx.x) * 192];
}
extern "C" __global__ void fault(float* y) { *(volatile float*)16 = y[0]; }
)";

SizeExpression dim(const char* name) { return SizeExpression::symbol(name); }

class DeviceGpu : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = process_devices();
    if (!devices.ok()) GTEST_SKIP() << devices.error().message;
    if (!process_nvrtc().ok()) GTEST_SKIP() << "no NVRTC here";
    gpu_ = devices->front();
    Emission emission;
    emission.source = source;
    emission.entries = {"spread", "large_tile", "fault"};
    const auto artifact = gpu_->compile(emission);
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    const auto module = gpu_->load(*artifact);
    ASSERT_TRUE(module.ok()) << module.error().message;
    module_ = *module;
    stream_ = gpu_->create_stream().value();
  }
  void TearDown() override {
    if (gpu_) gpu_->destroy_stream(stream_);
  }

  LaunchPlan spread_plan() const {
    LaunchPlan plan;
    plan.buffers = {{"x", BufferKind::input, DType::f32, 0, 4, false},
                    {"y", BufferKind::inout, DType::f32, 0, 4, false},
                    {"blocks", BufferKind::counter, DType::u32, 4, 4, true}};
    plan.scalars = {{"a", DType::f32}};
    KernelStep step;
    step.entry = "spread";
    step.grid[0] = ceil_divide(dim("N"), 256);
    step.block[0] = 256;
    step.arguments = {PointerArgument{0, 0},     PointerArgument{1, 0},     ScalarArgument{0},
                      DivisorArgument{dim("D")}, SizeArgument{dim("N"), 8}, PointerArgument{2, 0}};
    plan.steps = {step};
    return plan;
  }
  std::shared_ptr<const PreparedLaunch> prepare(std::int64_t n, std::int64_t d) {
    return gpu_->prepare(spread_plan(), std::span(&module_, 1), {{"N", n}, {"D", d}}).value();
  }
  Address upload(const std::vector<float>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
    const Address address = gpu_->allocate(bytes).value();
    EXPECT_TRUE(gpu_->copy_to_device(address, values.data(), bytes, stream_).ok());
    return address;
  }
  std::vector<float> download(Address address, std::size_t count) {
    std::vector<float> values(count);
    EXPECT_TRUE(
        gpu_->copy_to_host(values.data(), address, static_cast<std::int64_t>(count * sizeof(float)), stream_)
            .ok());
    return values;
  }

  std::shared_ptr<GpuDevice> gpu_;
  std::shared_ptr<const Module> module_;
  Stream stream_;
};

TEST_F(DeviceGpu, TellsItsFacts) {
  const DeviceFacts& facts = gpu_->facts();
  EXPECT_GT(facts.multiprocessors, 0);
  EXPECT_GE(facts.compute_capability, 75);
  EXPECT_GT(facts.memory_bytes, std::int64_t{1} << 30);
  EXPECT_GT(gpu_->free_memory().value(), 0);
  EXPECT_GT(module_->entries().at("spread").registers, 0);
  EXPECT_GE(gpu_->active_blocks(*module_, "spread", 256, 0).value(), 1);
  EXPECT_EQ(device_of(stream_).value(), gpu_);
  const Address memory = gpu_->allocate(16).value();
  EXPECT_EQ(device_of(memory).value(), gpu_);
  gpu_->free(memory);
}

TEST_F(DeviceGpu, LaunchesAPreparedPlan) {
  constexpr std::int64_t n = 10007, d = 7;
  std::vector<float> x((n + d - 1) / d), y(n);
  std::iota(x.begin(), x.end(), 1.0f);
  std::iota(y.begin(), y.end(), -5.0f);
  const Address buffers[] = {upload(x), upload(y), 0};
  const std::uint64_t scalars[] = {std::bit_cast<std::uint32_t>(3.0f)};
  ASSERT_TRUE(prepare(n, d)->launch({buffers, scalars, {}}, stream_).ok());
  const std::vector<float> result = download(buffers[1], n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 3 * x[i / d] + y[i]) << i;
  gpu_->free(buffers[0]);
  gpu_->free(buffers[1]);
}

TEST_F(DeviceGpu, ZeroesCountersAtEveryLaunch) {
  const auto prepared = prepare(1024, 3);
  const Address workspace = gpu_->allocate(prepared->workspace_bytes()).value();
  const Address buffers[] = {upload(std::vector<float>(512)), upload(std::vector<float>(1024)), 0};
  const std::uint64_t scalars[] = {0};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(prepared->launch({buffers, scalars, {workspace, false}}, stream_).ok());
  std::uint32_t blocks = 0;
  ASSERT_TRUE(gpu_->copy_to_host(&blocks, workspace, 4, stream_).ok());
  EXPECT_EQ(blocks, 4u);
}

TEST_F(DeviceGpu, LaunchesFromManyThreads) {
  const auto prepared = prepare(4096, 4);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      const Stream own = gpu_->create_stream().value();
      const Address buffers[] = {upload(std::vector<float>(1024, 1.0f)),
                                 upload(std::vector<float>(4096, 0.0f)), 0};
      const std::uint64_t scalars[] = {std::bit_cast<std::uint32_t>(static_cast<float>(t + 1))};
      ASSERT_TRUE(gpu_->synchronize(stream_).ok());
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(prepared->launch({buffers, scalars, {}}, own).ok());
      ASSERT_TRUE(gpu_->synchronize(own).ok());
      results[t] = download(buffers[1], 4096);
      gpu_->destroy_stream(own);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < results.size(); ++t)
    EXPECT_EQ(results[t], std::vector<float>(4096, 100.0f * static_cast<float>(t + 1)));
}

TEST_F(DeviceGpu, IsCapturedIntoAGraph) {
  const auto prepared = prepare(1024, 1);
  const Address workspace = gpu_->allocate(prepared->workspace_bytes()).value();
  const Address buffers[] = {upload(std::vector<float>(1024, 2.0f)), upload(std::vector<float>(1024, 0.0f)),
                             0};
  const std::uint64_t scalars[] = {std::bit_cast<std::uint32_t>(1.0f)};
  const Driver& driver = gpu_->driver();
  const auto handle = static_cast<StreamHandle>(stream_.handle);
  const auto scope = ContextScope::enter(gpu_->context());  // graphs are made in the current context
  ASSERT_TRUE(scope.ok());
  ASSERT_EQ(driver.stream_begin_capture(handle, capture_mode_thread_local), success);
  EXPECT_TRUE(gpu_->is_capturing(stream_).value());
  EXPECT_FALSE(prepared->launch({buffers, scalars, {}}, stream_).ok()) << "it would have to allocate";
  ASSERT_TRUE(prepared->launch({buffers, scalars, {workspace, false}}, stream_).ok());
  GraphHandle graph = nullptr;
  ASSERT_EQ(driver.stream_end_capture(handle, &graph), success);
  GraphExecutionHandle execution = nullptr;
  ASSERT_EQ(driver.graph_instantiate(&execution, graph, 0), success);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(driver.graph_launch(execution, handle), success);
  EXPECT_EQ(download(buffers[1], 1024), std::vector<float>(1024, 6.0f));
  driver.graph_execution_destroy(execution);
  driver.graph_destroy(graph);
}

TEST_F(DeviceGpu, RecordsLaunchesAsOneGraph) {
  const auto prepared = prepare(1024, 1);
  const Address workspace = gpu_->allocate(prepared->workspace_bytes()).value();
  const Address buffers[] = {upload(std::vector<float>(1024, 2.0f)), upload(std::vector<float>(1024, 0.0f)),
                             0};
  const std::uint64_t scalars[] = {std::bit_cast<std::uint32_t>(1.0f)};
  const auto graph = gpu_->record(stream_, [&]() -> core::Result<void> {
    for (int i = 0; i < 5; ++i)
      EINKERN_CHECK_OK(prepared->launch({buffers, scalars, {workspace, false}}, stream_));
    return {};
  });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(download(buffers[1], 1024), std::vector<float>(1024, 0.0f)) << "recorded, not run";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE((*graph)->launch(stream_).ok());
  EXPECT_EQ(download(buffers[1], 1024), std::vector<float>(1024, 20.0f));
}

TEST_F(DeviceGpu, UsesLargeSharedMemory) {
  const Address y = upload(std::vector<float>(256));
  LaunchGeometry geometry;
  geometry.block[0] = 64;
  geometry.shared_bytes = 48 * 1024;
  if (gpu_->facts().shared_bytes_per_block >= 192 * 1024) {
    geometry.block[0] = 256;
    geometry.shared_bytes = 192 * 1024;
  }
  Address parameter = y;
  const ParameterValue parameters[] = {ParameterValue::of(parameter)};
  if (geometry.block[0] == 256) {
    const auto launched = gpu_->launch(*module_, "large_tile", geometry, parameters, stream_);
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    EXPECT_EQ(download(y, 256)[10], 245.0f);
  }
  geometry.shared_bytes = gpu_->facts().shared_bytes_per_block + 1;
  EXPECT_THAT(gpu_->launch(*module_, "large_tile", geometry, parameters, stream_).error().message,
              HasSubstr("shared memory"));
}

TEST_F(DeviceGpu, MeasuresTime) {
  const auto start = gpu_->create_event().value(), end = gpu_->create_event().value();
  const Address memory = gpu_->allocate(64 << 20).value();
  ASSERT_TRUE(start->record(stream_).ok());
  ASSERT_TRUE(gpu_->fill(memory, 1, 64 << 20, stream_).ok());
  ASSERT_TRUE(end->record(stream_).ok());
  ASSERT_TRUE(end->synchronize().ok());
  const double seconds = end->seconds_since(*start).value();
  EXPECT_GT(seconds, 1e-6);
  EXPECT_LT(seconds, 1.0);
  gpu_->free(memory);
}

TEST_F(DeviceGpu, RunsOutOfMemoryWithAnAnswer) {
  const auto memory = gpu_->allocate(std::int64_t{1} << 50);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().kind, ErrorKind::device);
  EXPECT_THAT(memory.error().message, HasSubstr("nvidia-smi"));
  const auto in_order = gpu_->allocate_in_order(std::int64_t{1} << 50, stream_);
  EXPECT_FALSE(in_order.ok());
  EXPECT_TRUE(gpu_->allocate(1 << 20).ok()) << "and goes on";
}

TEST_F(DeviceGpu, LeavesTheCurrentContextAsFound) {
  ContextHandle before = nullptr, after = nullptr;
  gpu_->driver().context_get_current(&before);
  ASSERT_TRUE(gpu_->synchronize(stream_).ok());
  gpu_->driver().context_get_current(&after);
  EXPECT_EQ(before, after);
}

// A fault ends the CUDA context, so this runs in a process of its own.
TEST_F(DeviceGpu, TellsThatAKernelFaulted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        float* nothing = nullptr;
        const ParameterValue parameters[] = {ParameterValue::of(nothing)};
        const bool queued = gpu_->launch(*module_, "fault", {}, parameters, stream_).ok();
        const auto waited = gpu_->synchronize(stream_);
        std::fprintf(stderr, "%s\n", waited.ok() ? "no error" : waited.error().message.c_str());
        std::_Exit(queued && !waited.ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "restart the process");
}

}  // namespace
}  // namespace einkern::runtime::cuda
