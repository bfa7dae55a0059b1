// What the environment asks the engine to do beside its work: EINKERN_CHECK and EINKERN_TUNE.
#pragma once

#include "core/result.h"

namespace einkern::engine {

struct Switches {
  bool check_elements =
      false;          // EINKERN_CHECK=1: data-dependent reads and writes are checked before each call
  bool tune = false;  // EINKERN_TUNE=on: a shape without records is tuned at its first call
};

/// Read anew at each call. The error, of kind usage, names the variable and what it may be.
core::Result<Switches> read_switches();

}  // namespace einkern::engine
