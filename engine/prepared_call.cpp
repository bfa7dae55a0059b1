#include "engine/prepared_call.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/plan/access.h"
#include "codegen/plan/limits.h"
#include "engine/repro.h"

namespace einkern::engine {
namespace {

using codegen::KernelContext;
using codegen::Plan;
using dsl::TensorId;

core::Result<ChosenPlan> choose_plan_kernels(BoundPlan bound, const dsl::Binding& binding,
                                             const core::DeviceFacts& facts,
                                             const autotune::RecordStore& records, const KernelWish& wish) {
  ChosenPlan chosen{.bound = std::move(bound)};
  for (const codegen::Kernel& kernel : chosen.bound.plan.kernels) {
    const KernelContext context{chosen.bound.plan, kernel, chosen.bound.specialisation, facts, binding};
    auto choice = choose_kernel(context, records, wish);
    // A wish that only some of the plan's kernels can follow binds those alone.
    if (!choice && chosen.bound.plan.kernels.size() > 1 && choice.error().kind == core::ErrorKind::usage &&
        !wish.schedule.empty())
      choice = choose_kernel(context, records);
    if (!choice) return choice.error();
    chosen.all_tuned = chosen.all_tuned && choice->measured_seconds.has_value();
    chosen.tuned_seconds += choice->measured_seconds.value_or(0);
    chosen.choices.push_back(std::move(*choice));
  }
  return chosen;
}

core::Result<std::vector<PreparedKernel>> build_kernels(const ChosenPlan& chosen, const dsl::Binding& binding,
                                                        const Call& call, runtime::Device& device,
                                                        runtime::KernelBuilder& builder) {
  const auto context_of = [&](std::size_t i) {
    return KernelContext{chosen.bound.plan, chosen.bound.plan.kernels[i], chosen.bound.specialisation,
                         device.facts(), binding};
  };
  std::vector<PreparedKernel> kernels;
  std::vector<std::shared_future<runtime::BuiltKernel>> builds;
  for (std::size_t i = 0; i < chosen.choices.size(); ++i) {
    const KernelChoice& choice = chosen.choices[i];
    auto emitted = choice.schedule->emit(context_of(i), choice.configuration);
    if (!emitted) return with_repro(emitted.error(), context_of(i), choice, call);
    core::Emission emission = std::move(emitted).value();
    builds.push_back(builder.submit(kernel_key(emission, device),
                                    [&device, emission]() -> core::Result<runtime::CompiledKernel> {
                                      EINKERN_TRY(core::Artifact artifact, device.compile(emission));
                                      return runtime::CompiledKernel{emission.launch, std::move(artifact)};
                                    }));
    kernels.push_back({choice, std::move(emission), nullptr});
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const runtime::BuiltKernel& built = builds[i].get();
    if (!built) return with_repro(built.error(), context_of(i), kernels[i].choice, call);
    kernels[i].compiled = *built;
  }
  return kernels;
}

/// Values of every symbol of the launch plans: dims, and strides of all tensors.
core::SymbolValues symbols_of(const dsl::Function& graph, const dsl::Binding& binding,
                              const std::vector<codegen::TensorPlacement>& placements,
                              const std::vector<std::vector<std::int64_t>>& shapes) {
  core::SymbolValues symbols = binding.symbols;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const bool placed = t < placements.size() && !placements[t].strides.empty();
    const auto strides = placed ? placements[t].strides : dense_strides(shapes[t]);
    for (std::size_t i = 0; i < strides.size(); ++i)
      symbols[codegen::stride_symbol(graph.tensors[t], static_cast<int>(i))] = strides[i];
  }
  return symbols;
}

std::vector<codegen::TensorPlacement> placements_of(const dsl::Function& function, const Call& call) {
  std::vector<codegen::TensorPlacement> placements(function.tensors.size());
  const auto place = [&](TensorId id, const TensorPlace& where) {
    auto& placement = placements[static_cast<std::size_t>(id.value)];
    if (where.strides != dense_strides(where.shape)) placement.strides = where.strides;
    placement.address_modulo_16 = static_cast<int>(where.address % 16);
  };
  const auto inputs = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < inputs.size(); ++i) place(inputs[i], call.inputs[i]);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) place(function.results[i], call.outputs[i]);
  return placements;
}

/// Matches the launch plan's buffers and scalars with the call's, by name.
void match_names(PreparedCall& prepared, const dsl::Function& function) {
  const auto inputs = dsl::argument_tensors(function);
  const auto position = [&](const std::vector<TensorId>& ids, const std::string& name) {
    const auto it =
        std::find_if(ids.begin(), ids.end(), [&](TensorId id) { return function[id].name == name; });
    return it == ids.end() ? -1 : static_cast<int>(it - ids.begin());
  };
  for (const core::BufferSpec& buffer : prepared.launch.buffers) {
    prepared.inputs.push_back(position(inputs, buffer.name));
    prepared.outputs.push_back(position(function.results, buffer.name));
  }
  for (const core::ScalarSpec& scalar : prepared.launch.scalars)
    for (std::size_t i = 0; i < function.scalars.size(); ++i)
      if (function.scalars[i].name == scalar.name) prepared.scalars.push_back(static_cast<int>(i));
}

}  // namespace

