// What `einkern explain` says of a prepared call: kernels, fusion, bytes, operations, limits and choices.
#pragma once

#include <string>
#include <vector>

#include "core/device_facts.h"
#include "engine/prepared_call.h"

namespace einkern::engine {

/// One kernel in numbers.
struct KernelExplanation {
  std::string name, form, explanation;
  std::string schedule, configuration, source;  // what chose it: tuned, model, …
  double bytes = 0, operations = 0;
  double estimated_seconds = 0, limit_seconds = 0;
  double measured_seconds = 0;  // of a tuning record; 0: not measured
  int registers = 0;
  std::int64_t spill_bytes = 0, shared_bytes = 0;
};

/// A chosen kernel, compiled or not; then its resources are 0.
KernelExplanation explain_kernel(const codegen::Kernel& kernel, const KernelChoice& choice);
std::string kernel_text(const KernelExplanation& kernel);

std::vector<KernelExplanation> explain_kernels(const PreparedCall& prepared);
std::string explain_text(const PreparedCall& prepared, const core::DeviceFacts& device);

/// "1.25 ms", "3.4 GB", "51.2 TFLOP/s".
std::string seconds_text(double seconds);
std::string bytes_text(double bytes);
std::string rate_text(double per_second, std::string_view unit);

}  // namespace einkern::engine
