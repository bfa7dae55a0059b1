// What is known of a device: read from the driver or the CPU, and measured once. Passed by value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace einkern::core {

enum class Backend { cpu, cuda, reference };

struct DeviceFacts {
  Backend backend = Backend::cpu;
  std::string name;            // "NVIDIA H200", "AMD EPYC …"
  std::string uuid;            // of the GPU; for a CPU its name and features hashed
  std::string architecture;    // "sm_90a"; for a CPU LLVM's CPU name
  std::string features;        // CPU: LLVM's feature string, negative entries included
  int compute_capability = 0;  // GPU: 90 for 9.0
  int multiprocessors = 0;     // GPU: SMs; CPU: worker threads
  int warp_size = 32;
  int max_threads_per_block = 1024;
  int max_threads_per_multiprocessor = 2048;
  int max_blocks_per_multiprocessor = 32;
  int registers_per_multiprocessor = 65536;
  int max_registers_per_thread = 255;
  std::int64_t shared_bytes_per_block = 48 * 1024;  // opt-in limit (227 KiB on sm_90)
  std::int64_t shared_bytes_per_multiprocessor = 64 * 1024;
  std::int64_t l1_bytes = 32 * 1024;  // CPU: L1 data cache of a core
  std::int64_t l2_bytes = 1 << 20;    // GPU: whole L2; CPU: L2 of a core
  std::int64_t l3_bytes = 0;
  std::int64_t memory_bytes = 0;
  int vector_bytes = 16;   // CPU: widest SIMD register
  int driver_version = 0;  // GPU: as cuDriverGetVersion gives it, 13000 for 13.0

  // Measured, or a conservative table value until measured. 0: unknown.
  double copy_bytes_per_second = 0;
  double launch_seconds = 0;
  double f32_flops = 0;  // sustained multiply-adds × 2
  double f64_flops = 0;
  double tensor16_flops = 0;  // tensor cores on f16 and bf16 with f32 sums; 0: none, or not known
};

/// The name of the code that uses all of a GPU's instructions: 80 gives "sm_80", 90 gives "sm_90a".
std::string architecture_name(int compute_capability);

/// Facts of an architecture without a device at hand ("sm_90a"): for `emit`, `explain --arch` and CI's
/// compile matrix.
Result<DeviceFacts> facts_of_architecture(std::string_view architecture);

}  // namespace einkern::core
