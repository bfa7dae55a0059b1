// Products with few rows or columns, such as a vector times a matrix: bound by memory, so nothing is packed.
#pragma once

#include "codegen/schedule.h"

namespace einkern::codegen::cpu {

const Schedule& dot_schedule();

}  // namespace einkern::codegen::cpu
