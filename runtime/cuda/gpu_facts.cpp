#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/cuda/gpu_device.h"

namespace einkern::runtime::cuda {
namespace {

using core::DeviceFacts;
using core::Result;

std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

/// Rates that the table has for the architecture's typical board, by this board's number of multiprocessors.
void add_rates(DeviceFacts& facts) {
  auto typical = core::facts_of_architecture(facts.architecture);
  if (!typical.ok()) typical = core::facts_of_architecture("sm_90a");
  const double share = static_cast<double>(facts.multiprocessors) / typical->multiprocessors;
  facts.copy_bytes_per_second = typical->copy_bytes_per_second * std::min(share, 1.0);
  facts.launch_seconds = typical->launch_seconds;
  facts.f32_flops = typical->f32_flops * share;
  facts.f64_flops = typical->f64_flops * share;
  facts.tensor16_flops = typical->tensor16_flops * share;
}

}  // namespace

Result<DeviceFacts> read_facts(const Driver& driver, DeviceOrdinal device) {
  DeviceFacts facts;
  facts.backend = core::Backend::cuda;
  facts.driver_version = driver.version;
  std::array<char, 256> name{};
  EINKERN_CHECK_OK(
      driver.check(driver.device_get_name(name.data(), name.size() - 1, device), "reading the GPU's name"));
  facts.name = name.data();
  Uuid uuid{};
  EINKERN_CHECK_OK(driver.check(driver.device_get_uuid(&uuid, device), "reading the GPU's identity"));
  facts.uuid = uuid_text(uuid);

  int major = 0, minor = 0, shared_block = 0, shared_multiprocessor = 0, l2 = 0;
  const std::array<std::pair<DeviceAttribute, int*>, 11> wanted = {{
      {compute_capability_major, &major},
      {compute_capability_minor, &minor},
      {multiprocessor_count, &facts.multiprocessors},
      {warp_size, &facts.warp_size},
      {max_threads_per_block, &facts.max_threads_per_block},
      {max_threads_per_multiprocessor, &facts.max_threads_per_multiprocessor},
      {max_blocks_per_multiprocessor, &facts.max_blocks_per_multiprocessor},
      {max_registers_per_multiprocessor, &facts.registers_per_multiprocessor},
      {max_shared_memory_per_block_optin, &shared_block},
      {max_shared_memory_per_multiprocessor, &shared_multiprocessor},
      {l2_cache_size, &l2},
  }};
  for (const auto& [attribute, value] : wanted)
    EINKERN_CHECK_OK(
        driver.check(driver.device_get_attribute(value, attribute, device), "reading the GPU's limits"));
  facts.compute_capability = 10 * major + minor;
  facts.architecture = core::architecture_name(facts.compute_capability);
  facts.shared_bytes_per_block = shared_block;
  facts.shared_bytes_per_multiprocessor = shared_multiprocessor;
  facts.l1_bytes = shared_multiprocessor;
  facts.l2_bytes = l2;
  std::size_t memory = 0;
  EINKERN_CHECK_OK(
      driver.check(driver.device_total_memory(&memory, device), "reading the GPU's memory size"));
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  add_rates(facts);
  return facts;
}

}  // namespace einkern::runtime::cuda
