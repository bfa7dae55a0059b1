#include "autotune/search.h"

#include <algorithm>

#include "autotune/statistics.h"

namespace einkern::autotune {
namespace {

constexpr double first_stage_share = 0.7;  // of the time; what is left goes to the best
/// A candidate whose checked run took this much longer than the best is not timed. That run is the first of
/// its code, on cold caches, and the host's clock sees the launch: hence the slack.
constexpr double hopeless_factor = 4, hopeless_slack_seconds = 5e-3;
/// Whose median is so many times the best has no place in a later stage.
constexpr double outclassed_factor = 2;
constexpr int least_rounds = 3;  // of a later stage, whatever the time

class Halving {
 public:
  Halving(Measurer& measurer, int count, const SearchLimits& limits,
          const std::function<void(const SearchState&)>& told)
      : measurer_(measurer), limits_(limits), told_(told) {
    state_.trials.resize(static_cast<std::size_t>(count));
  }

  SearchState run() {
    try_all();
    for (const Stage& stage : search_stages)
      if (stage.candidates > 0 && !stop()) time_best(stage);
    confirm_winner();
    return std::move(state_);
  }

 private:
  bool stop() {
    if (limits_.interrupted && limits_.interrupted()) state_.interrupted = true;
    return state_.interrupted;
  }

  void tell() {
    const std::vector<int> ranking = ranked();
    state_.best = ranking.empty() ? std::nullopt : std::optional<int>(ranking.front());
    if (told_) told_(state_);
  }

  Trial& trial(int candidate) { return state_.trials[static_cast<std::size_t>(candidate)]; }

  /// Measured candidates, fastest first. Samples of different stages were taken at different times and do not
  /// compare: who came further stands before who fell behind.
  std::vector<int> ranked() {
    std::vector<int> candidates;
    for (int i = 0; i < static_cast<int>(state_.trials.size()); ++i)
      if (trial(i).outcome == "measured") candidates.push_back(i);
    std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
      if (trial(a).stage != trial(b).stage) return trial(a).stage > trial(b).stage;
      return trial(a).seconds() < trial(b).seconds();
    });
    return candidates;
  }

  void try_all() {
    for (int i = 0; i < static_cast<int>(state_.trials.size()); ++i) {
      const bool late = measurer_.elapsed() > first_stage_share * limits_.seconds;
      if (stop() || (late && state_.best)) return;
      const Admission admission = measurer_.admit(i);
      if (stop()) return;  // what it says of this candidate may come of the interruption
      if (admission.untried) continue;
      trial(i).outcome = admission.outcome;
      trial(i).error = admission.error;
      if (admission.outcome.empty()) {
        if (is_hopeless(admission)) {
          keep_samples(i, {admission.seconds});
        } else {
          take({i}, search_stages[0].rounds);
        }
      }
      tell();
    }
  }

  bool is_hopeless(const Admission& admission) {
    return state_.best &&
           admission.seconds > hopeless_factor * trial(*state_.best).seconds() + hopeless_slack_seconds;
  }

  void keep_samples(int candidate, std::vector<double> samples) {
    Trial& one = trial(candidate);
    one.outcome = "measured";
    one.stage = stage_;
    one.runs += static_cast<int>(samples.size());
    one.samples = std::move(samples);
  }

  void take(const std::vector<int>& candidates, int rounds) {
    const std::vector<Timing> timings = measurer_.time(candidates, rounds);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!timings[i].outcome.empty())
        trial(candidates[i]).outcome = timings[i].outcome;
      else if (!timings[i].samples.empty())  // else interrupted
        keep_samples(candidates[i], timings[i].samples);
    }
  }

  void time_best(const Stage& stage) {
    std::vector<int> best = ranked();
    if (best.size() < 2) return;
    std::erase_if(best, [limit = outclassed_factor * trial(best.front()).seconds(), this](int candidate) {
      return trial(candidate).seconds() > limit;
    });
    ++stage_;
    best.resize(std::min(best.size(), static_cast<std::size_t>(stage.candidates)));
    double seconds_a_round = 0;
    for (const int candidate : best) seconds_a_round += trial(candidate).seconds();
    const double left = limits_.seconds - measurer_.elapsed();
    const double fitting = left / std::max(seconds_a_round, 1e-9);
    take(best, static_cast<int>(std::clamp<double>(fitting, least_rounds, stage.rounds)));
    tell();
  }

  void confirm_winner() {
    while (state_.best) {
      const std::string outcome = measurer_.confirm(*state_.best);
      if (outcome.empty() || stop()) return;
      trial(*state_.best).outcome = outcome;
      tell();
    }
  }

  Measurer& measurer_;
  const SearchLimits& limits_;
  const std::function<void(const SearchState&)>& told_;
  SearchState state_;
  int stage_ = 1;
};

}  // namespace

double Trial::seconds() const { return median(samples); }

SearchState successive_halving(Measurer& measurer, int count, const SearchLimits& limits,
                               const std::function<void(const SearchState&)>& told) {
  return Halving(measurer, count, limits, told).run();
}

}  // namespace einkern::autotune
