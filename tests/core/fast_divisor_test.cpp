#include "core/fast_divisor.h"

#include <gtest/gtest.h>

#include <random>

namespace einkern::core {
namespace {

constexpr std::uint32_t limit = 1u << 31;

void check_around_multiples(std::uint32_t divisor, std::mt19937& random) {
  const FastDivisor by = make_fast_divisor(divisor);
  const auto check = [&](std::uint64_t n) {
    if (n >= limit) return;
    const auto dividend = static_cast<std::uint32_t>(n);
    ASSERT_EQ(divide(dividend, by), dividend / divisor) << dividend << " / " << divisor;
  };
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t quotient = random() % ((limit - 1) / divisor + 1);
    for (int offset : {-1, 0, 1})
      if (quotient * divisor + static_cast<std::uint64_t>(offset + 1) > 0)
        check(quotient * divisor + static_cast<std::uint64_t>(offset + 1) - 1);
  }
  check(0);
  check(limit - 1);
  check((limit - 1) / divisor * static_cast<std::uint64_t>(divisor));
}

TEST(FastDivisor, AgreesWithDivision) {
  std::mt19937 random(11);
  for (std::uint32_t divisor = 1; divisor <= 3000; ++divisor) check_around_multiples(divisor, random);
  for (int bit = 1; bit < 31; ++bit)
    for (int offset : {-1, 0, 1})
      check_around_multiples((1u << bit) + static_cast<std::uint32_t>(offset), random);
  for (int i = 0; i < 3000; ++i) check_around_multiples(1 + random() % (limit - 1), random);
  check_around_multiples(limit - 1, random);
}

TEST(FastDivisor, GivesZeroForADivisorOfZero) {
  for (const std::uint32_t dividend : {0u, 1u, 1u << 30, static_cast<std::uint32_t>(limit - 1)})
    EXPECT_EQ(divide(dividend, make_fast_divisor(0)), 0u);
}

}  // namespace
}  // namespace einkern::core
