// What `einkern run --json` and `einkern explain --json` print: one description of a planned call, and what a
// run adds to it.
#pragma once

#include <string>
#include <vector>

#include "cli/problem.h"
#include "engine/explain.h"

namespace einkern::cli {

/// Median and quartile spread of the time of one call, warm caches.
struct Timing {
  double seconds = 0, spread = 0;
  int runs = 0;
};

/// Results compared with the reference evaluator's.
struct CheckResult {
  bool ok = true;
  std::string text;
  double largest_error = 0;
};

/// A call as it is planned for a device.
struct PlannedReport {
  const Problem& problem;
  const core::DeviceFacts& device;
  const codegen::Plan& plan;
  const std::vector<engine::KernelExplanation>& kernels;
};

/// Indented JSON text, without a newline at the end.
std::string explain_json(const PlannedReport& report);
std::string run_json(const PlannedReport& report, const Timing& timing, const CheckResult& check);

}  // namespace einkern::cli
