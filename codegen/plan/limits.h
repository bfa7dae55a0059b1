// Limits of plans, by name.
#pragma once

#include <cstddef>

namespace einkern::codegen::limits {

/// Kernels of one function, at most: each costs a compilation, of 10 ms and more.
inline constexpr std::size_t kernels = 2000;

}  // namespace einkern::codegen::limits
