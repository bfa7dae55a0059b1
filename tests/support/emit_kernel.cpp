#include "tests/support/emit_kernel.h"

#include <fmt/format.h>

namespace einkern::testing {
namespace {

const codegen::Schedule* pick_schedule(const codegen::KernelContext& context, core::Backend backend,
                                       const std::string& wanted) {
  const codegen::Schedule* first = nullptr;
  for (const codegen::Schedule* schedule : codegen::schedules(backend)) {
    if (schedule->reason_against(context)) continue;
    if (schedule->name() == wanted) return schedule;
    if (first == nullptr) first = schedule;
  }
  return first;
}

}  // namespace

core::Result<EmittedKernel> emit_kernel(const codegen::KernelContext& context, core::Backend backend,
                                        const EmissionOptions& options) {
  const auto fault = [&](const char* what) {
    return core::Error{core::ErrorKind::internal, fmt::format("no {} for {}", what, context.kernel.name)};
  };
  const codegen::Schedule* schedule = pick_schedule(context, backend, options.schedule);
  if (schedule == nullptr) return fault("schedule");
  const auto ranked = codegen::ranked_configurations(*schedule, context, 100000);
  if (ranked.empty()) return fault("configuration");
  codegen::Configuration chosen = ranked[options.candidate % ranked.size()];
  if (!options.configuration.empty()) {
    EINKERN_TRY(chosen, codegen::Configuration::parse(options.configuration));
  }
  EINKERN_TRY(core::Emission emission, schedule->emit(context, chosen));
  return EmittedKernel{std::move(emission), fmt::format("{} ({})", schedule->name(), chosen.text())};
}

}  // namespace einkern::testing
