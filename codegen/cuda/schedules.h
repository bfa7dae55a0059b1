// The CUDA schedules, one table: a new schedule is one file and one row in schedules.cpp.
#pragma once

#include <vector>

#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

/// Best suited first; the last fits every kernel.
const std::vector<const Schedule*>& schedules();

/// "cuda.reference": one thread an element, floats in f64, rounded where a tensor is stored. The tuner checks
/// candidates with it; it is never a candidate itself.
const Schedule& reference_schedule();

}  // namespace einkern::codegen::cuda
