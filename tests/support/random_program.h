// Random valid programs with arguments, for property tests: reference and backends must agree on them.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/call.h"

namespace einkern::testing {

struct RandomProgram {
  std::uint64_t seed = 0;
  std::string source;  // one function
  NamedArguments arguments;
};

/// A program from a typed grammar, the same for the same seed: one to four definitions, each pointwise, a
/// reduction, a contraction with prologue and epilogue, a window, a gather or a row chain (softmax, layer
/// norm), over operands in any layout, with casts and storage types. Sizes lie around vector and tile edges,
/// and are sometimes 0 or 1. Values stay of moderate size, so that errors stay small.
RandomProgram random_program(std::uint64_t seed);

/// Runs a random program on a backend and compares it with the reference's bounds. What is wrong, with seed
/// and source, or
/// "".
std::string check_random_program(std::uint64_t seed, const RunCase& run);

}  // namespace einkern::testing
