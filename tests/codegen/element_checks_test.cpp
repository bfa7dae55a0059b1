// What data can do wrong, found by a function of its own: on the reference, and in which plans it ends.
#include "dsl/element_checks.h"

#include <gtest/gtest.h>

#include "tests/support/element_checks.h"

namespace einkern::testing {
namespace {

class ElementChecks : public ::testing::TestWithParam<std::size_t> {};
TEST_P(ElementChecks, OnTheReference) {
  EXPECT_EQ(check_element_case(element_cases()[GetParam()], run_on_reference), "");
}
INSTANTIATE_TEST_SUITE_P(Table, ElementChecks, ::testing::Range(std::size_t{0}, element_cases().size()),
                         [](const auto& which) { return element_cases()[which.param].name; });

TEST(ElementChecksOf, FunctionsThatDataCannotHarmAreNone) {
  const auto none = [](const std::string& source) {
    const auto program = compile_source(source).value();
    const auto function = program.instantiate(program.signatures().front().name, {}).value();
    return !dsl::make_element_checks(*function).has_value();
  };
  EXPECT_TRUE(none("fn f(x: f32[N]) -> y: f32[N] { y[i] = x[N - 1 - i] + (x[i + 1] else 0) }"));
  EXPECT_TRUE(none("fn f(x: f32[N], p: i32[N]) -> y: f32[N] { y[i] = x[p[i]] else 0 }"));
  EXPECT_TRUE(none("fn f(x: f32[N], c: inout f32[N]) -> y: f32[N] {\n  c[i] = x[i]\n  y[i] = c[i]\n}"));
  EXPECT_FALSE(none("fn f(x: f32[N], p: i32[N]) -> y: f32[N] { y[i] = x[p[i]] }"));
}

}  // namespace
}  // namespace einkern::testing
