// The kernels of check_kernels.h, loaded: what they need of a tensor as arguments, what they leave as one
// verdict.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autotune/element_rule.h"
#include "autotune/worker/device_memory.h"
#include "core/artifact.h"
#include "core/result.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

/// What all blocks have seen together.
struct CheckResult {
  ElementFindings findings = no_findings();
  std::uint64_t fingerprint = 0;
};

class DeviceChecks {
 public:
  static core::Result<std::unique_ptr<DeviceChecks>> load(const core::Artifact& artifact,
                                                          runtime::Device& device, runtime::Stream stream);
  DeviceChecks(const DeviceChecks&) = delete;
  DeviceChecks& operator=(const DeviceChecks&) = delete;

  /// Queues an entry that leaves nothing. `words`: the arguments after the addresses, the bits of each; the
  /// one at `count_word` is the number of elements.
  core::Result<void> run(const std::string& entry, const std::vector<runtime::Address>& addresses,
                         const std::vector<std::uint64_t>& words, std::size_t count_word) const;
  /// Runs one that takes the places of its results after the addresses, and waits.
  core::Result<CheckResult> judge(const std::string& entry, std::vector<runtime::Address> addresses,
                                  const std::vector<std::uint64_t>& words, std::size_t count_word) const;

 private:
  DeviceChecks(runtime::Device& device, runtime::Stream stream) : device_(device), stream_(stream) {}

  runtime::Device& device_;
  runtime::Stream stream_;
  std::shared_ptr<const runtime::Module> module_;
  DeviceMemory results_;  // one ElementFindings a block, then one fingerprint a block
};

/// The bits of an argument.
inline std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::uint64_t word(double value);

}  // namespace einkern::autotune::worker
