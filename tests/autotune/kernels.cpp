#include "tests/autotune/kernels.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>

#include "tests/support/call.h"
#ifdef EINKERN_HAS_LLVM
#include "runtime/cpu/cpu_device.h"
#endif

namespace einkern::testing {
namespace {

template <typename Value>
Value or_abort(core::Result<Value> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::abort();
}

/// Caches and records of these tests lie in a folder of their own, which a test that starts this program
/// again passes on; the worker is the one that was built.
class TuningEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* given = std::getenv(folder_variable);
    const std::string folder = given != nullptr ? given : folder_.path();
    setenv("EINKERN_CACHE_DIR", folder.c_str(), 1);
    setenv("EINKERN_RECORDS", (folder + "/records").c_str(), 1);
    setenv("EINKERN_WORKER", EINKERN_WORKER_PROGRAM, 1);
  }

 private:
  TemporaryFolder folder_;
};
const auto* const environment = ::testing::AddGlobalTestEnvironment(new TuningEnvironment);

}  // namespace

BoundFunction::BoundFunction(const std::string& source, std::vector<std::vector<std::int64_t>> shapes,
                             core::DeviceFacts device, std::vector<codegen::TensorPlacement> placements)
    : device_(std::move(device)), placements_(std::move(placements)) {
  const dsl::Program program = or_abort(compile_source(source));
  function_ = or_abort(program.instantiate(program.signatures().front().name, {}));
  plan_ = codegen::make_plans(function_).front();
  binding_ = or_abort(dsl::bind(*function_, {.tensors = std::move(shapes)}));
  specialisation_ = codegen::specialise(plan_, binding_, placements_);
}

codegen::KernelContext BoundFunction::context(std::size_t kernel) const {
  return {plan_, plan_.kernels.at(kernel), specialisation_, device_, binding_};
}

std::shared_ptr<runtime::Device> cpu_device() {
#ifdef EINKERN_HAS_LLVM
  static const auto device = or_abort(runtime::cpu::open_cpu_device());
  return device;
#else
  return nullptr;
#endif
}

core::Emission first_emission(const codegen::KernelContext& context) {
  for (const codegen::Schedule* schedule : codegen::schedules(context.device.backend))
    if (!schedule->reason_against(context))
      return or_abort(schedule->emit(context, codegen::ranked_configurations(*schedule, context, 1).front()));
  std::abort();
}

std::shared_ptr<const runtime::CompiledKernel> compiled(const core::Emission& emission,
                                                        const runtime::Device& device) {
  return std::make_shared<const runtime::CompiledKernel>(
      runtime::CompiledKernel{emission.launch, or_abort(device.compile(emission))});
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "einkern-autotune-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace einkern::testing
