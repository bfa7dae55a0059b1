#include <gtest/gtest.h>

#include "tests/cpu/run_on_cpu.h"
#include "tests/support/conformance.h"

namespace einkern {
namespace {

class CpuConformance : public ::testing::TestWithParam<std::size_t> {
 protected:
  const testing::ConformanceCase& which() const { return testing::conformance_cases()[GetParam()]; }
};

TEST_P(CpuConformance, GivesTheRightAnswerOnEveryPlan) {
  const auto call = testing::conformance_call(which());
  ASSERT_TRUE(call.ok()) << call.error().message;
  std::size_t plans = codegen::make_plans(call->function).size();
  for (std::size_t plan = 0; plan < plans; ++plan)
    EXPECT_EQ(testing::check_conformance(which(), testing::on_cpu({.plan = plan})), "") << "plan " << plan;
}

TEST_P(CpuConformance, GivesTheRightAnswerPointByPoint) {
  EXPECT_EQ(testing::check_conformance(which(), testing::on_cpu({.schedule = "cpu.points"})), "");
}

TEST_P(CpuConformance, StaysWithinTheReferencesBounds) {
  const auto call = testing::conformance_call(which());
  ASSERT_TRUE(call.ok()) << call.error().message;
  EXPECT_EQ(testing::difference_from_reference(*call, testing::on_cpu()), "");
}

INSTANTIATE_TEST_SUITE_P(Cases, CpuConformance,
                         ::testing::Range(std::size_t{0}, testing::conformance_cases().size()),
                         [](const auto& tested) {
                           return std::to_string(tested.param) + "_" +
                                  testing::conformance_cases()[tested.param].function;
                         });

}  // namespace
}  // namespace einkern
