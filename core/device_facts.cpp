#include "core/device_facts.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace einkern::core {
namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// Limits: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability". Boards:
/// NVIDIA's data sheets, with f32, f64 and dense tensor rates as printed there. Copy rates are the data
/// sheet's bandwidth; einkern takes 0.85 of it until the device is measured (an H200 of 4.8 TB/s copies
/// at 4.27).
struct ArchitectureRow {
  int compute_capability;
  std::string_view suffix;  // of the code that uses all of the device's instructions
  std::string_view board;
  int multiprocessors, threads_per_multiprocessor, blocks_per_multiprocessor;
  std::int64_t shared_per_multiprocessor;  // a block may have 1 KiB less, from 8.0 on
  std::int64_t l2_bytes, memory_bytes;
  double bandwidth, f32_flops, f64_flops, tensor16_flops;
};

constexpr std::array<ArchitectureRow, 10> rows = {{
    {75, "", "Tesla T4", 40, 1024, 16, 64 * KiB, 4 * MiB, 15 * GiB, 320e9, 8.1e12, 0.25e12, 65e12},
    {80, "", "A100 40GB", 108, 2048, 32, 164 * KiB, 40 * MiB, 40 * GiB, 1555e9, 19.5e12, 9.7e12, 312e12},
    {86, "", "GeForce RTX 3090", 82, 1536, 16, 100 * KiB, 6 * MiB, 24 * GiB, 936e9, 35.6e12, 0.56e12, 71e12},
    {87, "", "Jetson AGX Orin", 16, 1536, 16, 164 * KiB, 4 * MiB, 32 * GiB, 204e9, 5.3e12, 0.083e12, 0},
    {89, "", "GeForce RTX 4090", 128, 1536, 24, 100 * KiB, 72 * MiB, 24 * GiB, 1008e9, 82.6e12, 1.29e12,
     165e12},
    {90, "a", "H200", 132, 2048, 32, 228 * KiB, 50 * MiB, 140 * GiB, 4800e9, 67e12, 34e12, 989e12},
    {100, "a", "B200", 148, 2048, 32, 228 * KiB, 126 * MiB, 180 * GiB, 8000e9, 75e12, 37e12, 2250e12},
    {103, "a", "B300", 148, 2048, 32, 228 * KiB, 126 * MiB, 270 * GiB, 8000e9, 77e12, 1.2e12, 2250e12},
    {120, "a", "GeForce RTX 5090", 170, 1536, 24, 100 * KiB, 96 * MiB, 32 * GiB, 1792e9, 104.8e12, 1.64e12,
     209e12},
    {121, "a", "GB10", 48, 1536, 24, 100 * KiB, 24 * MiB, 120 * GiB, 273e9, 31e12, 0.48e12, 0},
}};

std::string known_architectures() {
  std::string list;
  for (const ArchitectureRow& row : rows)
    list += fmt::format("{}sm_{}{}", list.empty() ? "" : ", ", row.compute_capability, row.suffix);
  return list;
}

}  // namespace

std::string architecture_name(int compute_capability) {
  return fmt::format("sm_{}{}", compute_capability, compute_capability >= 90 ? "a" : "");
}

Result<DeviceFacts> facts_of_architecture(std::string_view architecture) {
  std::string_view digits = architecture;
  if (digits.starts_with("sm_")) digits.remove_prefix(3);
  int capability = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), capability);
  const std::string_view suffix =
      status == std::errc() ? digits.substr(static_cast<std::size_t>(end - digits.data())) : "?";
  for (const ArchitectureRow& row : rows) {
    if (row.compute_capability != capability || !architecture.starts_with("sm_")) continue;
    if (!suffix.empty() && suffix != row.suffix) continue;
    DeviceFacts facts;
    facts.backend = Backend::cuda;
    facts.name = std::string(row.board);
    facts.architecture = std::string(architecture);
    facts.compute_capability = capability;
    facts.multiprocessors = row.multiprocessors;
    facts.max_threads_per_multiprocessor = row.threads_per_multiprocessor;
    facts.max_blocks_per_multiprocessor = row.blocks_per_multiprocessor;
    facts.shared_bytes_per_multiprocessor = row.shared_per_multiprocessor;
    facts.shared_bytes_per_block = row.shared_per_multiprocessor - (capability >= 80 ? KiB : 0);
    facts.l1_bytes = row.shared_per_multiprocessor;
    facts.l2_bytes = row.l2_bytes;
    facts.memory_bytes = row.memory_bytes;
    facts.copy_bytes_per_second = 0.85 * row.bandwidth;
    facts.launch_seconds = 3e-6;
    facts.f32_flops = row.f32_flops;
    facts.f64_flops = row.f64_flops;
    facts.tensor16_flops = row.tensor16_flops;
    return facts;
  }
  return Error{ErrorKind::usage,
               fmt::format("The architecture '{}' is not known. Known are {}, each also without its letter.",
                           architecture.substr(0, 40), known_architectures())};
}

}  // namespace einkern::core
