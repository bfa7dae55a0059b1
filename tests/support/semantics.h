// The tables of docs/semantics.md as calls: each row an expression, its arguments, and what it gives.
#pragma once

#include <string>
#include <vector>

#include "tests/support/call.h"

namespace einkern::testing {

struct SemanticsRow {
  int line = 0;  // of docs/semantics.md
  std::string expression;
  std::map<std::string, std::string> arguments;  // name to "i32 -7" or "f32 [1, nan]"
  std::string gives;
};

/// Every row of every table whose last column is "gives", in order.
const std::vector<SemanticsRow>& semantics_rows();

/// Runs a row on a backend; what is wrong, or "". Values must agree exactly, NaN with NaN.
std::string check_semantics(const SemanticsRow& row, const RunCase& run);

}  // namespace einkern::testing
