// cuda.simt_matmul: a sum of products on CUDA cores, in any type. Blocks of the result in registers, tiles of
// the operands in several stages of shared memory. The method of Volkov and Demmel (SC 2008), as CUTLASS
// describes it in "Efficient GEMM in CUDA".
#include <fmt/format.h>

#include "codegen/cuda/product_form.h"
#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/simt_matmul_emitter.h"
#include "codegen/cuda/simt_matmul_model.h"

namespace einkern::codegen::cuda {

namespace {

class SimtMatmulSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cuda.simt_matmul"; }
  int version() const override { return 2; }
  core::Backend backend() const override { return core::Backend::cuda; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    const auto form = product_form(context);
    if (!form.ok()) return form.error().message;
    if ((*form)->accumulator == DType::boolean) return "the sum is no number";
    return std::nullopt;
  }

  ConfigurationSpace space(const KernelContext& context) const override { return simt_matmul_space(context); }

  Estimate estimate(const KernelContext& context, const Configuration& c) const override {
    return estimate_simt_matmul(context, c);
  }

  core::Result<core::Emission> emit(const KernelContext& context, const Configuration& c) const override {
    const auto& form = std::get<Contraction>(context.kernel.form);
    const SimtMatmulTile tile = simt_matmul_tile(c, core::size_bytes(form.accumulator));
    ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), c.text()));
    const std::string entry = entry_name(context, *this, c);
    KernelWriter& product = module.add_kernel(entry);
    const LaunchShape product_launch = emit_simt_matmul(product, tile);
    module.finish_kernel(product, product_launch);
    if (tile.splits > 1) {
      KernelWriter& sum = module.add_kernel(entry + "_sum");
      const LaunchShape sum_launch = emit_sum_of_parts(sum, tile);
      module.finish_kernel(sum, sum_launch);
    }
    return std::move(module).finish();
  }
};

}  // namespace

const Schedule& simt_matmul_schedule() {
  static const SimtMatmulSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
