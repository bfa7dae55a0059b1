// One kernel of a call, emitted as a test asks for it.
#pragma once

#include <string>

#include "codegen/schedule.h"

namespace einkern::testing {

/// How a kernel is emitted where the defaults are not wanted.
struct EmissionOptions {
  std::string schedule;       // where it fits the kernel; empty: the best suited
  std::size_t candidate = 0;  // which of the ranked configurations, modulo their number
  std::string configuration;  // the configuration itself, if not empty
};

struct EmittedKernel {
  core::Emission emission;
  std::string choice;  // for messages: schedule and configuration
};

/// An error if no schedule of the backend fits, or the one that does fails.
core::Result<EmittedKernel> emit_kernel(const codegen::KernelContext& context, core::Backend backend,
                                        const EmissionOptions& options);

}  // namespace einkern::testing
