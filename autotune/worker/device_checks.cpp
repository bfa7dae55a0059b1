#include "autotune/worker/device_checks.h"

#include <algorithm>
#include <bit>

#include "autotune/check_kernels.h"
#include "core/launch_plan.h"

namespace einkern::autotune::worker {
namespace {

constexpr std::int64_t most_blocks = 2048, elements_a_thread = 16;

std::int64_t blocks_for(std::int64_t elements) {
  return std::clamp<std::int64_t>(elements / (check_threads * elements_a_thread), 1, most_blocks);
}

}  // namespace

std::uint64_t word(double value) { return std::bit_cast<std::uint64_t>(value); }

core::Result<std::unique_ptr<DeviceChecks>> DeviceChecks::load(const core::Artifact& artifact,
                                                               runtime::Device& device,
                                                               runtime::Stream stream) {
  std::unique_ptr<DeviceChecks> checks(new DeviceChecks(device, stream));
  EINKERN_TRY(checks->module_, device.load(artifact));
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(ElementFindings) + sizeof(std::uint64_t));
  EINKERN_TRY(checks->results_, DeviceMemory::allocate(device, most_blocks * bytes));
  return checks;
}

core::Result<void> DeviceChecks::run(const std::string& entry, const std::vector<runtime::Address>& addresses,
                                     const std::vector<std::uint64_t>& words, std::size_t count_word) const {
  core::LaunchPlan plan;
  core::KernelStep step{.entry = entry,
                        .grid = {blocks_for(static_cast<std::int64_t>(words[count_word])), 1, 1},
                        .block = {check_threads, 1, 1}};
  for (int i = 0; i < static_cast<int>(addresses.size()); ++i) {
    plan.buffers.push_back({.kind = core::BufferKind::inout});
    step.arguments.emplace_back(core::PointerArgument{i, 0});
  }
  for (int i = 0; i < static_cast<int>(words.size()); ++i) {
    plan.scalars.push_back({.dtype = DType::u64});
    step.arguments.emplace_back(core::ScalarArgument{i});
  }
  plan.steps.emplace_back(std::move(step));
  const std::vector<std::shared_ptr<const runtime::Module>> modules = {module_};
  EINKERN_TRY(const auto launch, device_.prepare(plan, modules, {}));
  return launch->launch({.buffers = addresses, .scalars = words}, stream_);
}

core::Result<CheckResult> DeviceChecks::judge(const std::string& entry,
                                              std::vector<runtime::Address> addresses,
                                              const std::vector<std::uint64_t>& words,
                                              std::size_t count_word) const {
  const auto blocks = static_cast<std::size_t>(blocks_for(static_cast<std::int64_t>(words[count_word])));
  const runtime::Address findings_at = results_.address();
  const runtime::Address fingerprints_at = findings_at + most_blocks * sizeof(ElementFindings);
  addresses.push_back(findings_at);
  addresses.push_back(fingerprints_at);
  EINKERN_CHECK_OK(run(entry, addresses, words, count_word));
  std::vector<ElementFindings> findings(blocks);
  std::vector<std::uint64_t> sums(blocks);
  const auto fetch = [&](auto& into, runtime::Address from) {
    return device_.copy_to_host(into.data(), from, static_cast<std::int64_t>(blocks * sizeof into[0]),
                                stream_);
  };
  EINKERN_CHECK_OK(fetch(findings, findings_at));
  EINKERN_CHECK_OK(fetch(sums, fingerprints_at));
  CheckResult all;
  for (std::size_t block = 0; block < blocks; ++block) {
    merge_findings(all.findings, findings[block]);
    all.fingerprint += sums[block];
  }
  return all;
}

}  // namespace einkern::autotune::worker
