#include "autotune/flush.h"

#include <algorithm>

namespace einkern::autotune {
namespace {

constexpr std::int64_t least_bytes = 192 << 20;
constexpr std::int64_t hold_cycles = 50'000;  // some 30 µs: an event and a launch take the host 10
constexpr int threads = 256, blocks_a_multiprocessor = 8;

// The buffer is zero, so nothing is ever written; the compiler cannot know that and keeps the loads.
constexpr const char* source = R"(// Reads `count` vectors of 16 bytes.
extern "C" __global__ void __launch_bounds__(256) ek_flush(const uint4* __restrict__ data,
                                                           unsigned int* __restrict__ sink, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  unsigned int seen = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 vector = data[i];
    seen |= vector.x | vector.y | vector.z | vector.w;
  }
  if (seen != 0) *sink = seen;
}
// Holds the stream while the host queues what is timed, so that no launch is timed with it.
extern "C" __global__ void ek_hold(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
)";

}  // namespace

core::Emission flush_emission(const core::DeviceFacts& device) {
  const std::int64_t bytes = std::max(least_bytes, 4 * device.l2_bytes) / 16 * 16;
  core::Emission emission{
      .language = core::SourceLanguage::cuda, .source = source, .entries = {"ek_flush", "ek_hold"}};
  emission.launch.buffers = {
      {.name = "flush.data", .dtype = DType::u32, .bytes = bytes, .zero_on_creation = true},
      {.name = "flush.sink", .dtype = DType::u32, .bytes = 16, .zero_on_creation = true}};
  emission.launch.steps = {
      core::KernelStep{.entry = "ek_flush",
                       .grid = {core::SizeExpression::symbol("sm_count") * blocks_a_multiprocessor, 1, 1},
                       .block = {threads, 1, 1},
                       .arguments = {core::PointerArgument{0, 0}, core::PointerArgument{1, 0},
                                     core::SizeArgument{bytes / 16, 8}}},
      core::KernelStep{.entry = "ek_hold", .arguments = {core::SizeArgument{hold_cycles, 8}}}};
  return emission;
}

}  // namespace einkern::autotune
