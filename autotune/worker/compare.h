// A candidate's output against the reference's, every element.
#pragma once

#include <string>

#include "autotune/messages.h"

namespace einkern::autotune::worker {

struct Agreement {
  std::string difference;  // of the worst element, with its place and both values; "": within the tolerance
  double error = 0;        // largest error, as a share of the reference's largest finite magnitude
};

/// `expected` and `actual` point to element 0. Integers and bools must be equal; floats as the tensor's
/// tolerances say, NaN where the reference has NaN and an infinity where it has the same.
Agreement compare_elements(const ProblemTensor& tensor, const char* expected, const char* actual);

}  // namespace einkern::autotune::worker
