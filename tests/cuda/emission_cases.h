// Representative kernels with a fixed configuration each: golden files hold their text, NVRTC compiles them
// for every device.
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "core/emission.h"
#include "core/result.h"

namespace einkern::testing {

struct EmissionCase {
  std::string name;
  std::string source;  // one function
  std::vector<std::vector<std::int64_t>> shapes;
  std::string schedule;
  std::string configuration;  // "threads=256 …"
  bool spill_free = true;     // the kernel keeps everything in registers on every device
};

const std::vector<EmissionCase>& emission_cases();

/// The case's only kernel, for a device of this architecture.
core::Result<core::Emission> emit_case(const EmissionCase& which, const std::string& architecture);

}  // namespace einkern::testing
