// The schedule that fits every kernel: each element of a result on its own, neighbours in the lanes of a
// vector.
#pragma once

#include "codegen/schedule.h"

namespace einkern::codegen::cpu {

const Schedule& point_schedule();

}  // namespace einkern::codegen::cpu
