#include "tests/support/shared_cases.h"

#include <gtest/gtest.h>

namespace einkern {
namespace {

class SharedCases : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SharedCases, HoldOnTheReference) {
  const testing::SharedCase& which = testing::shared_cases()[GetParam()];
  EXPECT_EQ(testing::check_shared_case(which, testing::run_on_reference), "");
}

TEST_P(SharedCases, HoldWithArithmeticAsTyped) {
  const auto run = [](const testing::Call& call) {
    return codegen::reference::evaluate(*call.function, call.binding, call.arguments,
                                        codegen::reference::Arithmetic::as_typed);
  };
  EXPECT_EQ(testing::check_shared_case(testing::shared_cases()[GetParam()], run), "");
}

INSTANTIATE_TEST_SUITE_P(Table, SharedCases, ::testing::Range<std::size_t>(0, testing::shared_cases().size()),
                         [](const auto& each) { return testing::shared_cases()[each.param].name; });

}  // namespace
}  // namespace einkern
