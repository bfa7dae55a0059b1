#include "codegen/cuda/wgmma_schedule.h"

#include <fmt/format.h>

namespace einkern::codegen::cuda {

std::optional<std::string> WgmmaSchedule::reason_against(const KernelContext& context) const {
  const auto problem = wgmma_problem(context);
  if (problem.ok()) return std::nullopt;
  return problem.error().message;
}

ConfigurationSpace WgmmaSchedule::space(const KernelContext& context) const {
  const auto problem = wgmma_problem(context);
  return problem.ok() ? space_of(context, *problem) : ConfigurationSpace{};
}

Estimate WgmmaSchedule::estimate(const KernelContext& context, const Configuration& configuration) const {
  const auto problem = wgmma_problem(context);
  return problem.ok() ? estimate_of(context, *problem, configuration) : Estimate{};
}

core::Result<core::Emission> WgmmaSchedule::emit(const KernelContext& context,
                                                 const Configuration& configuration) const {
  EINKERN_TRY(const WgmmaProblem problem, wgmma_problem(context));
  const Configuration compiled = space_of(context, problem).compiled_part(configuration);
  ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), compiled.text()));
  const std::string entry = entry_name(context, *this, compiled);
  emit_packing(module, problem, entry);
  KernelWriter& kernel = module.add_kernel(entry);
  const LaunchShape launch = emit_product(module, kernel, problem, configuration);
  module.finish_kernel(kernel, launch);
  return std::move(module).finish();
}

}  // namespace einkern::codegen::cuda
