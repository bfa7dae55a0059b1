#include "engine/kernel_choice.h"

#include <fmt/format.h>

#include "dsl/diagnostic.h"
#include "runtime/warnings.h"

namespace einkern::engine {
namespace {

using codegen::Configuration;
using codegen::KernelContext;
using codegen::Schedule;

core::Error usage(std::string message) { return {core::ErrorKind::usage, std::move(message)}; }

/// The record's kernel, if its schedule still exists in that version, fits, and its configuration is legal.
std::optional<KernelChoice> from_record(const KernelContext& context, const autotune::TuningRecord& record) {
  const Schedule* schedule = codegen::find_schedule(record.schedule);
  const auto configuration = Configuration::parse(record.configuration);
  if (!schedule || schedule->version() != record.schedule_version || !configuration) {
    runtime::warn_once("record " + record.key.fingerprint(),
                       fmt::format("a tuning record of {} is ignored: {} version {} is no more; tune again",
                                   record.function, record.schedule, record.schedule_version));
    return std::nullopt;
  }
  if (schedule->reason_against(context) || schedule->space(context).violation(*configuration))
    return std::nullopt;
  return KernelChoice{.schedule = schedule,
                      .configuration = *configuration,
                      .estimate = schedule->estimate(context, *configuration)};
}

core::Result<KernelChoice> from_wish(const KernelContext& context, const KernelWish& wish) {
  std::string reasons;
  for (const Schedule* schedule : codegen::schedules(context.device.backend)) {
    if (!wish.schedule.empty() && schedule->name() != wish.schedule) continue;
    if (const auto reason = schedule->reason_against(context)) {
      reasons += fmt::format("\n  {}: {}", schedule->name(), *reason);
      continue;
    }
    if (wish.configuration.empty()) {
      const auto ranked = codegen::ranked_configurations(*schedule, context, 1);
      if (ranked.empty()) continue;
      return KernelChoice{
          schedule, ranked[0], ChoiceSource::given, schedule->estimate(context, ranked[0]), {}};
    }
    EINKERN_TRY(const Configuration configuration, Configuration::parse(wish.configuration));
    if (const auto violation = schedule->space(context).violation(configuration))
      return usage(fmt::format("the configuration \"{}\" is not legal for {}: {}", wish.configuration,
                               schedule->name(), *violation));
    return KernelChoice{
        schedule, configuration, ChoiceSource::given, schedule->estimate(context, configuration), {}};
  }
  if (!wish.schedule.empty() && reasons.empty()) {
    std::vector<std::string_view> names;
    for (const Schedule* schedule : codegen::schedules(context.device.backend))
      if (schedule->name() != wish.schedule) names.push_back(schedule->name());
    const std::string_view near = dsl::nearest_name(wish.schedule, names);
    return usage(fmt::format("no schedule is called {}{}", wish.schedule,
                             near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
  }
  return usage(fmt::format("the schedule asked for cannot compute {}:{}", context.kernel.name, reasons));
}

/// The cost model's pick: the lowest estimate among calibrated schedules, else the first schedule that fits.
core::Result<KernelChoice> from_model(const KernelContext& context) {
  std::string reasons;
  std::optional<KernelChoice> best;
  for (const Schedule* schedule : codegen::schedules(context.device.backend)) {
    if (best && !schedule->calibrated()) continue;
    if (const auto reason = schedule->reason_against(context)) {
      reasons += fmt::format("\n  {}: {}", schedule->name(), *reason);
      continue;
    }
    const auto ranked = codegen::ranked_configurations(*schedule, context, 1);
    if (ranked.empty()) {
      reasons +=
          fmt::format("\n  {}: no configuration is legal on {}", schedule->name(), context.device.name);
      continue;
    }
    const codegen::Estimate estimate = schedule->estimate(context, ranked[0]);
    if (!best || estimate.seconds < best->estimate.seconds)
      best = KernelChoice{schedule, ranked[0], ChoiceSource::model, estimate, {}};
    if (!best->schedule->calibrated()) break;
  }
  if (best) return *best;
  return core::Error{core::ErrorKind::device, fmt::format("no schedule can compute {} on {}:{}",
                                                          context.kernel.name, context.device.name, reasons)};
}

/// What was tuned for other sizes is taken unless the model expects it to lose clearly here: a square
/// product's winner is no kernel for one row (seen on an H200: half the speed of the model's pick).
std::optional<KernelChoice> from_nearest(const KernelContext& context, const autotune::RecordStore& records,
                                         const autotune::RecordKey& key,
                                         const core::Result<KernelChoice>& model) {
  constexpr double clearly_worse = 1.25;
  const auto record = records.nearest(key);
  if (!record) return std::nullopt;
  auto choice = from_record(context, *record);
  if (!choice) return std::nullopt;
  if (model.ok() && choice->estimate.seconds > clearly_worse * model->estimate.seconds) return std::nullopt;
  choice->source = ChoiceSource::nearest_record;
  return choice;
}

}  // namespace

std::string_view source_name(ChoiceSource source) {
  switch (source) {
    case ChoiceSource::given:
      return "given";
    case ChoiceSource::record:
      return "tuned";
    case ChoiceSource::nearest_record:
      return "tuned for near sizes";
    case ChoiceSource::model:
      return "model";
  }
  return "";
}

core::Result<KernelChoice> choose_kernel(const KernelContext& context, const autotune::RecordStore& records,
                                         const KernelWish& wish) {
  if (!wish.schedule.empty() || !wish.configuration.empty()) return from_wish(context, wish);
  const autotune::RecordKey key = autotune::record_key(context);
  if (const auto record = records.find(key))
    if (auto choice = from_record(context, *record)) {
      choice->source = ChoiceSource::record;
      choice->measured_seconds = record->seconds;
      return *choice;
    }
  auto model = from_model(context);
  if (auto choice = from_nearest(context, records, key, model)) return *std::move(choice);
  return model;
}

}  // namespace einkern::engine
