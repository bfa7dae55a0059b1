// Kernels chosen, compiled and resolved for one shape and specialisation of a function on one device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/specialisation.h"
#include "core/emission.h"
#include "engine/call.h"
#include "engine/kernel_choice.h"
#include "runtime/device.h"
#include "runtime/kernel_builder.h"
#include "runtime/kernel_key.h"

namespace einkern::engine {

/// How kernels are chosen: overrides of one's own, and a plan by name.
struct PrepareOptions {
  std::string plan;  // "": the default, or the plan whose tuned kernels are fastest together
  KernelWish wish;   // for every kernel that it fits
};

/// One kernel of a prepared call, with what chose it and what it was compiled to.
struct PreparedKernel {
  KernelChoice choice;
  core::Emission emission;
  std::shared_ptr<const runtime::CompiledKernel> compiled;
};

/// Immutable; may be launched from many threads at once.
struct PreparedCall {
  codegen::Plan plan;
  dsl::Binding binding;
  codegen::Specialisation specialisation;
  std::vector<PreparedKernel> kernels;
  core::LaunchPlan launch;
  std::shared_ptr<const runtime::PreparedLaunch> prepared;
  std::vector<int> inputs;   // per launch buffer: index in Call::inputs, or -1
  std::vector<int> outputs;  // per launch buffer: index of the result, or -1
  std::vector<int> scalars;  // per launch scalar: the ScalarId
  std::vector<std::vector<std::int64_t>> output_shapes;
};

/// Everything that can be worked out before a kernel is chosen: a plan's contexts for one call.
struct BoundPlan {
  codegen::Plan plan;
  codegen::Specialisation specialisation;
  std::vector<codegen::TensorPlacement> placements;  // by TensorId of the plan's graph
};
/// Checks the call's shapes and binds them.
core::Result<dsl::Binding> bind_call(const dsl::Function& function, const Call& call);
/// Plans with their specialisations for one call, the default plan first. The error: the function takes more
/// kernels than codegen::limits::kernels.
core::Result<std::vector<BoundPlan>> bind_plans(const std::vector<codegen::Plan>& plans,
                                                const dsl::Binding& binding, const Call& call);

/// A plan with a kernel chosen for each of its parts.
struct ChosenPlan {
  BoundPlan bound;
  std::vector<KernelChoice> choices;
  double tuned_seconds = 0;  // of the kernels that were measured
  bool all_tuned = true;
};
/// The plan asked for; else the one whose kernels are all tuned and fastest together; else the default.
core::Result<ChosenPlan> choose_plan(std::vector<BoundPlan> plans, const dsl::Binding& binding,
                                     const core::DeviceFacts& facts, const autotune::RecordStore& records,
                                     const PrepareOptions& options);

/// Chooses, compiles (or finds in the cache) and resolves.
core::Result<std::shared_ptr<const PreparedCall>> prepare_call(const dsl::Function& function,
                                                               const std::vector<codegen::Plan>& plans,
                                                               const Call& call, runtime::Device& device,
                                                               runtime::KernelBuilder& builder,
                                                               const autotune::RecordStore& records,
                                                               const PrepareOptions& options);

using runtime::kernel_key;

/// Queues the prepared kernels. Addresses come from `call`; `workspace` may be empty.
core::Result<void> launch_call(const PreparedCall& prepared, const dsl::Function& function, const Call& call,
                               runtime::Workspace workspace, runtime::Stream stream);

}  // namespace einkern::engine
