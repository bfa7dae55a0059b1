// Reductions over columns with everything around them: sums, softmax, norms, argmax, in one kernel.
#pragma once

#include "codegen/schedule.h"

namespace einkern::codegen::cpu {

const Schedule& row_schedule();

}  // namespace einkern::codegen::cpu
