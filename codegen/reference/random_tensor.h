// Seeded random tensors: the same numbers for the same seed, on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/reference/evaluator.h"

namespace einkern::codegen::reference {

/// Non-zero integers of magnitude 1 to 3 (1 to 3 in unsigned types; true and false in bool): f32 sums of
/// their products are exact in any order up to 2^24 / 9 terms, so that right contractions agree bit for bit.
HostTensor random_small_integers(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed);

/// Floats uniform in [-1, 1), rounded to the dtype; integers as random_small_integers.
HostTensor random_uniform(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed);

/// Integers uniform in [low, high), for an integer dtype that holds them; `low` if the range is empty.
HostTensor random_indices(DType dtype, std::vector<std::int64_t> shape, std::int64_t low, std::int64_t high,
                          std::uint64_t seed);

}  // namespace einkern::codegen::reference
