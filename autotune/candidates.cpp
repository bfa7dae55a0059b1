#include "autotune/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace einkern::autotune {
namespace {

constexpr int sure_places = 3;  // of every schedule that fits

struct Guess {
  const codegen::Schedule* schedule;
  codegen::Configuration configuration;
  codegen::Estimate estimate;
  int turn = 0;  // 0: to be kept, 1: a schedule's best, 2: its second best, …; the rest share the last
};

std::vector<Guess> guesses(const codegen::KernelContext& context, const CandidateRequest& request,
                           std::vector<std::string>& reasons) {
  std::vector<Guess> all;
  bool known = request.schedule.empty();
  for (const codegen::Schedule* schedule : codegen::schedules(context.device.backend)) {
    if (!request.schedule.empty() && schedule->name() != request.schedule) continue;
    known = true;
    if (const auto reason = schedule->reason_against(context)) {
      reasons.push_back(fmt::format("{}: {}", schedule->name(), *reason));
      continue;
    }
    // Skipped ones take no place, so that going on finds what comes next.
    const std::size_t limit =
        static_cast<std::size_t>(request.count) + request.skip.size() + request.keep.size();
    int place = 0;
    for (codegen::Configuration& configuration : codegen::ranked_configurations(*schedule, context, limit)) {
      const CandidateName name(schedule->name(), configuration.text());
      const bool kept = request.keep.contains(name);
      if (!kept && request.skip.contains(name)) continue;
      const codegen::Estimate estimate = schedule->estimate(context, configuration);
      const int turn = kept ? 0 : std::min(++place, sure_places + 1);
      all.push_back({schedule, std::move(configuration), estimate, turn});
    }
    if (place == 0 && request.skip.empty())
      reasons.push_back(
          fmt::format("{}: no configuration is legal on {}", schedule->name(), context.device.name));
  }
  if (!known) reasons.push_back(fmt::format("no schedule of this device is called {}", request.schedule));
  return all;
}

}  // namespace

CandidateList list_candidates(const codegen::KernelContext& context, const CandidateRequest& request) {
  CandidateList list;
  std::vector<Guess> all = guesses(context, request, list.reasons);
  const auto faster = [](const Guess& a, const Guess& b) { return a.estimate.seconds < b.estimate.seconds; };
  std::stable_sort(all.begin(), all.end(), [&](const Guess& a, const Guess& b) {
    return a.turn != b.turn ? a.turn < b.turn : faster(a, b);
  });
  std::set<std::string> texts;
  for (Guess& guess : all) {
    if (static_cast<int>(list.candidates.size()) == request.count) break;
    auto emission = guess.schedule->emit(context, guess.configuration);
    if (!emission) {
      list.reasons.push_back(fmt::format("{} {}: {}", guess.schedule->name(), guess.configuration.text(),
                                         emission.error().message));
      continue;
    }
    if (!texts.insert(emission->source + emission->launch.to_json()).second) continue;
    list.candidates.push_back(
        {guess.schedule, std::move(guess.configuration), guess.estimate, std::move(*emission)});
  }
  // Kept ones stay in front; of the others the best guess comes first.
  const auto kept = std::count_if(all.begin(), all.end(), [](const Guess& g) { return g.turn == 0; });
  std::stable_sort(
      list.candidates.begin() + std::min<std::ptrdiff_t>(kept, list.candidates.size()), list.candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.estimate.seconds < b.estimate.seconds; });
  return list;
}

}  // namespace einkern::autotune
