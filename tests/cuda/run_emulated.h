// Calls run through the CUDA schedules on the host: planned, specialised, emitted, compiled for the host,
// launched.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "tests/cuda/emulation.h"
#include "tests/support/call.h"
#include "tests/support/call_memory.h"

namespace einkern::testing {

struct EmulationOptions {
  std::size_t plan = 0;       // which of the planner's plans, modulo their number
  std::string schedule;       // for every kernel that it fits; empty: the best suited
  std::size_t candidate = 0;  // which of the ranked configurations, modulo their number
  std::string architecture = "sm_90a";
  int index_bits = 0;  // 64: as if sizes did not fit 32 bits; 0: as specialised
  MemoryLayouts layouts;
  std::string text() const;  // for messages
};

/// Many calls, compiled together.
class EmulatedCalls {
 public:
  /// Plans and emits. An error if a schedule fails.
  core::Result<std::size_t> add(const Call& call, const EmulationOptions& options);
  core::Result<void> build() { return module_.build(); }
  /// Runs one of the added calls.
  core::Result<Results> run(std::size_t index) const;
  /// What is wrong with its results, measured by the reference's bounds; "" if nothing.
  std::string difference(std::size_t index) const;
  const Call& call(std::size_t index) const { return planned_[index].call; }
  const EmulationOptions& options(std::size_t index) const { return planned_[index].options; }
  std::size_t size() const { return planned_.size(); }

 private:
  struct Planned {
    Call call;
    EmulationOptions options;
    core::LaunchPlan launch;
    std::string what;  // schedules and configurations
  };
  EmulatedModule module_;
  std::vector<Planned> planned_;
};

/// Adds a call of a source's only function.
void add_call(EmulatedCalls& calls, const std::string& source, const NamedArguments& arguments,
              const EmulationOptions& options);
/// Builds the calls and expects the reference's results of each. Skips the test where there is no compiler.
void expect_right(EmulatedCalls& calls);

/// Runs `count` checks of a shared table on emulated kernels that are compiled together: a first round
/// collects the calls, a second runs them in the same order. `check` gives what is wrong, or "". Skips the
/// test where there is no compiler.
void expect_emulated(std::size_t count, const std::function<EmulationOptions(std::size_t)>& options_of,
                     const std::function<std::string(std::size_t, const RunCase&)>& check);

}  // namespace einkern::testing
