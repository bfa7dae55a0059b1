// Division by a run-time constant as multiply and shift (Granlund and Montgomery, PLDI 1994).
#pragma once

#include <cstdint>

namespace einkern::core {

/// q = (umulhi(n, multiplier) + n) >> shift for 0 <= n < 2^31; layout as in emitted kernels' `ek_divisor`.
struct FastDivisor {
  std::uint32_t divisor = 1, multiplier = 0, shift = 0;
};

/// Requires divisor < 2^31. A divisor of 0 gives the quotient 0, as the language has it (and so the remainder
/// n): an empty range may stand beside others that are not.
FastDivisor make_fast_divisor(std::uint32_t divisor);
std::uint32_t divide(std::uint32_t n, FastDivisor by);

}  // namespace einkern::core
