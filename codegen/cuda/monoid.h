// The reductions as monoids in text: identity, combination, and the types of their accumulators.
#pragma once

#include <string>
#include <string_view>

#include "codegen/cuda/c_types.h"
#include "dsl/expression.h"

namespace einkern::codegen::cuda {

/// Whether the reduction carries an index beside the value: argmax and argmin.
bool carries_index(dsl::Reduction reduction);

/// The identity, as a primary expression of value_type(type). Of argmax and argmin: the value beside the
/// index -1.
std::string identity_text(dsl::Reduction reduction, DType type, Arithmetic arithmetic);

/// a combined with b, both primary expressions of value_type(type); for every reduction but argmax and
/// argmin.
std::string combined_text(dsl::Reduction reduction, DType type, Arithmetic arithmetic, std::string_view a,
                          std::string_view b);

}  // namespace einkern::codegen::cuda
