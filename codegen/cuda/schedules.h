// The CUDA schedules, one table: a new schedule is one file and one row in schedules.cpp.
#pragma once

#include <vector>

#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

/// Best suited first; the last fits every kernel.
const std::vector<const Schedule*>& schedules();

}  // namespace einkern::codegen::cuda
