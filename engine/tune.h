// Tuning one call: every kernel of every plan, measured in a child process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autotune/tuner.h"
#include "engine/call.h"
#include "engine/prepared_call.h"

namespace einkern::engine {

/// Tunes every kernel of every plan for one call and stores the records. Kernels that have a record are
/// skipped unless the options ask for more. `progress` may be null.
core::Result<std::vector<autotune::TuneOutcome>> tune_call(const dsl::Function& function,
                                                           const std::vector<codegen::Plan>& plans,
                                                           const Call& call,
                                                           const std::shared_ptr<runtime::Device>& device,
                                                           const autotune::TuneOptions& options,
                                                           const autotune::ProgressHandler& progress);

/// EINKERN_TUNE=on: tunes a call whose kernels have no record for its sizes, as long as the tuner's defaults
/// say; of several threads one at a time.
core::Result<void> tune_unseen(const dsl::Function& function, const std::vector<codegen::Plan>& plans,
                               const Call& call, const std::shared_ptr<runtime::Device>& device);

}  // namespace einkern::engine
