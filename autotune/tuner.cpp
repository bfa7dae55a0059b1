#include "autotune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "autotune/candidates.h"
#include "autotune/check_kernels.h"
#include "autotune/flush.h"
#include "autotune/problem.h"
#include "autotune/search.h"
#include "autotune/statistics.h"
#include "autotune/worker_measurer.h"
#include "codegen/cuda/schedules.h"
#include "codegen/plan/access.h"
#include "core/version.h"
#include "runtime/kernel_builder.h"
#include "runtime/kernel_key.h"

namespace einkern::autotune {
namespace {

using codegen::KernelContext;
using Placements = std::vector<codegen::TensorPlacement>;
using Clock = std::chrono::steady_clock;
using CompiledPointer = std::shared_ptr<const runtime::CompiledKernel>;

/// On the CPU compiling and measuring would share the cores: so much of the time goes to compiling first.
constexpr double compile_share_on_cpu = 0.4;
constexpr double least_reference_seconds = 60;

core::Error device_error(std::string message) { return {core::ErrorKind::device, std::move(message)}; }

/// Above so many operations (a multiply-add counts 2) the reference computes a sample of the output.
constexpr double most_whole_operations = 2.0 * (std::int64_t{1} << 38);

Sampling sampling_of(const KernelContext& context, std::uint64_t seed) {
  Sampling sampling{.name = codegen::cuda::sample_name(context.kernel), .seed = seed};
  for (const dsl::AxisId axis : codegen::cuda::sampled_axes(context.kernel))
    sampling.extents.push_back(codegen::extent_of(*context.plan.graph, axis, context.binding));
  return sampling;
}

/// A record that can be used: of the schedule's present version.
std::optional<TuningRecord> usable_record(const RecordKey& key) {
  auto record = process_records().find(key);
  if (!record) return record;
  const codegen::Schedule* schedule = codegen::find_schedule(record->schedule);
  if (schedule == nullptr || schedule->version() != record->schedule_version) record.reset();
  return record;
}

class Tuning {
 public:
  Tuning(const KernelContext& context, const Placements& placements, runtime::Device& device,
         const TuneOptions& options, const ProgressHandler& progress)
      : context_(context),
        placements_(placements),
        device_(device),
        options_(options),
        progress_(progress),
        builder_(&runtime::process_cache()) {}

  core::Result<TuneOutcome> run(const std::optional<TuningRecord>& before) {
    CandidateRequest request{.count = std::max(1, options_.candidates), .schedule = options_.schedule};
    if (before) ask_for_more(*before, request);
    list_ = list_candidates(context_, request);
    const bool nothing_new = list_.candidates.size() <= request.keep.size();
    if (before && nothing_new) return TuneOutcome{.record = *before, .from_record = true};
    if (list_.candidates.empty())
      return device_error(fmt::format("no kernel for {} can be emitted for {}:{}", context_.kernel.name,
                                      context_.device.name, joined(list_.reasons)));
    auto started = start_measurer();
    if (!started && interrupted()) return TuneOutcome{.interrupted = true};
    EINKERN_TRY(const auto measurer, std::move(started));
    const double used = seconds_used() - measurer->elapsed();
    const SearchState found = successive_halving(
        *measurer, static_cast<int>(list_.candidates.size()),
        {.seconds = options_.seconds - used, .interrupted = [this] { return interrupted(); }},
        [this](const SearchState& state) { tell(state); });
    builder_.cancel_waiting();
    return conclude(found, before);
  }

 private:
  static std::string joined(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) text += "\n  " + reason;
    return text;
  }

  static void ask_for_more(const TuningRecord& before, CandidateRequest& request) {
    for (const CandidateFate& fate : before.candidates)
      request.skip.insert({fate.schedule, fate.configuration});
    // The best so far runs again beside the new ones: times of different hours do not compare.
    request.keep.insert({before.schedule, before.configuration});
    request.count += 1;
  }

