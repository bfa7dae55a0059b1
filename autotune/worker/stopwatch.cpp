#include "autotune/worker/stopwatch.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "autotune/worker/elements.h"
#include "autotune/worker/values.h"

namespace einkern::autotune::worker {
namespace {

/// On a CPU, whose caches nobody flushes, short kernels run back to back until a sample lasts this long.
constexpr double least_sample_seconds = 50e-6;
constexpr int most_repetitions = 256;

/// Fisher and Yates: std::shuffle gives other orders in other libraries.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace

core::Result<void> launch_kernel(const LoadedKernel& kernel, const std::vector<runtime::Address>& addresses,
                                 runtime::Workspace workspace, runtime::Stream stream) {
  std::vector<runtime::Address> buffers;
  for (const int tensor : kernel.tensors)
    buffers.push_back(tensor < 0 ? 0 : addresses[static_cast<std::size_t>(tensor)]);
  return kernel.launch->launch({.buffers = buffers, .scalars = kernel.scalars, .workspace = workspace},
                               stream);
}

Stopwatch::~Stopwatch() {
  for (const runtime::Address address : allocations_) device_.free(address);
  if (workspace_ != 0) device_.free(workspace_);
  if (flush_workspace_ != 0) device_.free(flush_workspace_);
}

core::Result<void> Stopwatch::fill(const Problem& problem) {
  if (begin_) return {};
  for (const ProblemTensor& tensor : problem.tensors) {
    std::vector<char> image(static_cast<std::size_t>(tensor.first_byte + span_bytes(tensor)));
    fill_elements(tensor, Filling::uniform, image.data() + tensor.first_byte);
    EINKERN_TRY(const runtime::Address memory, device_.allocate(static_cast<std::int64_t>(image.size())));
    allocations_.push_back(memory);
    addresses_.push_back(memory + static_cast<runtime::Address>(tensor.first_byte));
    EINKERN_CHECK_OK(
        device_.copy_to_device(memory, image.data(), static_cast<std::int64_t>(image.size()), stream_));
  }
  EINKERN_TRY(begin_, device_.create_event());
  EINKERN_TRY(end_, device_.create_event());
  return {};
}

core::Result<void> Stopwatch::make_room(const LoadedKernel& kernel, runtime::Address& workspace,
                                        std::int64_t& held) {
  const std::int64_t bytes = kernel.launch->workspace_bytes();
  if (bytes <= held) return {};
  if (workspace != 0) device_.free(std::exchange(workspace, 0));
  held = 0;
  EINKERN_TRY(workspace, device_.allocate(bytes));
  held = bytes;
  return device_.fill(workspace, 0, bytes, stream_);
}

core::Result<double> Stopwatch::time_once(const LoadedKernel& kernel, const LoadedKernel* flush,
                                          int repetitions) {
  if (flush != nullptr)
    EINKERN_CHECK_OK(launch_kernel(*flush, {}, {.address = flush_workspace_, .prepared = true}, stream_));
  EINKERN_CHECK_OK(begin_->record(stream_));
  for (int i = 0; i < repetitions; ++i)
    EINKERN_CHECK_OK(launch_kernel(kernel, addresses_, {.address = workspace_}, stream_));
  EINKERN_CHECK_OK(end_->record(stream_));
  EINKERN_CHECK_OK(end_->synchronize());
  EINKERN_TRY(const double seconds, end_->seconds_since(*begin_));
  return seconds / repetitions;
}

core::Result<std::vector<std::vector<double>>> Stopwatch::time(
    const std::vector<const LoadedKernel*>& kernels, const LoadedKernel* flush, const Time& request) {
  const bool on_host = device_.facts().backend == core::Backend::cpu;
  if (flush != nullptr) EINKERN_CHECK_OK(make_room(*flush, flush_workspace_, flush_workspace_bytes_));
  std::vector<int> repetitions;
  for (const LoadedKernel* kernel : kernels) {
    EINKERN_CHECK_OK(make_room(*kernel, workspace_, workspace_bytes_));
    EINKERN_TRY(double warm, time_once(*kernel, nullptr, 1));  // the first launch of a kernel loads its code
    if (on_host && warm < least_sample_seconds) {
      EINKERN_TRY(warm, time_once(*kernel, nullptr, 1));
    }
    const double fitting = least_sample_seconds / std::max(warm, 1e-9);
    repetitions.push_back(on_host ? static_cast<int>(std::clamp<double>(fitting, 1, most_repetitions)) : 1);
  }
  std::vector<std::vector<double>> samples(kernels.size());
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(request.seed);
  for (int round = 0; round < request.rounds; ++round) {
    shuffle(order, random);
    for (const std::size_t i : order) {
      EINKERN_TRY(const double seconds, time_once(*kernels[i], flush, repetitions[i]));
      samples[i].push_back(seconds);
    }
  }
  return samples;
}

}  // namespace einkern::autotune::worker
