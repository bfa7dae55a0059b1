// The conformance cases: real operations in the language, with inputs and right answers worked out by other
// formulas.
#pragma once

#include <string>
#include <vector>

#include "tests/support/call.h"

namespace einkern::testing {

/// One case of cases.json.
struct ConformanceCase {
  std::string function;
  dsl::TypeBinding types;
  std::map<std::string, std::string> arguments, results;  // JSON texts, by name
  double tolerance = 0;                                   // relative, and absolute for values below 1
  std::vector<std::string> later;  // language features that it needs beyond the first ones
};

/// All cases, in the file's order; read once.
const std::vector<ConformanceCase>& conformance_cases();

/// The call of a case, with ops.ein as its source.
core::Result<Call> conformance_call(const ConformanceCase& which);

/// Runs a case on a backend and compares every result, in the type it is declared in, with the right answer.
/// What is wrong, or "".
std::string check_conformance(const ConformanceCase& which, const RunCase& run);

}  // namespace einkern::testing
