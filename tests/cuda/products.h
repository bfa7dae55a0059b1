// Products for the tests of their schedules, and what those tests ask of every emitted text.
#pragma once

#include <string>
#include <vector>

#include "runtime/cuda/nvrtc.h"
#include "tests/support/kernel_cases.h"

namespace einkern::testing {

inline const std::string linear =
    "fn f(x: bf16[M, K], w: bf16[N, K]) -> y: bf16[M, N] { y[i, j] = sum(k) x[i, k] * w[j, k] }";

KernelCase product(const std::string& source, std::vector<std::vector<std::int64_t>> shapes,
                   const std::vector<codegen::TensorPlacement>& placements = {},
                   const std::string& architecture = "sm_90a");
KernelCase square(std::int64_t n, const std::string& source = linear);

codegen::Configuration configuration(const std::string& text);

/// Compares the text, without the prelude and with plain names, with a golden file. It begins with the device
/// function of tensor cores' products, where there is one, else with the first kernel.
void expect_golden_product(const std::string& name, const codegen::Schedule& schedule,
                           const KernelCase& product, const std::string& parameters);

/// What the emitted kernels take, of which none may spill, have a stack, or make ptxas say anything of
/// serialised products or ignored moves of registers (C7508, C7510, C7511, C7514, C7519).
std::vector<core::EntryResources> clean_resources(const runtime::cuda::Nvrtc& nvrtc,
                                                  const codegen::Schedule& schedule,
                                                  const KernelCase& product,
                                                  const codegen::Configuration& configuration);

}  // namespace einkern::testing