  bool interrupted() const { return options_.interrupted != nullptr && options_.interrupted->load(); }
  double seconds_used() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// The emission must outlive the builder.
  std::shared_future<runtime::BuiltKernel> submit(const core::Emission& emission) {
    return builder_.submit(runtime::kernel_key(emission, device_),
                           [this, &emission]() -> core::Result<runtime::CompiledKernel> {
                             EINKERN_TRY(core::Artifact artifact, device_.compile(emission));
                             return runtime::CompiledKernel{emission.launch, std::move(artifact)};
                           });
  }

  core::Result<std::unique_ptr<WorkerMeasurer>> start_measurer() {
    const bool on_gpu = device_.facts().backend == core::Backend::cuda;
    EINKERN_TRY(Problem problem, make_problem(context_, placements_, options_.seed));
    const codegen::Schedule& reference_schedule = schedule_of_reference();
    if (&reference_schedule == &codegen::cuda::sampled_reference_schedule())
      problem.sampling = sampling_of(context_, options_.seed);
    EINKERN_TRY(reference_, emission_of_reference(reference_schedule));
    const auto reference = submit(reference_);
    std::shared_future<runtime::BuiltKernel> checks, flush;
    if (on_gpu) {
      checks_ = check_emission();
      flush_ = flush_emission(device_.facts());
      checks = submit(checks_);
      flush = submit(flush_);
    }
    std::vector<MeasuredKernel> kernels;
    for (const Candidate& candidate : list_.candidates) {
      builds_.push_back(submit(candidate.emission));
      kernels.push_back({builds_.back(), candidate.estimate.seconds});
    }
    WorkerSetting setting{.device = on_gpu ? device_.facts().uuid : "cpu", .problem = std::move(problem)};
    EINKERN_TRY(setting.reference, reference.get());
    if (on_gpu) {
      EINKERN_TRY(setting.checks, checks.get());
      EINKERN_TRY(setting.flush, flush.get());
    } else {
      wait_for_compiler();
    }
    setting.reference_seconds = std::max(least_reference_seconds, options_.seconds);
    setting.seed = options_.seed;
    setting.interrupted = [this] { return interrupted(); };
    return WorkerMeasurer::start(std::move(setting), std::move(kernels));
  }

  const codegen::Schedule& schedule_of_reference() const {
    if (device_.facts().backend == core::Backend::cpu) {
      const codegen::Schedule* schedule = codegen::find_schedule("cpu.reference");
      return schedule != nullptr ? *schedule : *codegen::schedules(core::Backend::cpu).back();
    }
    const codegen::Schedule& sampled = codegen::cuda::sampled_reference_schedule();
    const double operations =
        codegen::kernel_cost(context_.plan, context_.kernel, context_.binding).operations;
    return operations > most_whole_operations && !sampled.reason_against(context_)
               ? sampled
               : codegen::cuda::reference_schedule();
  }

  core::Result<core::Emission> emission_of_reference(const codegen::Schedule& schedule) const {
    if (const auto reason = schedule.reason_against(context_))
      return device_error(fmt::format("candidates of {} cannot be checked: {} does not fit: {}",
                                      context_.kernel.name, schedule.name(), *reason));
    const auto ranked = codegen::ranked_configurations(schedule, context_, 1);
    if (ranked.empty())
      return device_error(fmt::format("candidates of {} cannot be checked: {} has no legal configuration",
                                      context_.kernel.name, schedule.name()));
    return schedule.emit(context_, ranked.front());
  }

