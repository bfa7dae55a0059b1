#include "engine/tune.h"

#include <mutex>
#include <set>

#include <fmt/format.h>

namespace einkern::engine {

core::Result<std::vector<autotune::TuneOutcome>> tune_call(const dsl::Function& function,
                                                           const std::vector<codegen::Plan>& plans,
                                                           const Call& call,
                                                           const std::shared_ptr<runtime::Device>& device,
                                                           const autotune::TuneOptions& options,
                                                           const autotune::ProgressHandler& progress) {
  EINKERN_TRY(const dsl::Binding binding, bind_call(function, call));
  std::vector<autotune::TuneOutcome> outcomes;
  std::set<std::string> seen;
  EINKERN_TRY(const std::vector<BoundPlan> bound_plans, bind_plans(plans, binding, call));
  for (const BoundPlan& bound : bound_plans)
    for (const codegen::Kernel& kernel : bound.plan.kernels) {
      const codegen::KernelContext context{bound.plan, kernel, bound.specialisation, device->facts(),
                                           binding};
      // Plans share kernels; each is tuned once.
      if (!seen.insert(autotune::record_key(context).fingerprint()).second) continue;
      EINKERN_TRY(autotune::TuneOutcome outcome,
                  autotune::tune_kernel(context, bound.placements, *device, options, progress));
      const bool interrupted = outcome.interrupted;
      const bool found_nothing = interrupted && outcome.record.schedule.empty();
      if (!found_nothing) outcomes.push_back(std::move(outcome));
      if (interrupted) return outcomes;
    }
  return outcomes;
}

core::Result<void> tune_unseen(const dsl::Function& function, const std::vector<codegen::Plan>& plans,
                               const Call& call, const std::shared_ptr<runtime::Device>& device) {
  static std::mutex
      one_at_a_time;  // whoever waits finds the records, and two would disturb each other's times
  const std::lock_guard lock(one_at_a_time);
  if (const auto outcomes = tune_call(function, plans, call, device, {}, nullptr); !outcomes)
    return core::Error{outcomes.error().kind, fmt::format("{} (EINKERN_TUNE=on asks for tuning; unset it to "
                                                          "take the cost model's choice)",
                                                          outcomes.error().message)};
  return {};
}

}  // namespace einkern::engine
