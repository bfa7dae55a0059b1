// A recorded space as a measurer: searches are tried and compared without a device, on a clock of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autotune/measurer.h"
#include "autotune/record.h"

namespace einkern::autotune {

/// What a candidate did when it was measured.
struct RecordedCandidate {
  std::string outcome = "measured";  // else why it falls out when it is admitted
  double seconds = 0;                // its true time
  double admission_seconds = 0.1;    // what compiling and checking it takes
  std::string confirmation;          // "": it is confirmed
  bool untried = false;              // it is never compiled in time
};

/// The candidates of a tuning record, in its order.
std::vector<RecordedCandidate> recorded_space(const TuningRecord& record);

class ReplayMeasurer final : public Measurer {
 public:
  /// Samples lie within `noise` (a share) around the true time, by a seeded generator.
  ReplayMeasurer(std::vector<RecordedCandidate> space, double noise, std::uint64_t seed)
      : space_(std::move(space)), noise_(noise), random_(seed) {}

  Admission admit(int candidate) override;
  std::vector<Timing> time(const std::vector<int>& candidates, int rounds) override;
  std::string confirm(int candidate) override;
  double elapsed() const override { return elapsed_; }

  /// Timed launches so far.
  int launches() const { return launches_; }

 private:
  double sample(double seconds);
  std::vector<RecordedCandidate> space_;
  double noise_;
  std::uint64_t random_;
  double elapsed_ = 0;
  int launches_ = 0;
};

}  // namespace einkern::autotune
