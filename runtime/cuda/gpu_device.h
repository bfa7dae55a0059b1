// An NVIDIA GPU as a Device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/gpu_launch.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/device.h"

namespace einkern::runtime::cuda {

/// Gives the NVRTC to compile with; `process_nvrtc` but in tests.
using NvrtcSource = core::Result<std::shared_ptr<const Nvrtc>> (*)();

class GpuDevice final : public Device, public std::enable_shared_from_this<GpuDevice> {
 public:
  GpuDevice(std::shared_ptr<const Driver> driver, DeviceOrdinal ordinal, core::DeviceFacts facts,
            NvrtcSource nvrtc);
  ~GpuDevice() override;

  const core::DeviceFacts& facts() const override { return facts_; }
  core::Result<Address> allocate(std::int64_t bytes) override;
  void free(Address address) override;
  core::Result<Address> allocate_in_order(std::int64_t bytes, Stream stream) override;
  void free_in_order(Address address, Stream stream) override;
  core::Result<std::int64_t> free_memory() override;
  core::Result<void> copy_to_device(Address to, const void* from, std::int64_t bytes, Stream stream) override;
  core::Result<void> copy_to_host(void* to, Address from, std::int64_t bytes, Stream stream) override;
  core::Result<void> copy(Address to, Address from, std::int64_t bytes, Stream stream) override;
  core::Result<void> fill(Address to, std::uint8_t byte, std::int64_t bytes, Stream stream) override;
  core::Result<Stream> create_stream() override;
  void destroy_stream(Stream stream) override;
  core::Result<void> synchronize(Stream stream) override;
  core::Result<bool> is_capturing(Stream stream) override;
  core::Result<std::unique_ptr<Graph>> record(Stream stream,
                                              const std::function<core::Result<void>()>& work) override;
  core::Result<std::unique_ptr<Event>> create_event() override;
  std::string compiler_version() const override;
  core::Result<core::Artifact> compile(const core::Emission& emission) const override;
  core::Result<std::shared_ptr<const Module>> load(const core::Artifact& artifact) override;
  core::Result<std::shared_ptr<const PreparedLaunch>> prepare(
      const core::LaunchPlan& plan, std::span<const std::shared_ptr<const Module>> modules,
      const core::SymbolValues& symbols) override;

  /// Bytes of each parameter of an entry, in order; nothing if the driver cannot tell (before CUDA 12.4).
  core::Result<std::optional<std::vector<std::size_t>>> parameter_sizes(const Module& module,
                                                                        const std::string& entry);
  /// Launches one kernel of a module of this device, without a plan. How many parameters the kernel takes and
  /// the bytes of each are compared with `parameters` where the driver can tell; the error, of kind usage,
  /// names both. A grid with an empty dimension is not launched.
  core::Result<void> launch(const Module& module, const std::string& entry, const LaunchGeometry& geometry,
                            std::span<const ParameterValue> parameters, Stream stream);
  /// The compiler of this device's code.
  core::Result<std::shared_ptr<const Nvrtc>> compiler() const { return nvrtc_(); }
  /// Blocks of a kernel that fit a multiprocessor at once.
  core::Result<int> active_blocks(const Module& module, const std::string& entry, int threads,
                                  std::int64_t dynamic_shared_bytes);
  DeviceOrdinal ordinal() const { return context_->device(); }
  const Driver& driver() const { return context_->driver(); }
  PrimaryContext& context() { return *context_; }

 private:
  core::Result<PoolHandle> pool();

  std::shared_ptr<PrimaryContext> context_;
  core::DeviceFacts facts_;
  NvrtcSource nvrtc_;
  std::mutex pool_mutex_;
  PoolHandle pool_ = nullptr;  // guarded by pool_mutex_
};

/// Facts of a GPU as its driver tells them, and conservative rates from its clocks until they are measured.
core::Result<core::DeviceFacts> read_facts(const Driver& driver, DeviceOrdinal device);

/// The GPUs of a driver, in its order.
core::Result<std::vector<std::shared_ptr<GpuDevice>>> open_devices(std::shared_ptr<const Driver> driver,
                                                                   NvrtcSource nvrtc = process_nvrtc);

/// The process's GPUs, the same objects at every call. An error, of kind device, if there is no driver or no
/// GPU.
core::Result<std::vector<std::shared_ptr<GpuDevice>>> process_devices();

/// The GPU that a stream belongs to; the current context's for the default stream, GPU 0 if there is none.
core::Result<std::shared_ptr<GpuDevice>> device_of(Stream stream);
/// The GPU that holds an address; an error for an address that CUDA does not know.
core::Result<std::shared_ptr<GpuDevice>> device_of(Address address);

}  // namespace einkern::runtime::cuda