core::Result<dsl::Binding> bind_call(const dsl::Function& function, const Call& call) {
  dsl::CallShapes shapes{.dims = call.dims};
  for (const TensorPlace& place : call.inputs) shapes.tensors.push_back(place.shape);
  return dsl::bind(function, shapes);
}

core::Result<std::vector<BoundPlan>> bind_plans(const std::vector<Plan>& plans, const dsl::Binding& binding,
                                                const Call& call) {
  std::vector<BoundPlan> bound;
  for (const Plan& plan : plans) {
    if (plan.kernels.size() > codegen::limits::kernels)
      return core::Error{
          core::ErrorKind::compile,
          fmt::format("{} takes {} kernels, more than {}, the limit: split it into several functions",
                      plan.graph->name, plan.kernels.size(), codegen::limits::kernels)};
    std::vector<codegen::TensorPlacement> placements = placements_of(*plan.graph, call);
    codegen::Specialisation specialisation = codegen::specialise(plan, binding, placements);
    bound.push_back({plan, std::move(specialisation), std::move(placements)});
  }
  return bound;
}

core::Result<ChosenPlan> choose_plan(std::vector<BoundPlan> plans, const dsl::Binding& binding,
                                     const core::DeviceFacts& facts, const autotune::RecordStore& records,
                                     const PrepareOptions& options) {
  std::optional<ChosenPlan> best;
  std::vector<std::string> names;
  for (BoundPlan& bound : plans) {
    names.push_back(bound.plan.name);
    if (!options.plan.empty() && bound.plan.name != options.plan) continue;
    EINKERN_TRY(ChosenPlan chosen,
                choose_plan_kernels(std::move(bound), binding, facts, records, options.wish));
    const bool better =
        best && best->all_tuned && chosen.all_tuned && chosen.tuned_seconds < best->tuned_seconds;
    if (!best || better) best = std::move(chosen);
  }
  if (best) return std::move(*best);
  return core::Error{core::ErrorKind::usage, fmt::format("no plan is called {}; there are: {}", options.plan,
                                                         fmt::join(names, ", "))};
}

core::Result<std::shared_ptr<const PreparedCall>> prepare_call(
    const dsl::Function& function, const std::vector<Plan>& plans, const Call& call, runtime::Device& device,
    runtime::KernelBuilder& builder, const autotune::RecordStore& records, const PrepareOptions& options) {
  EINKERN_TRY(dsl::Binding binding, bind_call(function, call));
  EINKERN_TRY(std::vector<BoundPlan> bound, bind_plans(plans, binding, call));
  EINKERN_TRY(ChosenPlan chosen, choose_plan(std::move(bound), binding, device.facts(), records, options));
  auto prepared = std::make_shared<PreparedCall>();
  EINKERN_TRY(prepared->kernels, build_kernels(chosen, binding, call, device, builder));
  prepared->plan = std::move(chosen.bound.plan);
  prepared->specialisation = std::move(chosen.bound.specialisation);
  std::vector<std::shared_ptr<const runtime::Module>> modules;
  for (const PreparedKernel& kernel : prepared->kernels) {
    EINKERN_TRY(auto module, device.load(kernel.compiled->artifact));
    modules.push_back(std::move(module));
    prepared->launch.append(kernel.emission.launch);
  }
  const dsl::Function& graph = *prepared->plan.graph;
  std::vector<std::vector<std::int64_t>> shapes;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    shapes.push_back(codegen::shape_of(graph, {static_cast<std::int32_t>(t)}, binding));
  const auto symbols = symbols_of(graph, binding, placements_of(function, call), shapes);
  EINKERN_TRY(prepared->prepared, device.prepare(prepared->launch, modules, symbols));
  match_names(*prepared, function);
  for (TensorId result : function.results)
    prepared->output_shapes.push_back(shapes[static_cast<std::size_t>(result.value)]);
  prepared->binding = std::move(binding);
  return std::shared_ptr<const PreparedCall>(std::move(prepared));
}

core::Result<void> launch_call(const PreparedCall& prepared, const dsl::Function& function, const Call& call,
                               runtime::Workspace workspace, runtime::Stream stream) {
  EINKERN_TRY(const std::vector<std::uint64_t> values, scalar_bits(function, call, prepared.binding.dims));
  std::vector<runtime::Address> buffers(prepared.launch.buffers.size(), 0);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (prepared.inputs[i] >= 0)
      buffers[i] = call.inputs[static_cast<std::size_t>(prepared.inputs[i])].address;
    if (prepared.outputs[i] >= 0)
      buffers[i] = call.outputs[static_cast<std::size_t>(prepared.outputs[i])].address;
  }
  std::vector<std::uint64_t> scalars;
  for (int scalar : prepared.scalars) scalars.push_back(values[static_cast<std::size_t>(scalar)]);
  return prepared.prepared->launch({.buffers = buffers, .scalars = scalars, .workspace = workspace}, stream);
}

}  // namespace einkern::engine
