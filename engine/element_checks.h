// EINKERN_CHECK=1 on a device: a function's checks (dsl/element_checks.h) run before its kernels.
#pragma once

#include "dsl/element_checks.h"
#include "engine/call.h"
#include "engine/prepared_call.h"
#include "runtime/device.h"

namespace einkern::engine {

/// The call of the checks with a call's arguments; its results are in no memory yet.
Call call_of_checks(const dsl::ElementChecks& checks, const Call& call);

/// Runs the checks, prepared for such a call, on the stream, waits for it, and judges what they found: see
/// dsl::judge_elements.
core::Result<void> run_checks(const dsl::ElementChecks& checks, const PreparedCall& prepared, Call call,
                              runtime::Device& device, runtime::Stream stream);

/// Makes, prepares and runs the checks of one call of a function on the default stream.
core::Result<void> check_elements(const dsl::Function& function, const Call& call, runtime::Device& device,
                                  runtime::KernelBuilder& builder, const autotune::RecordStore& records);

}  // namespace einkern::engine
