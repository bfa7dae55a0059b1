// A call run as the engine runs it on the CPU: planned, specialised, emitted, compiled, launched.
#pragma once

#include <optional>
#include <string>

#include "codegen/schedule.h"
#include "runtime/device.h"
#include "tests/support/call.h"
#include "tests/support/call_memory.h"

namespace einkern::testing {

/// How a call is run where the defaults are not wanted.
struct CpuOptions {
  std::size_t plan = 0;                    // which of the planner's plans
  std::string schedule;                    // for every kernel that it fits; empty: the best suited
  std::size_t candidate = 0;               // which of the ranked configurations, modulo their number
  std::string configuration;               // the configuration itself, if not empty
  MemoryLayouts layouts;                   // a permuted order is a strided view
  int vector_bytes = 0;                    // 0: the machine's
  std::optional<core::DeviceFacts> facts;  // of the machine to emit for, if not this one
};

/// The device, opened once.
runtime::Device& cpu_device();

core::Result<Results> run_on_cpu(const Call& call, const CpuOptions& options);
inline RunCase on_cpu(CpuOptions options = {}) {
  return [options](const Call& call) { return run_on_cpu(call, options); };
}

/// The emissions of a call's kernels, in order.
core::Result<std::vector<core::Emission>> emit_for_cpu(const Call& call, const CpuOptions& options);

}  // namespace einkern::testing
