// cuda.wgmma_split_k: a sum of products of f16 or bf16 elements on Hopper's tensor cores where one side of
// the result is short. The long side's operand streams through once, as the 64-row side of wgmma, so that
// few columns waste nothing; the blocks of a cluster share the sum and add up through distributed shared
// memory. What each part is worth stands in docs/performance.md.
#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/split_k_emitter.h"
#include "codegen/cuda/split_k_model.h"
#include "codegen/cuda/wgmma_schedule.h"

namespace einkern::codegen::cuda {

namespace {

class WgmmaSplitKSchedule final : public WgmmaSchedule {
 public:
  std::string_view name() const override { return "cuda.wgmma_split_k"; }
  int version() const override { return 1; }

 protected:
  ConfigurationSpace space_of(const KernelContext& context, const WgmmaProblem& problem) const override {
    return split_k_space(context, problem);
  }
  Estimate estimate_of(const KernelContext& context, const WgmmaProblem& problem,
                       const Configuration& c) const override {
    return estimate_split_k(context, problem, c);
  }
  LaunchShape emit_product(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                           const Configuration& c) const override {
    return emit_split_k(module, kernel, problem, split_k_tile(c, kernel.context().device));
  }
};

}  // namespace

const Schedule& wgmma_split_k_schedule() {
  static const WgmmaSplitKSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
