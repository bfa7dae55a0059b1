// Successive halving on recorded spaces: no device is needed, and time is the recording's own.
#include "autotune/search.h"

#include <gtest/gtest.h>

#include "autotune/replay_measurer.h"
#include "autotune/statistics.h"

namespace einkern::autotune {
namespace {

/// 40 candidates between 1 and 3 ms, of which number 23 is best by a tenth.
std::vector<RecordedCandidate> plain_space() {
  std::vector<RecordedCandidate> space;
  for (int i = 0; i < 40; ++i) space.push_back({.seconds = 1e-3 + 50e-6 * ((i * 17) % 40)});
  space[23].seconds = 0.9e-3;
  return space;
}

TEST(Statistics, QuartilesInterpolate) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(spread({1, 2, 3, 4, 5}), 2.0 / 3);
  EXPECT_EQ(spread({2, 2, 2}), 0);
}

TEST(SuccessiveHalving, FindsTheBestThroughNoise) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ReplayMeasurer measurer(plain_space(), 0.05, seed);
    const SearchState found = successive_halving(measurer, 40, {.seconds = 60}, nullptr);
    ASSERT_TRUE(found.best.has_value());
    EXPECT_EQ(*found.best, 23) << "seed " << seed;
    EXPECT_NEAR(found.trials[23].seconds(), 0.9e-3, 0.05e-3);
  }
}

TEST(SuccessiveHalving, BadCandidatesCostLittle) {
  ReplayMeasurer measurer(plain_space(), 0, 1);
  const SearchState found = successive_halving(measurer, 40, {.seconds = 60}, nullptr);
  EXPECT_EQ(measurer.launches(), 40 * 3 + 12 * 10 + 4 * 40);
  int once = 0, most = 0;
  for (const Trial& trial : found.trials) {
    once += trial.runs == 3 ? 1 : 0;
    most += trial.runs == 3 + 10 + 40 ? 1 : 0;
  }
  EXPECT_EQ(once, 28);
  EXPECT_EQ(most, 4);
}

TEST(SuccessiveHalving, WhatIsNotCompiledInTimeHasNotFailed) {
  auto space = plain_space();
  for (std::size_t i = 10; i < space.size(); ++i) space[i].untried = true;
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 40, {.seconds = 60}, nullptr);
  ASSERT_TRUE(found.best.has_value());
  EXPECT_EQ(found.trials[9].outcome, "measured");
  EXPECT_EQ(found.trials[10].outcome, "");  // so no record lists it, and a wider search tries it
}

TEST(SuccessiveHalving, FailedCandidatesAreSkippedWithTheirReasons) {
  auto space = plain_space();
  space[23].outcome = "wrong: y[0] is 1, the reference 2";
  space[0].outcome = "hang: no answer in 1.0 s";
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 40, {.seconds = 60}, nullptr);
  ASSERT_TRUE(found.best.has_value());
  EXPECT_NE(*found.best, 23);
  EXPECT_EQ(found.trials[23].outcome, "wrong: y[0] is 1, the reference 2");
  EXPECT_EQ(found.trials[0].outcome, "hang: no answer in 1.0 s");
  EXPECT_EQ(found.trials[0].runs, 0);
}

TEST(SuccessiveHalving, AWinnerThatIsNotConfirmedFallsOut) {
  auto space = plain_space();
  space[23].confirmation = "wrong: two runs give different bits in y";
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 40, {.seconds = 60}, nullptr);
  ASSERT_TRUE(found.best.has_value());
  EXPECT_EQ(found.trials[23].outcome, "wrong: two runs give different bits in y");
  EXPECT_EQ(found.trials[static_cast<std::size_t>(*found.best)].seconds(), 1e-3);
}

TEST(SuccessiveHalving, NothingIsBestWhereAllFail) {
  const std::vector<RecordedCandidate> space(5, {.outcome = "compile: no"});
  ReplayMeasurer measurer(space, 0, 1);
  EXPECT_FALSE(successive_halving(measurer, 5, {.seconds = 60}, nullptr).best.has_value());
}

TEST(SuccessiveHalving, TheFirstStageLeavesTimeForTheOthers) {
  auto space = plain_space();
  for (RecordedCandidate& candidate : space) candidate.admission_seconds = 1;
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 40, {.seconds = 10}, nullptr);
  EXPECT_LE(measurer.elapsed(), 10);
  EXPECT_TRUE(found.trials[20].outcome.empty());  // not reached, hence neither measured nor failed
  EXPECT_GT(found.trials[static_cast<std::size_t>(found.best.value())].runs, 3);
}

TEST(SuccessiveHalving, SlowKernelsRunFewerRounds) {
  std::vector<RecordedCandidate> space(6, {.seconds = 0.5});
  space[4].seconds = 0.4;
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 6, {.seconds = 20}, nullptr);
  EXPECT_EQ(found.best, 4);
  EXPECT_LT(measurer.elapsed(), 30);
}

TEST(SuccessiveHalving, ACandidateFarBehindRunsNoMoreThanItsCheck) {
  std::vector<RecordedCandidate> space(6, {.seconds = 1e-3});
  space[3].seconds = 1;     // hopeless: not timed at all
  space[4].seconds = 3e-3;  // outclassed: timed in the first stage alone
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 6, {.seconds = 60}, nullptr);
  EXPECT_EQ(found.trials[3].outcome, "measured");
  EXPECT_EQ(found.trials[3].runs, 1);
  EXPECT_EQ(found.trials[3].seconds(), 1);
  EXPECT_EQ(found.trials[4].runs, 3);
  EXPECT_LT(measurer.elapsed(), 2);
}

TEST(SuccessiveHalving, WithoutTimeOneCandidateIsMeasuredAllTheSame) {
  auto space = plain_space();
  space[0].outcome = "compile: no";
  ReplayMeasurer measurer(space, 0, 1);
  const SearchState found = successive_halving(measurer, 40, {.seconds = 0}, nullptr);
  EXPECT_EQ(found.best, 1);
  EXPECT_TRUE(found.trials[2].outcome.empty());
}

TEST(SuccessiveHalving, AnInterruptionKeepsTheBestSoFar) {
  ReplayMeasurer measurer(plain_space(), 0, 1);
  int told = 0;
  const SearchState found =
      successive_halving(measurer, 40, {.seconds = 60, .interrupted = [&] { return told >= 5; }},
                         [&](const SearchState&) { ++told; });
  EXPECT_TRUE(found.interrupted);
  ASSERT_TRUE(found.best.has_value());
  EXPECT_LT(*found.best, 5);
  EXPECT_EQ(measurer.launches(), 5 * 3);
}

TEST(ReplayMeasurer, ARecordIsASpace) {
  TuningRecord record;
  record.candidates = {{"s", "a=1", "measured", 2e-3, 3}, {"s", "a=2", "fault: signal 11", 0, 0}};
  const auto space = recorded_space(record);
  ASSERT_EQ(space.size(), 2u);
  EXPECT_EQ(space[0].seconds, 2e-3);
  EXPECT_EQ(space[1].outcome, "fault: signal 11");
}

}  // namespace
}  // namespace einkern::autotune
