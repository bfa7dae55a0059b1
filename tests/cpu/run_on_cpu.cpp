#include "tests/cpu/run_on_cpu.h"

#include "runtime/cpu/cpu_device.h"
#include "tests/support/emit_kernel.h"

namespace einkern::testing {
namespace {

using codegen::Plan;
using codegen::Specialisation;

struct Planned {
  Plan plan;
  Specialisation specialisation;
  core::DeviceFacts facts;
};

core::Result<Planned> make_planned(const Call& call, const CpuOptions& options) {
  std::vector<Plan> plans = codegen::make_plans(call.function);
  if (plans.empty()) return core::Error{core::ErrorKind::internal, "the planner gave no plan"};
  Planned planned{plans[options.plan % plans.size()], {}, options.facts.value_or(cpu_device().facts())};
  if (options.vector_bytes > 0) planned.facts.vector_bytes = options.vector_bytes;
  planned.specialisation =
      codegen::specialise(planned.plan, call.binding, placements_of(call, options.layouts));
  return planned;
}

}  // namespace

runtime::Device& cpu_device() {
  static const std::shared_ptr<runtime::Device> device = *runtime::cpu::open_cpu_device();
  return *device;
}

core::Result<std::vector<core::Emission>> emit_for_cpu(const Call& call, const CpuOptions& options) {
  EINKERN_TRY(Planned planned, make_planned(call, options));
  std::vector<core::Emission> emissions;
  for (const codegen::Kernel& kernel : planned.plan.kernels) {
    const codegen::KernelContext context{planned.plan, kernel, planned.specialisation, planned.facts,
                                         call.binding};
    EINKERN_TRY(EmittedKernel emitted,
                emit_kernel(context, core::Backend::cpu,
                            {options.schedule, options.candidate, options.configuration}));
    emissions.push_back(std::move(emitted.emission));
  }
  return emissions;
}

core::Result<Results> run_on_cpu(const Call& call, const CpuOptions& options) {
  EINKERN_TRY(std::vector<core::Emission> emissions, emit_for_cpu(call, options));
  core::LaunchPlan launch;
  std::vector<std::shared_ptr<const runtime::Module>> modules;
  for (const core::Emission& emission : emissions) {
    launch.append(emission.launch);
    EINKERN_TRY(core::Artifact artifact, cpu_device().compile(emission));
    EINKERN_TRY(std::shared_ptr<const runtime::Module> module, cpu_device().load(artifact));
    modules.push_back(std::move(module));
  }
  CallMemory memory(call, options.layouts);
  EINKERN_TRY(auto prepared, cpu_device().prepare(launch, modules, memory.symbols()));
  EINKERN_CHECK_OK(prepared->launch({memory.addresses(launch), memory.scalars(launch), {}}, {}));
  return memory.results();
}

}  // namespace einkern::testing
