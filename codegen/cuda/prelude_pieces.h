// The groups of the prelude's table, one file each.
#pragma once

#include "codegen/cuda/prelude.h"

namespace einkern::codegen::cuda {

std::vector<PreludePiece> prelude_types();        // vectors for wide accesses, fast divisors
std::vector<PreludePiece> prelude_conversions();  // storage types, casts
std::vector<PreludePiece>
prelude_arithmetic();  // the language's integer and float operations, random numbers
std::vector<PreludePiece> prelude_collectives();  // steps and shuffles of reductions
std::vector<PreludePiece> prelude_products();     // asynchronous copies, steps of matrix products
std::vector<PreludePiece> prelude_hopper();       // barriers, the copy engine and tensor cores of sm_90

}  // namespace einkern::codegen::cuda
