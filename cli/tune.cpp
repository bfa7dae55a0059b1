// einkern tune: search, with a live progress bar.
#include <atomic>
#include <csignal>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/problem.h"
#include "cli/terminal.h"
#include "engine/device_registry.h"
#include "engine/explain.h"
#include "engine/tune.h"

namespace einkern::cli {
namespace {

using Json = nlohmann::ordered_json;

std::atomic<bool> interrupted{false};
void on_interrupt(int) { interrupted.store(true); }

/// One line on standard error, rewritten in place: candidates, best so far, rate, share of the limit, time
/// left.
void draw_progress(const autotune::TuneProgress& progress) {
  const int done = progress.measured + progress.failed;
  constexpr int width = 20;
  const int filled = progress.candidates > 0 ? std::min(width, done * width / progress.candidates) : 0;
  std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {}/{}", "", filled, "", width - filled, done, progress.candidates);
  if (progress.best_seconds > 0) {
    line += fmt::format("  best {}", engine::seconds_text(progress.best_seconds));
    if (progress.operations > 0)
      line += fmt::format(", {}", engine::rate_text(progress.operations / progress.best_seconds, "op"));
    if (progress.limit_seconds > 0)
      line += fmt::format(", {:.0f} % of the limit", 100 * progress.limit_seconds / progress.best_seconds);
  }
  if (progress.failed > 0) line += fmt::format("  {} failed", progress.failed);
  fmt::print(stderr, "\r\033[K{}  {}  {:.0f} s left", progress.kernel, line, progress.seconds_left);
}

void print_outcome(const autotune::TuneOutcome& outcome) {
  if (outcome.nothing_to_measure) {
    fmt::print("  nothing to measure: an empty tensor\n");
    return;
  }
  const autotune::TuningRecord& record = outcome.record;
  int failed = 0;
  for (const auto& fate : record.candidates) failed += fate.outcome != "measured" ? 1 : 0;
  fmt::print(
      "{}{}\n  best    {} {}\n  time    {} (spread {:.0f} %), {:.0f} % of the limit {}\n  tried   {} "
      "candidates, {} failed; measured error {:.2g}\n",
      record.function, outcome.from_record ? " (from its record; --more searches on)" : "", record.schedule,
      record.configuration, engine::seconds_text(record.seconds), 100 * record.spread,
      record.seconds > 0 ? 100 * record.limit_seconds / record.seconds : 0,
      engine::seconds_text(record.limit_seconds), record.candidates.size(), failed, record.error);
}

}  // namespace

int tune_command(const TuneOptions& options) {
  auto loaded = load_problem(options.problem);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const Problem& problem = std::get<Problem>(loaded);
  const auto device =
      options.device == "best" ? engine::open_best_device() : engine::open_device(options.device);
  if (!device) return report(device.error());
  std::signal(SIGINT, on_interrupt);
  const bool bar = interactive() && !options.json;
  const auto outcomes = engine::tune_call(*problem.function, problem.plans, problem.call, *device,
                                          {.seconds = options.seconds,
                                           .candidates = options.candidates,
                                           .more = options.more,
                                           .schedule = options.schedule,
                                           .seed = options.problem.seed,
                                           .interrupted = &interrupted},
                                          bar ? autotune::ProgressHandler(draw_progress) : nullptr);
  if (bar) fmt::print(stderr, "\r\033[K");
  if (!outcomes) return report(outcomes.error());
  if (options.json) {
    Json all = Json::array();
    for (const auto& outcome : *outcomes)
      if (!outcome.nothing_to_measure) all.push_back(Json::parse(outcome.record.to_json()));
    fmt::print("{}\n", all.dump(1));
  } else {
    for (const auto& outcome : *outcomes) print_outcome(outcome);
  }
  if (interrupted.load()) notice("interrupted: what was found is kept; tune --more goes on from it");
  return success;
}

}  // namespace einkern::cli
