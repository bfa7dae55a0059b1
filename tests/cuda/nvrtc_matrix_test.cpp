// Emitted text through NVRTC for every architecture that it knows. Needs no GPU; skipped where there is no
// NVRTC.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cuda/nvrtc.h"
#include "tests/cuda/emission_cases.h"
#include "tests/support/conformance.h"

namespace einkern {
namespace {

const std::vector<std::string> architectures = {"sm_75",  "sm_80",   "sm_86",  "sm_89",
                                                "sm_90a", "sm_100a", "sm_120a"};

/// The architectures of the list that this NVRTC makes code for.
std::vector<std::string> known_architectures(const runtime::cuda::Nvrtc& nvrtc) {
  std::vector<std::string> known;
  for (const std::string& name : architectures) {
    const auto facts = core::facts_of_architecture(name);
    if (!facts.ok()) continue;
    if (std::count(nvrtc.architectures.begin(), nvrtc.architectures.end(), facts->compute_capability) > 0)
      known.push_back(name);
  }
  return known;
}

core::Result<core::Artifact> compile(const runtime::cuda::Nvrtc& nvrtc, const core::Emission& emission,
                                     const std::string& architecture) {
  return compile_cuda(nvrtc,
                      {.text = emission.source, .architecture = architecture, .options = emission.options});
}

TEST(NvrtcMatrix, RepresentativeKernelsOnEveryArchitecture) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  std::size_t turn = 0;
  for (const testing::EmissionCase& which : testing::emission_cases()) {
    const std::vector<std::string> known = known_architectures(**nvrtc);
    ASSERT_FALSE(known.empty());
    // All architectures take too long for every kernel: each gets the oldest, Hopper, and two more in turn.
    std::vector<std::string> chosen = {known.front(), known[turn % known.size()],
                                       known[(turn + 3) % known.size()]};
    if (std::count(known.begin(), known.end(), "sm_90a") > 0) chosen.emplace_back("sm_90a");
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    ++turn;
    for (const std::string& architecture : chosen) {
      const auto emission = testing::emit_case(which, architecture);
      ASSERT_TRUE(emission.ok()) << which.name << ": " << emission.error().message;
      const auto artifact = compile(**nvrtc, *emission, architecture);
      ASSERT_TRUE(artifact.ok()) << which.name << " " << architecture << ": " << artifact.error().message;
      EXPECT_EQ(artifact->log.find("warning"), std::string::npos) << which.name << ": " << artifact->log;
      EXPECT_EQ(artifact->entries.size(), emission->entries.size()) << which.name;
      for (const auto& [entry, resources] : artifact->entries) {
        if (!which.spill_free) continue;
        EXPECT_EQ(resources.spill_store_bytes, 0) << entry << " " << architecture;
        EXPECT_EQ(resources.stack_bytes, 0) << entry << " " << architecture;
      }
    }
  }
}

TEST(NvrtcMatrix, ConformanceOperations) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const std::vector<std::string> known = known_architectures(**nvrtc);
  ASSERT_FALSE(known.empty());
  std::size_t turn = 0;
  std::string last;
  for (const testing::ConformanceCase& which : testing::conformance_cases()) {
    if (which.function == last) continue;  // cases of one function differ in data
    last = which.function;
    const auto call = testing::conformance_call(which);
    ASSERT_TRUE(call.ok()) << call.error().message;
    const std::string& architecture = known[turn++ % known.size()];
    const auto device = core::facts_of_architecture(architecture);
    ASSERT_TRUE(device.ok());
    const codegen::Plan plan = codegen::make_plans(call->function).front();
    const codegen::Specialisation specialisation = codegen::specialise(plan, call->binding, {});
    for (const codegen::Kernel& kernel : plan.kernels) {
      const codegen::KernelContext context{plan, kernel, specialisation, *device, call->binding};
      for (const codegen::Schedule* schedule : codegen::schedules(core::Backend::cuda)) {
        if (schedule->reason_against(context)) continue;
        const auto ranked = codegen::ranked_configurations(*schedule, context, 1);
        ASSERT_FALSE(ranked.empty()) << kernel.name;
        const auto emission = schedule->emit(context, ranked.front());
        ASSERT_TRUE(emission.ok()) << emission.error().message;
        const auto artifact = compile(**nvrtc, *emission, architecture);
        EXPECT_TRUE(artifact.ok()) << kernel.name << " " << architecture << ": "
                                   << (artifact.ok() ? "" : artifact.error().message);
        break;
      }
    }
  }
}

}  // namespace
}  // namespace einkern
