#include "autotune/replay_measurer.h"

namespace einkern::autotune {

std::vector<RecordedCandidate> recorded_space(const TuningRecord& record) {
  std::vector<RecordedCandidate> space;
  for (const CandidateFate& fate : record.candidates)
    space.push_back({.outcome = fate.outcome, .seconds = fate.seconds});
  return space;
}

double ReplayMeasurer::sample(double seconds) {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
  const double uniform = static_cast<double>(random_ >> 11) * 0x1p-52 - 1;
  return seconds * (1 + noise_ * uniform);
}

Admission ReplayMeasurer::admit(int candidate) {
  const RecordedCandidate& recorded = space_[static_cast<std::size_t>(candidate)];
  elapsed_ += recorded.admission_seconds;
  if (recorded.untried) return {.untried = true};
  if (recorded.outcome != "measured") return {.outcome = recorded.outcome};
  return {.seconds = recorded.seconds};
}

std::vector<Timing> ReplayMeasurer::time(const std::vector<int>& candidates, int rounds) {
  std::vector<Timing> timings(candidates.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      timings[i].samples.push_back(sample(space_[static_cast<std::size_t>(candidates[i])].seconds));
      elapsed_ += timings[i].samples.back();
      ++launches_;
    }
  return timings;
}

std::string ReplayMeasurer::confirm(int candidate) {
  return space_[static_cast<std::size_t>(candidate)].confirmation;
}

}  // namespace einkern::autotune
