// Every plan of every conformance function gives the reference's results: on the conformance cases, and on
// random sizes.
#include "tests/codegen/plan_interpreter.h"

#include <gtest/gtest.h>

#include "codegen/plan/verify.h"
#include "tests/codegen/random_call.h"
#include "tests/support/conformance.h"
#include "tests/support/random_program.h"

namespace einkern::testing {
namespace {

using codegen::Plan;
using codegen::reference::Arithmetic;

/// Runs a call through one of its plans.
RunCase run_plan(const Plan& plan) {
  return [&plan](const Call& call) {
    return interpret(plan, call.binding, call.arguments, Arithmetic::as_typed);
  };
}

class PlanOfCase : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlanOfCase, GivesTheRightAnswers) {
  const ConformanceCase& which = conformance_cases()[GetParam()];
  const auto call = conformance_call(which);
  ASSERT_TRUE(call.ok()) << call.error().message;
  for (const Plan& plan : codegen::make_plans(call->function))
    EXPECT_EQ(check_conformance(which, run_plan(plan)), "") << describe(plan);
}

TEST_P(PlanOfCase, AgreesWithTheReferenceOnRandomSizes) {
  auto call = conformance_call(conformance_cases()[GetParam()]);
  ASSERT_TRUE(call.ok()) << call.error().message;
  const std::vector<Plan> plans = codegen::make_plans(call->function);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto random = random_call(*call->function, seed);
    ASSERT_TRUE(random) << "no sizes for seed " << seed;
    call->binding = random->binding;
    call->arguments = random->arguments;
    for (const Plan& plan : plans)
      EXPECT_EQ(difference_from_reference(*call, run_plan(plan)), "") << "seed " << seed << "\n"
                                                                      << describe(plan);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, PlanOfCase,
                         ::testing::Range(std::size_t{0}, conformance_cases().size()), [](const auto& test) {
                           return conformance_cases()[test.param].function + "_" + std::to_string(test.param);
                         });

/// Every plan of a call in turn; the first that fails.
core::Result<Results> run_all_plans(const Call& call) {
  const std::vector<Plan> plans = codegen::make_plans(call.function);
  for (const Plan& plan : plans)
    if (const auto violation = plan_violation(plan))
      return core::Error{core::ErrorKind::internal, *violation + "\n" + describe(plan)};
  for (const Plan& plan : plans)
    if (const std::string difference = difference_from_reference(call, run_plan(plan)); !difference.empty())
      return core::Error{core::ErrorKind::internal, difference + "\n" + describe(plan)};
  return run_plan(plans.front())(call);
}

TEST(PlansOfRandomPrograms, GiveTheReferencesResults) {
  constexpr std::uint64_t programs = 200;
  for (std::uint64_t seed = 0; seed < programs; ++seed)
    EXPECT_EQ(check_random_program(seed, run_all_plans), "");
}

}  // namespace
}  // namespace einkern::testing
