// What a search asks of whoever measures: a worker on a device, or a recorded space that is replayed.
#pragma once

#include <string>
#include <vector>

namespace einkern::autotune {

/// A candidate's admission to the search.
struct Admission {
  std::string outcome;   // "": it may be timed; else why it fell out, as in CandidateFate
  double seconds = 0;    // of the run that checked it, about
  double error = 0;      // largest error of an element, as a share of the output's largest magnitude
  bool untried = false;  // it was not compiled in time: it has not failed, and a later search may try it
};

/// Samples of one candidate, in seconds; or what became of it while it was timed.
struct Timing {
  std::string outcome;
  std::vector<double> samples;
};

/// Candidates are known by their numbers.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Compiles, loads and checks a candidate.
  virtual Admission admit(int candidate) = 0;
  /// Times admitted candidates in interleaved rounds.
  virtual std::vector<Timing> time(const std::vector<int>& candidates, int rounds) = 0;
  /// Checks a candidate once more, twice for the same bits. "" or why it falls out.
  virtual std::string confirm(int candidate) = 0;
  /// Seconds since the search began.
  virtual double elapsed() const = 0;
};

}  // namespace einkern::autotune
