// The shared cases (bad inputs, special values, edges of integers) and random programs, on the CPU.
#include <gtest/gtest.h>

#include "tests/cpu/run_on_cpu.h"
#include "tests/support/element_checks.h"
#include "tests/support/random_program.h"
#include "tests/support/shared_cases.h"

namespace einkern {
namespace {

class CpuSharedCases : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CpuSharedCases, Hold) {
  const testing::SharedCase& which = testing::shared_cases()[GetParam()];
  EXPECT_EQ(testing::check_shared_case(which, testing::on_cpu()), "");
  EXPECT_EQ(testing::check_shared_case(which, testing::on_cpu({.schedule = "cpu.points"})), "")
      << "point by point";
}

INSTANTIATE_TEST_SUITE_P(Table, CpuSharedCases,
                         ::testing::Range<std::size_t>(0, testing::shared_cases().size()),
                         [](const auto& each) { return testing::shared_cases()[each.param].name; });

class CpuElementChecks : public ::testing::TestWithParam<std::size_t> {};
TEST_P(CpuElementChecks, FindTheFault) {
  EXPECT_EQ(testing::check_element_case(testing::element_cases()[GetParam()], testing::on_cpu()), "");
}
INSTANTIATE_TEST_SUITE_P(Table, CpuElementChecks,
                         ::testing::Range<std::size_t>(0, testing::element_cases().size()),
                         [](const auto& each) { return testing::element_cases()[each.param].name; });

TEST(CpuRandomPrograms, AgreeWithTheReference) {
  int failures = 0;
  for (std::uint64_t seed = 1000; seed < 1060 && failures < 5; ++seed) {
    const std::string wrong = testing::check_random_program(seed, testing::on_cpu({.candidate = seed}));
    EXPECT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong;
    failures += wrong.empty() ? 0 : 1;
  }
}

}  // namespace
}  // namespace einkern
