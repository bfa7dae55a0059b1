// cuda.wgmma_split_k: a sum of products of f16 or bf16 elements on Hopper's tensor cores where one side of
// the result is short. The long side's operand streams through once, as the 64-row side of wgmma, so that
// few columns waste nothing; the blocks of a cluster share the sum and add up through distributed shared
// memory. What each part is worth stands in docs/performance.md.
#include <fmt/format.h>

#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/split_k_emitter.h"
#include "codegen/cuda/split_k_model.h"

namespace einkern::codegen::cuda {

namespace {

class WgmmaSplitKSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cuda.wgmma_split_k"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cuda; }
  bool calibrated() const override { return true; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    const auto problem = wgmma_problem(context);
    if (problem.ok()) return std::nullopt;
    return problem.error().message;
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    const auto problem = wgmma_problem(context);
    return problem.ok() ? split_k_space(context, *problem) : ConfigurationSpace{};
  }

  Estimate estimate(const KernelContext& context, const Configuration& c) const override {
    const auto problem = wgmma_problem(context);
    return problem.ok() ? estimate_split_k(context, *problem, c) : Estimate{};
  }

  core::Result<core::Emission> emit(const KernelContext& context, const Configuration& c) const override {
    EINKERN_TRY(const WgmmaProblem problem, wgmma_problem(context));
    const SplitKTile tile = split_k_tile(c, context.device);
    ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), c.text()));
    const std::string entry = entry_name(context, *this, c);
    emit_packing(module, problem, entry);
    KernelWriter& kernel = module.add_kernel(entry);
    const LaunchShape launch = emit_split_k(module, kernel, problem, tile);
    module.finish_kernel(kernel, launch);
    return std::move(module).finish();
  }
};

}  // namespace

const Schedule& wgmma_split_k_schedule() {
  static const WgmmaSplitKSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
