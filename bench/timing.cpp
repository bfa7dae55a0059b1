#include "bench/timing.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/cuda/gpu_device.h"

namespace einkern::bench {
namespace {

constexpr std::int64_t flushed_bytes = std::int64_t{192} << 20;

constexpr const char* source = R"(
// Reads the whole buffer; the sum is stored only if it has a value that it cannot have, so that the reads stay.
extern "C" __global__ void read_all(const float4* from, long long count, float* never) {
  float sum = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
    const float4 v = from[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.2345e30f) *never = sum;
}
// Holds the stream for a while, so that what is queued behind it is queued before it can start.
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
)";

class GpuColdCache final : public ColdCache {
 public:
  explicit GpuColdCache(runtime::cuda::GpuDevice& device) : device_(device) {}
  ~GpuColdCache() override {
    if (buffer_) device_.free(buffer_);
  }

  core::Result<void> load() {
    EINKERN_TRY(const auto nvrtc, runtime::cuda::process_nvrtc());
    EINKERN_TRY(const core::Artifact artifact,
                runtime::cuda::compile_cuda(*nvrtc, {.text = source,
                                                     .name = "flush.cu",
                                                     .architecture = device_.facts().architecture,
                                                     .options = {}}));
    EINKERN_TRY(module_, device_.load(artifact));
    EINKERN_TRY(buffer_, device_.allocate(flushed_bytes + 256));
    return device_.fill(buffer_, 0, flushed_bytes, {});
  }

  core::Result<void> prepare() override {
    runtime::Address from = buffer_, never = buffer_ + flushed_bytes;
    long long count = flushed_bytes / 16, cycles = 40000;
    using runtime::cuda::ParameterValue;
    const ParameterValue read[] = {ParameterValue::of(from), ParameterValue::of(count),
                                   ParameterValue::of(never)};
    EINKERN_CHECK_OK(
        device_.launch(*module_, "read_all", {.grid = {1056, 1, 1}, .block = {256, 1, 1}}, read, {}));
    const ParameterValue spin[] = {ParameterValue::of(cycles)};
    return device_.launch(*module_, "spin", {.grid = {1, 1, 1}, .block = {1, 1, 1}}, spin, {});
  }

 private:
  runtime::cuda::GpuDevice& device_;
  std::shared_ptr<const runtime::Module> module_;
  runtime::Address buffer_ = 0;
};

class NoColdCache final : public ColdCache {
 public:
  core::Result<void> prepare() override { return {}; }
};

}  // namespace

core::Result<std::unique_ptr<ColdCache>> ColdCache::make(runtime::Device& device) {
  auto* gpu = dynamic_cast<runtime::cuda::GpuDevice*>(&device);
  if (!gpu) return std::unique_ptr<ColdCache>(new NoColdCache());
  auto cache = std::make_unique<GpuColdCache>(*gpu);
  EINKERN_CHECK_OK(cache->load());
  return std::unique_ptr<ColdCache>(std::move(cache));
}

core::Result<std::vector<Time>> time_interleaved(runtime::Device& device, ColdCache& cache,
                                                 const std::vector<Contestant>& contestants, int rounds,
                                                 std::uint64_t seed) {
  EINKERN_TRY(const auto begin, device.create_event());
  EINKERN_TRY(const auto end, device.create_event());
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<double>> seconds(contestants.size());
  for (int round = -2; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t which : order) {
      EINKERN_CHECK_OK(cache.prepare());
      EINKERN_CHECK_OK(begin->record({}));
      EINKERN_CHECK_OK(contestants[which].run());
      EINKERN_CHECK_OK(end->record({}));
      EINKERN_CHECK_OK(end->synchronize());
      EINKERN_TRY(const double one, end->seconds_since(*begin));
      if (round >= 0) seconds[which].push_back(one);
    }
  }
  std::vector<Time> times;
  for (auto& samples : seconds) {
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    const double median = n > 0 ? samples[n / 2] : 0;
    times.push_back({median, median > 0 ? (samples[n * 3 / 4] - samples[n / 4]) / median : 0});
  }
  return times;
}

}  // namespace einkern::bench
