// Successive halving: every candidate runs a little, the best of them more, the best of those most.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measurer.h"

namespace einkern::autotune {

/// What the search knows of one candidate.
struct Trial {
  std::string outcome;          // "": not tried; "measured"; else why it fell out
  std::vector<double> samples;  // of its latest stage
  int stage = 0;                // the latest: 1 for all candidates
  int runs = 0;                 // in all stages
  double error = 0;
  double seconds() const;  // median of the samples
};

struct SearchState {
  std::vector<Trial> trials;  // by candidate
  std::optional<int> best;    // of those measured
  bool interrupted = false;
};

struct SearchLimits {
  double seconds = 10;
  std::function<bool()> interrupted;  // may be null
};

/// How many candidates run how often in a stage. The first stage takes all.
struct Stage {
  int candidates = 0, rounds = 0;
};
inline constexpr Stage search_stages[] = {{0, 3}, {12, 10}, {4, 40}};

/// Searches candidates 0 to count - 1, which come best guess first. The first stage ends when its share of
/// the time is used, but not before a candidate has been measured; later stages run fewer rounds where the
/// time would not do. The winner is confirmed; one that fails falls out, and the next best is taken.
/// `told` (may be null) hears of every change.
SearchState successive_halving(Measurer& measurer, int count, const SearchLimits& limits,
                               const std::function<void(const SearchState&)>& told);

}  // namespace einkern::autotune
