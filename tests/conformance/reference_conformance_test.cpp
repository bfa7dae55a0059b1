#include <gtest/gtest.h>

#include "tests/support/conformance.h"

namespace einkern {
namespace {

class ReferenceConformance : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ReferenceConformance, GivesTheRightAnswer) {
  const testing::ConformanceCase& which = testing::conformance_cases()[GetParam()];
  EXPECT_EQ(testing::check_conformance(which, testing::run_on_reference), "");
}

/// The same in f32, each operation rounded: what the cases' tolerances leave room for.
TEST_P(ReferenceConformance, GivesTheRightAnswerAsTyped) {
  const auto run = [](const testing::Call& call) {
    return codegen::reference::evaluate(*call.function, call.binding, call.arguments,
                                        codegen::reference::Arithmetic::as_typed);
  };
  EXPECT_EQ(testing::check_conformance(testing::conformance_cases()[GetParam()], run), "");
}

/// f32 arithmetic lies within the bounds that the reference gives.
TEST_P(ReferenceConformance, StaysWithinTheBounds) {
  const core::Result<testing::Call> call =
      testing::conformance_call(testing::conformance_cases()[GetParam()]);
  ASSERT_TRUE(call.ok()) << call.error().message;
  const auto run = [](const testing::Call& one) {
    return codegen::reference::evaluate(*one.function, one.binding, one.arguments,
                                        codegen::reference::Arithmetic::as_typed);
  };
  EXPECT_EQ(testing::difference_from_reference(*call, run), "");
}

INSTANTIATE_TEST_SUITE_P(Operations, ReferenceConformance,
                         ::testing::Range<std::size_t>(0, testing::conformance_cases().size()),
                         [](const auto& each) {
                           return testing::conformance_cases()[each.param].function + "_" +
                                  std::to_string(each.param);
                         });

}  // namespace
}  // namespace einkern
