// Matrix products and everything that is one: packed panels, blocks in registers, an epilogue on each block.
#pragma once

#include "codegen/schedule.h"

namespace einkern::codegen::cpu {

const Schedule& contraction_schedule();

}  // namespace einkern::codegen::cpu
