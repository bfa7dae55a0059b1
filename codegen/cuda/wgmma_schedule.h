// What the schedules on Hopper's tensor cores have in common: when they fit, and the module around a product.
#pragma once

#include "codegen/cuda/wgmma_problem.h"
#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

class WgmmaSchedule : public Schedule {
 public:
  core::Backend backend() const final { return core::Backend::cuda; }
  bool calibrated() const final { return true; }
  std::optional<std::string> reason_against(const KernelContext& context) const final;
  ConfigurationSpace space(const KernelContext& context) const final;
  Estimate estimate(const KernelContext& context, const Configuration& configuration) const final;
  core::Result<core::Emission> emit(const KernelContext& context,
                                    const Configuration& configuration) const final;

 protected:
  virtual ConfigurationSpace space_of(const KernelContext& context, const WgmmaProblem& problem) const = 0;
  virtual Estimate estimate_of(const KernelContext& context, const WgmmaProblem& problem,
                               const Configuration& configuration) const = 0;
  /// Writes the product's kernel; operands are packed by then.
  virtual LaunchShape emit_product(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                                   const Configuration& configuration) const = 0;
};

}  // namespace einkern::codegen::cuda
