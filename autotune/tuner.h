// The tuner: which schedule and configuration computes one kernel fastest on one device.
//
// Candidates come from the schedules' spaces, ordered by the cost model; they are compiled in threads of this
// process and measured in a child (einkern-worker), which also checks every candidate's output before it may
// win.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autotune/record.h"
#include "codegen/schedule.h"
#include "core/result.h"
#include "runtime/device.h"

namespace einkern::autotune {

struct TuneOptions {
  double seconds = 10;     // wall clock for one kernel; the search ends earlier when the space is exhausted
  int candidates = 48;     // how many are compiled and measured at most
  bool more = false;       // go on from an existing record with candidates that were not measured yet
  std::string schedule;    // only this schedule; empty: all that fit
  std::uint64_t seed = 0;  // of the inputs and of the order of measuring
  const std::atomic<bool>* interrupted = nullptr;  // set from a signal handler: stop, and keep what was found
};

/// What is told while tuning.
struct TuneProgress {
  std::string kernel;
  int candidates = 0, compiled = 0, measured = 0, failed = 0;
  double best_seconds = 0;           // 0: none yet
  std::string best;                  // its schedule and configuration
  double operations = 0, bytes = 0;  // of the kernel, for rates
  double limit_seconds = 0;          // the hardware's limit
  double seconds_left = 0;
};
using ProgressHandler = std::function<void(const TuneProgress&)>;

struct TuneOutcome {
  TuningRecord record;
  bool from_record = false;         // there was a record already and `more` was not asked for
  bool nothing_to_measure = false;  // an empty tensor: no launch, no record
  bool interrupted = false;         // before anything was measured the record is empty, and not stored
};

/// Tunes one kernel and stores its record in process_records(). `placements`: where the call's tensors lie,
/// by TensorId; candidates are measured on tensors that lie so. If every candidate fails, an error that lists
/// the reasons.
core::Result<TuneOutcome> tune_kernel(const codegen::KernelContext& context,
                                      const std::vector<codegen::TensorPlacement>& placements,
                                      runtime::Device& device, const TuneOptions& options,
                                      const ProgressHandler& progress);

}  // namespace einkern::autotune
