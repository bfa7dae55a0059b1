#include "codegen/cuda/schedules.h"

#include "codegen/cuda/schedule_classes.h"

namespace einkern::codegen::cuda {

const std::vector<const Schedule*>& schedules() {
  static const std::vector<const Schedule*> all = {
      &permute_schedule(),       &pointwise_schedule(),   &row_reduction_schedule(), &wgmma_matmul_schedule(),
      &wgmma_split_k_schedule(), &simt_matmul_schedule(), &generic_schedule(),
  };
  return all;
}

}  // namespace einkern::codegen::cuda
