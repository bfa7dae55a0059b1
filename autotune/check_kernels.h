// The kernels with which a GPU fills and judges tensors where they lie, so that nothing but the verdict comes
// to the host. One compilation serves every element type and layout of an architecture.
#pragma once

#include "core/emission.h"

namespace einkern::autotune {

/// Blocks have this many threads, and each block leaves one ElementFindings.
inline constexpr int check_threads = 256;
/// Entries of the table of values from which elements are drawn.
inline constexpr int value_table_size = 4096;

/// Entries, their arguments all of 8 bytes (worker/device_checks.cpp launches them; there is no launch plan):
///   ek_check_fill       writes values drawn from a table, or poison without one
///   ek_check_unchanged  counts elements that are not what ek_check_fill wrote
///   ek_check_magnitude  the largest magnitude
///   ek_check_compare    found elements against right ones, and a fingerprint of their bits
///   ek_check_poison     counts words of 8 bytes that are not poison
core::Emission check_emission();

}  // namespace einkern::autotune
