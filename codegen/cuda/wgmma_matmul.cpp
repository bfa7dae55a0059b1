// cuda.wgmma_matmul: a sum of products of f16 or bf16 elements on Hopper's tensor cores. The copy engine
// fills a ring of stages in swizzled shared memory, one warp group drives it, two multiply; a persistent grid
// walks over tiles in bands. The parts are those of CUTLASS's warp-specialised kernels for sm_90; what each
// is worth stands in docs/performance.md.
#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/wgmma_matmul_emitter.h"
#include "codegen/cuda/wgmma_matmul_model.h"
#include "codegen/cuda/wgmma_schedule.h"

namespace einkern::codegen::cuda {

namespace {

class WgmmaMatmulSchedule final : public WgmmaSchedule {
 public:
  std::string_view name() const override { return "cuda.wgmma_matmul"; }
  int version() const override { return 1; }

 protected:
  ConfigurationSpace space_of(const KernelContext& context, const WgmmaProblem& problem) const override {
    return wgmma_matmul_space(context, problem);
  }
  Estimate estimate_of(const KernelContext& context, const WgmmaProblem& problem,
                       const Configuration& c) const override {
    return estimate_wgmma_matmul(context, problem, c);
  }
  LaunchShape emit_product(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                           const Configuration& c) const override {
    return emit_wgmma_matmul(module, kernel, problem, wgmma_tile(c), static_cast<int>(c.get("band")));
  }
};

}  // namespace

const Schedule& wgmma_matmul_schedule() {
  static const WgmmaMatmulSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