  void wait_for_compiler() {
    const double end = compile_share_on_cpu * options_.seconds;
    for (const auto& built : builds_)
      while (built.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
        if (interrupted() || seconds_used() > end) return builder_.cancel_waiting();
  }

  void tell(const SearchState& state) {
    if (!progress_) return;
    TuneProgress now{.kernel = context_.kernel.name,
                     .candidates = static_cast<int>(list_.candidates.size()),
                     .operations = list_.candidates.front().estimate.operations,
                     .bytes = list_.candidates.front().estimate.bytes,
                     .limit_seconds = list_.candidates.front().estimate.limit_seconds,
                     .seconds_left = std::max(0.0, options_.seconds - seconds_used())};
    for (const auto& built : builds_)
      now.compiled += built.wait_for(std::chrono::seconds(0)) == std::future_status::ready ? 1 : 0;
    for (const Trial& trial : state.trials) {
      now.measured += trial.outcome == "measured" ? 1 : 0;
      now.failed += trial.outcome.empty() || trial.outcome == "measured" ? 0 : 1;
    }
    if (state.best) {
      const Candidate& best = list_.candidates[static_cast<std::size_t>(*state.best)];
      now.best_seconds = state.trials[static_cast<std::size_t>(*state.best)].seconds();
      now.best = fmt::format("{} {}", best.schedule->name(), best.configuration.text());
    }
    progress_(now);
  }

  core::Result<TuneOutcome> conclude(const SearchState& found, const std::optional<TuningRecord>& before) {
    if (!found.best && before)
      return TuneOutcome{.record = *before, .from_record = true, .interrupted = found.interrupted};
    if (!found.best && found.interrupted) return TuneOutcome{.interrupted = true};
    if (!found.best) return all_failed(found);
    const Candidate& best = list_.candidates[static_cast<std::size_t>(*found.best)];
    const Trial& trial = found.trials[static_cast<std::size_t>(*found.best)];
    TuneOutcome outcome{.interrupted = found.interrupted};
    outcome.record = {.key = record_key(context_),
                      .function = context_.kernel.name,
                      .schedule = std::string(best.schedule->name()),
                      .schedule_version = best.schedule->version(),
                      .configuration = best.configuration.text(),
                      .seconds = trial.seconds(),
                      .spread = spread(trial.samples),
                      .error = trial.error,
                      .limit_seconds = best.estimate.limit_seconds,
                      .version = std::string(core::version),
                      .candidates = fates(found, before)};
    EINKERN_CHECK_OK(process_records().store(outcome.record));
    return outcome;
  }

  /// What became of every candidate that was tried, now or before.
  std::vector<CandidateFate> fates(const SearchState& found, const std::optional<TuningRecord>& before) {
    std::vector<CandidateFate> all;
    std::set<CandidateName> tried;
    for (std::size_t i = 0; i < list_.candidates.size(); ++i) {
      const Trial& trial = found.trials[i];
      if (trial.outcome.empty()) continue;
      const Candidate& candidate = list_.candidates[i];
      all.push_back({.schedule = std::string(candidate.schedule->name()),
                     .configuration = candidate.configuration.text(),
                     .outcome = trial.outcome,
                     .seconds = trial.seconds(),
                     .runs = trial.runs});
      tried.insert({all.back().schedule, all.back().configuration});
    }
    if (before)
      for (const CandidateFate& fate : before->candidates)
        if (!tried.contains({fate.schedule, fate.configuration})) all.push_back(fate);
    return all;
  }

  core::Error all_failed(const SearchState& found) {
    std::map<std::string, int> reasons;
    for (const Trial& trial : found.trials)
      if (!trial.outcome.empty()) ++reasons[trial.outcome];
    std::string text;
    for (const auto& [reason, count] : reasons)
      text += fmt::format("\n  {} candidate{}: {}", count, count == 1 ? "" : "s", reason);
    return device_error(fmt::format("no candidate for {} works on {}:{}{}", context_.kernel.name,
                                    context_.device.name, text, joined(list_.reasons)));
  }

  const KernelContext& context_;
  const Placements& placements_;
  runtime::Device& device_;
  const TuneOptions& options_;
  const ProgressHandler& progress_;
  Clock::time_point begin_ = Clock::now();
  CandidateList list_;
  core::Emission reference_, checks_, flush_;
  std::vector<std::shared_future<runtime::BuiltKernel>> builds_;
  runtime::KernelBuilder builder_;  // goes first: its threads use the emissions
};

}  // namespace

core::Result<TuneOutcome> tune_kernel(const KernelContext& context, const Placements& placements,
                                      runtime::Device& device, const TuneOptions& options,
                                      const ProgressHandler& progress) {
  if (is_empty(context)) return TuneOutcome{.nothing_to_measure = true};
  const std::optional<TuningRecord> before = usable_record(record_key(context));
  if (before && !options.more) return TuneOutcome{.record = *before, .from_record = true};
  return Tuning(context, placements, device, options, progress).run(before);
}

}  // namespace einkern::autotune
