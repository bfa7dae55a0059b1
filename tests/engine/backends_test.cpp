// What every backend must compute alike: conformance, the cases that broke other systems, random programs.
#include <gtest/gtest.h>

#include "tests/engine/run_on_device.h"
#include "tests/support/conformance.h"
#include "tests/support/random_program.h"
#include "tests/support/semantics.h"
#include "tests/support/shared_cases.h"

namespace einkern::testing {
namespace {

constexpr std::uint64_t random_programs_on_cpu = 40, random_programs_on_gpu = 150;

class ConformanceCpu : public ::testing::TestWithParam<std::size_t> {};
TEST_P(ConformanceCpu, Agrees) {
  EXPECT_EQ(check_conformance(conformance_cases()[GetParam()], on_device(Device::cpu())), "");
}
class ConformanceGpu : public ::testing::TestWithParam<std::size_t> {};
TEST_P(ConformanceGpu, Agrees) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  for (Layout layout : {Layout::dense, Layout::strided, Layout::transposed})
    EXPECT_EQ(check_conformance(conformance_cases()[GetParam()], on_device(*gpu(), layout)), "")
        << static_cast<int>(layout);
}
std::string case_name(const ::testing::TestParamInfo<std::size_t>& which) {
  return conformance_cases()[which.param].function + "_" + std::to_string(which.param);
}
INSTANTIATE_TEST_SUITE_P(Operations, ConformanceCpu,
                         ::testing::Range(std::size_t{0}, conformance_cases().size()), case_name);
INSTANTIATE_TEST_SUITE_P(Operations, ConformanceGpu,
                         ::testing::Range(std::size_t{0}, conformance_cases().size()), case_name);

void check_shared_cases(const RunCase& run) {
  for (const auto& which : shared_cases()) EXPECT_EQ(check_shared_case(which, run), "");
}
TEST(SharedCasesCpu, Agree) { check_shared_cases(on_device(Device::cpu())); }
TEST(SharedCasesGpu, Agree) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  check_shared_cases(on_device(*gpu()));
}

void check_semantics_tables(const RunCase& run) {
  for (const auto& row : semantics_rows()) EXPECT_EQ(check_semantics(row, run), "");
}
TEST(SemanticsCpu, TablesHold) { check_semantics_tables(on_device(Device::cpu())); }
TEST(SemanticsGpu, TablesHold) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  check_semantics_tables(on_device(*gpu()));
}

TEST(RandomProgramsCpu, AgreeWithTheReference) {
  for (std::uint64_t seed = 0; seed < random_programs_on_cpu; ++seed)
    EXPECT_EQ(check_random_program(seed, on_device(Device::cpu(), static_cast<Layout>(seed % 3))), "");
}
TEST(RandomProgramsGpu, AgreeWithTheReference) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 0; seed < random_programs_on_gpu; ++seed)
    EXPECT_EQ(check_random_program(seed, on_device(*gpu(), static_cast<Layout>(seed % 3))), "");
}

}  // namespace
}  // namespace einkern::testing
