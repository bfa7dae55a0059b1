// The CUDA schedules, one table: a new schedule is one file and one row in schedules.cpp.
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

/// Best suited first; the last fits every kernel.
const std::vector<const Schedule*>& schedules();

/// "cuda.reference": one thread an element, floats in f64, rounded where a tensor is stored. The tuner checks
/// candidates with it; it is never a candidate itself.
const Schedule& reference_schedule();

/// "cuda.sampled_reference": the same at some points of the kernel's axes alone, for outputs that are too
/// much for one thread an element. The points' row-major numbers are an i64 buffer of the name `sample_name`;
/// how many there are is the symbol of that name. Whoever launches it gives both a value.
const Schedule& sampled_reference_schedule();
std::string sample_name(const Kernel& kernel);
/// The axes, outermost first; only where the schedule fits.
std::vector<AxisId> sampled_axes(const Kernel& kernel);

}  // namespace einkern::codegen::cuda
