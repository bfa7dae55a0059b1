#include "engine/tune.h"

#include <set>

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
  const std::vector<BoundPlan> bound_plans = bind_plans(plans, binding, call);
  for (const BoundPlan& bound : bound_plans)
    for (const codegen::Kernel& kernel : bound.plan.kernels) {
      const codegen::KernelContext context{bound.plan, kernel, bound.specialisation, device->facts(),
                                           binding};
      // Plans share kernels; each is tuned once.
      if (!seen.insert(autotune::record_key(context).fingerprint()).second) continue;
      EINKERN_TRY(autotune::TuneOutcome outcome, autotune::tune_kernel(context, *device, options, progress));
      const bool interrupted = outcome.interrupted;
      const bool found_nothing = interrupted && outcome.record.schedule.empty();
      if (!found_nothing) outcomes.push_back(std::move(outcome));
      if (interrupted) return outcomes;
    }
  return outcomes;
}

}  // namespace einkern::engine
