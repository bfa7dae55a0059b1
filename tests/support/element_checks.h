// Calls whose data read or write where they must not, with what EINKERN_CHECK says of each.
#pragma once

#include <string>
#include <vector>

#include "tests/support/call.h"

namespace einkern::testing {

struct ElementCase {
  std::string name;  // letters, digits and underscores: names the test
  std::string source;
  NamedArguments arguments;
  std::string fault;  // after "EINKERN_CHECK: in `f`, the "; "" if nothing is wrong
};
const std::vector<ElementCase>& element_cases();

/// The whole message of a case, "" where nothing is wrong.
std::string expected_message(const ElementCase& which);

/// Runs a case's checks on a backend; what is wrong with what they find, or "".
std::string check_element_case(const ElementCase& which, const RunCase& run);

}  // namespace einkern::testing
