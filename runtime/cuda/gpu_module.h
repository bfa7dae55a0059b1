// Machine code or PTX loaded by the driver.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/artifact.h"
#include "core/device_facts.h"
#include "core/result.h"
#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace einkern::runtime::cuda {

/// A library of the driver, which belongs to no context, so that one module serves whichever context a caller
/// uses.
class GpuModule final : public Module {
 public:
  /// `artifact.entries` names the entries to find; what they use is read from the loaded code, since the
  /// compiler's log may be empty, but for spills, which only the log has. With no entries named, `find` finds
  /// them.
  static core::Result<std::shared_ptr<const GpuModule>> load(std::shared_ptr<PrimaryContext> context,
                                                             const core::DeviceFacts& facts,
                                                             const core::Artifact& artifact);
  ~GpuModule() override;
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;

  const std::map<std::string, core::EntryResources>& entries() const override { return entries_; }

  struct Kernel {
    KernelHandle handle = nullptr;
    core::EntryResources resources;
    int max_threads_per_block = 0;  // as its registers allow
  };
  /// A usage error names the entry that is missing.
  core::Result<Kernel> find(const std::string& entry) const;
  /// Bytes of each parameter of a kernel, in order; nothing if the driver cannot tell (before CUDA 12.4).
  std::optional<std::vector<std::size_t>> parameter_sizes(const Kernel& kernel) const;
  /// Allows `bytes` of dynamic shared memory; an error tells the device's limit. Thread-safe.
  core::Result<void> allow_shared_memory(const std::string& entry, const Kernel& kernel,
                                         std::int64_t bytes) const;
  /// Allows clusters of more than the 8 blocks that every device can run.
  core::Result<void> allow_large_clusters(const std::string& entry, const Kernel& kernel) const;

 private:
  GpuModule(std::shared_ptr<PrimaryContext> context, std::int64_t shared_limit, LibraryHandle library)
      : context_(std::move(context)), shared_limit_(shared_limit), library_(library) {}

  std::shared_ptr<PrimaryContext> context_;
  std::int64_t shared_limit_;
  LibraryHandle library_;
  std::map<std::string, core::EntryResources> entries_;
};

}  // namespace einkern::runtime::cuda
