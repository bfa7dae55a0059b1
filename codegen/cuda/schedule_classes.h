// The schedules that schedules.cpp lists, one function each; their classes stand in their own files.
#pragma once

#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

const Schedule& pointwise_schedule();      // pointwise.cpp
const Schedule& permute_schedule();        // permute.cpp
const Schedule& row_reduction_schedule();  // row_reduction.cpp
const Schedule& wgmma_matmul_schedule();   // wgmma_matmul.cpp
const Schedule& wgmma_split_k_schedule();  // wgmma_split_k.cpp
const Schedule& simt_matmul_schedule();    // simt_matmul.cpp
const Schedule& generic_schedule();        // generic.cpp

}  // namespace einkern::codegen::cuda
