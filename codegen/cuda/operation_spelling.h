// How each operation of ops.def is written in CUDA C++: one table.
#pragma once

#include <string_view>

#include "core/dtype.h"
#include "dsl/expression.h"

namespace einkern::codegen::cuda {

/// Spellings by type. {0} {1} {2} stand for the operands (primary expressions), {3} for the type's name
/// ("i64"). Empty: the operation does not take that type. A pattern is itself a primary expression.
struct OperationSpelling {
  dsl::Op op;
  std::string_view f32, f64, signed_integer, unsigned_integer;
  std::string_view index;  // i64 arithmetic that is known not to overflow; empty: as signed_integer
};

/// The row of an operation; every one of ops.def has one.
const OperationSpelling& spelling_of(dsl::Op op);

}  // namespace einkern::codegen::cuda
