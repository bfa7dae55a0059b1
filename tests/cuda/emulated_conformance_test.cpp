// Emitted CUDA, run on the host: every conformance operation by every plan and by the schedules that fit any
// kernel.
#include <gtest/gtest.h>

#include "tests/cuda/run_emulated.h"
#include "tests/support/conformance.h"

namespace einkern {
namespace {

using testing::EmulationOptions;

/// All cases with one choice of options, compiled together.
void expect_right(const EmulationOptions& options) {
  if (!testing::can_emulate()) GTEST_SKIP() << "no compiler at " << EINKERN_TEST_COMPILER;
  testing::EmulatedCalls calls;
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < testing::conformance_cases().size(); ++i) {
    const auto call = testing::conformance_call(testing::conformance_cases()[i]);
    ASSERT_TRUE(call.ok()) << call.error().message;
    const auto added = calls.add(*call, options);
    EXPECT_TRUE(added.ok()) << testing::conformance_cases()[i].function << ": "
                            << (added.ok() ? "" : added.error().message);
    if (added.ok()) cases.push_back(i);
  }
  const auto built = calls.build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const testing::ConformanceCase& which = testing::conformance_cases()[cases[k]];
    EXPECT_EQ(testing::check_conformance(which, [&](const testing::Call&) { return calls.run(k); }), "")
        << which.function << " " << options.text();
    EXPECT_EQ(calls.difference(k), "") << which.function;
  }
}

TEST(EmulatedConformance, BestSuitedSchedules) { expect_right({}); }
TEST(EmulatedConformance, SecondPlan) { expect_right({.plan = 1}); }

TEST(EmulatedConformance, OldDevice) { expect_right({.candidate = 17, .architecture = "sm_75"}); }

TEST(EmulatedConformance, Generic) { expect_right({.schedule = "cuda.generic"}); }
TEST(EmulatedConformance, GenericWideIndices) {
  expect_right({.schedule = "cuda.generic", .index_bits = 64});
}
TEST(EmulatedConformance, Reference) { expect_right({.schedule = "cuda.reference"}); }

}  // namespace
}  // namespace einkern
