// A GPU whose memory is the host's and whose kernels run there (tests/cuda/emulated_cuda.h), on a clock of
// its own: the worker's GPU half without a GPU.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace einkern::testing {

class EmulatedGpu final : public runtime::Device, public std::enable_shared_from_this<EmulatedGpu> {
 public:
  EmulatedGpu();
  const core::DeviceFacts& facts() const override { return facts_; }
  core::Result<runtime::Address> allocate(std::int64_t bytes) override;
  void free(runtime::Address address) override;
  core::Result<runtime::Address> allocate_in_order(std::int64_t bytes, runtime::Stream stream) override;
  void free_in_order(runtime::Address address, runtime::Stream stream) override;
  core::Result<std::int64_t> free_memory() override { return std::int64_t{1} << 30; }
  core::Result<void> copy_to_device(runtime::Address to, const void* from, std::int64_t bytes,
                                    runtime::Stream stream) override;
  core::Result<void> copy_to_host(void* to, runtime::Address from, std::int64_t bytes,
                                  runtime::Stream stream) override;
  core::Result<void> copy(runtime::Address to, runtime::Address from, std::int64_t bytes,
                          runtime::Stream stream) override;
  core::Result<void> fill(runtime::Address to, std::uint8_t byte, std::int64_t bytes,
                          runtime::Stream stream) override;
  core::Result<runtime::Stream> create_stream() override { return runtime::Stream{this}; }
  void destroy_stream(runtime::Stream) override {}
  core::Result<void> synchronize(runtime::Stream) override { return {}; }
  core::Result<bool> is_capturing(runtime::Stream) override { return recording_ != nullptr; }
  core::Result<std::unique_ptr<runtime::Graph>> record(
      runtime::Stream stream, const std::function<core::Result<void>()>& work) override;
  core::Result<std::unique_ptr<runtime::Event>> create_event() override;
  std::string compiler_version() const override { return "emulated"; }
  /// The code is the source.
  core::Result<core::Artifact> compile(const core::Emission& emission) const override;
  core::Result<std::shared_ptr<const runtime::Module>> load(const core::Artifact& artifact) override;
  core::Result<std::shared_ptr<const runtime::PreparedLaunch>> prepare(
      const core::LaunchPlan& plan, std::span<const std::shared_ptr<const runtime::Module>> modules,
      const core::SymbolValues& symbols) override;

  /// Runs it, or notes it where launches are recorded.
  core::Result<void> queue(std::function<core::Result<void>()> launch);

  double launch_seconds = 5e-6;  // by which the clock moves on at every launch
  double clock = 0;
  int launches = 0, graph_launches = 0;
  std::int64_t copied_to_host = 0;                       // bytes
  std::vector<std::vector<runtime::Address>> addresses;  // of the launches, in order

 private:
  core::DeviceFacts facts_;
  std::vector<std::function<core::Result<void>()>>* recording_ = nullptr;
};

}  // namespace einkern::testing
