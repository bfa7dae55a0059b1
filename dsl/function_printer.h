// A checked function as text that parses back to an equal function: its fingerprint, a runnable repro, and
// what to look at when debugging.
#pragma once

#include <string>

#include "dsl/function.h"

namespace einkern::dsl {

/// The whole function with calls inlined, types written out, every range explicit and index variables
/// renamed, so that it depends neither on their names nor on how the source cut the mathematics into
/// functions.
std::string canonical_text(const Function& function);

}  // namespace einkern::dsl
