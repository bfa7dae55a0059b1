// cuda.wgmma_matmul: a sum of products of f16 or bf16 elements on Hopper's tensor cores. The copy engine
// fills a ring of stages in swizzled shared memory, one warp group drives it, two multiply; a persistent grid
// walks over tiles in bands. The parts are those of CUTLASS's warp-specialised kernels for sm_90; what each
// is worth stands in docs/performance.md.
#include <fmt/format.h>

#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/wgmma_matmul_emitter.h"
#include "codegen/cuda/wgmma_matmul_model.h"

namespace einkern::codegen::cuda {

namespace {

class WgmmaMatmulSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cuda.wgmma_matmul"; }
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
    return problem.ok() ? wgmma_matmul_space(context, *problem) : ConfigurationSpace{};
  }

  Estimate estimate(const KernelContext& context, const Configuration& c) const override {
    const auto problem = wgmma_problem(context);
    return problem.ok() ? estimate_wgmma_matmul(context, *problem, c) : Estimate{};
  }

  core::Result<core::Emission> emit(const KernelContext& context, const Configuration& c) const override {
    EINKERN_TRY(const WgmmaProblem problem, wgmma_problem(context));
    const WgmmaTile tile = wgmma_tile(c);
    const Configuration compiled = wgmma_matmul_space(context, problem).compiled_part(c);
    ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), compiled.text()));
    const std::string entry = entry_name(context, *this, compiled);
    emit_packing(module, problem, entry);
    KernelWriter& kernel = module.add_kernel(entry);
    const LaunchShape launch =
        emit_wgmma_matmul(module, kernel, problem, tile, static_cast<int>(c.get("band")));
    module.finish_kernel(kernel, launch);
    return std::move(module).finish();
  }
};

}  // namespace

const Schedule& wgmma_matmul_schedule() {
  static const WgmmaMatmulSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
