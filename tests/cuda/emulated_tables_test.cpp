// What every backend must get right, on emitted CUDA run on the host: conformance operations, the tables of
// docs/semantics.md, the cases that broke other systems, random programs.
#include <gtest/gtest.h>

#include "tests/cuda/run_emulated.h"
#include "tests/support/conformance.h"
#include "tests/support/element_checks.h"
#include "tests/support/random_program.h"
#include "tests/support/semantics.h"
#include "tests/support/shared_cases.h"

namespace einkern {
namespace {

using testing::EmulationOptions;
using testing::RunCase;

void expect_conformance(const EmulationOptions& options) {
  testing::expect_emulated(
      testing::conformance_cases().size(), [&](std::size_t) { return options; },
      [](std::size_t i, const RunCase& run) {
        return check_conformance(testing::conformance_cases()[i], run);
      });
}

TEST(EmulatedConformance, BestSuitedSchedules) { expect_conformance({}); }
TEST(EmulatedConformance, SecondPlan) { expect_conformance({.plan = 1, .candidate = 5}); }
TEST(EmulatedConformance, OldDevice) {
  expect_conformance({.candidate = 17, .architecture = "sm_75", .index_bits = 64});
}
TEST(EmulatedConformance, Generic) { expect_conformance({.schedule = "cuda.generic"}); }
TEST(EmulatedConformance, Reference) { expect_conformance({.schedule = "cuda.reference", .index_bits = 64}); }

void expect_semantics(const EmulationOptions& options) {
  testing::expect_emulated(
      testing::semantics_rows().size(), [&](std::size_t) { return options; },
      [](std::size_t i, const RunCase& run) { return check_semantics(testing::semantics_rows()[i], run); });
}

TEST(EmulatedSemantics, HopperText) { expect_semantics({}); }
TEST(EmulatedSemantics, TuringTextWithWideIndices) {
  expect_semantics({.architecture = "sm_75", .index_bits = 64});
}

TEST(EmulatedSharedCases, AreRight) {
  testing::expect_emulated(
      testing::shared_cases().size(), [](std::size_t i) { return EmulationOptions{.candidate = i * 7}; },
      [](std::size_t i, const RunCase& run) { return check_shared_case(testing::shared_cases()[i], run); });
}

TEST(EmulatedElementChecks, FindTheFault) {
  testing::expect_emulated(
      testing::element_cases().size(), [](std::size_t) { return EmulationOptions{}; },
      [](std::size_t i, const RunCase& run) {
        return testing::check_element_case(testing::element_cases()[i], run);
      });
}

TEST(EmulatedRandomPrograms, AgreeWithTheReference) {
  testing::expect_emulated(
      120, [](std::size_t i) { return EmulationOptions{.plan = i % 3, .candidate = i * 13}; },
      [](std::size_t i, const RunCase& run) { return testing::check_random_program(7000 + i, run); });
}

}  // namespace
}  // namespace einkern
