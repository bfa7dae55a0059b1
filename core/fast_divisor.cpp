#include "core/fast_divisor.h"

#include <bit>

namespace einkern::core {

FastDivisor make_fast_divisor(std::uint32_t divisor) {
  if (divisor == 0) return {0, 0, 31};  // n >> 31 is 0 for every dividend
  // shift = ceil(log2(divisor)); multiplier = floor(2^32 * (2^shift - divisor) / divisor) + 1, figure 4.1 of
  // the paper for 32-bit words. For dividends below 2^31 the sum in `divide` cannot carry out of 32 bits.
  const auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  const std::uint64_t excess = (1ULL << shift) - divisor;
  return {divisor, static_cast<std::uint32_t>((excess << 32) / divisor + 1), shift};
}

std::uint32_t divide(std::uint32_t n, FastDivisor by) {
  const auto high = static_cast<std::uint32_t>((static_cast<std::uint64_t>(n) * by.multiplier) >> 32);
  return (high + n) >> by.shift;
}

}  // namespace einkern::core
