// Cases that broke other systems of this kind, as data: every backend runs the same table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/call.h"

namespace einkern::testing {

/// A function, its arguments, and what is right: given outright (compared exactly), or else the reference's
/// answer.
struct SharedCase {
  std::string name;  // letters, digits and underscores: names the test
  std::string source;
  dsl::TypeBinding types;
  std::function<NamedArguments()> arguments;                    // made when asked for: some are large
  std::function<std::map<std::string, HostTensor>()> expected;  // may be empty
};

/// NaN in reductions, empty tensors, argmax corners, conversions, division of negatives, windows, guarded
/// gathers, infinities in softmax, row lengths around every vector and block size.
const std::vector<SharedCase>& shared_cases();

/// Runs a case on a backend; what is wrong, or "".
std::string check_shared_case(const SharedCase& which, const RunCase& run);

}  // namespace einkern::testing
