// SourceModule: raw CUDA C++ compiled, cached, loaded and launched with its arguments checked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/hash.h"
#include "core/version.h"
#include "engine/face_access.h"
#include "runtime/cuda/gpu_device.h"

namespace einkern {

using detail::Access;
using detail::unwrap;

namespace detail {

struct SourceModuleState {
  Device device;
  std::shared_ptr<runtime::cuda::GpuDevice> gpu;
  std::shared_ptr<const runtime::cuda::GpuModule> module;
};

}  // namespace detail

SourceModule::SourceModule(std::string_view source, std::vector<std::string> options, Device device) {
  state_ = std::make_shared<detail::SourceModuleState>();
  state_->device = device;
  state_->gpu = std::dynamic_pointer_cast<runtime::cuda::GpuDevice>(Access::runtime(device));
  if (!state_->gpu)
    throw DeviceError("a SourceModule holds CUDA C++ and needs a GPU: " + device.name() + " is none");
  options.insert(options.begin(), "--ptxas-options=-v");  // the log then names the kernels
  core::Key key;
  key.add("einkern", core::version)
      .add("source", source)
      .add("compiler", state_->gpu->compiler_version())
      .add("architecture", state_->gpu->facts().architecture)
      .add("kind", "source module");
  for (const std::string& option : options) key.add("option", option);
  const auto architecture = state_->gpu->facts().architecture;
  const auto built = detail::process_builder().build(key, [&]() -> core::Result<runtime::CompiledKernel> {
    EINKERN_TRY(const auto nvrtc, state_->gpu->compiler());
    EINKERN_TRY(core::Artifact artifact, runtime::cuda::compile_cuda(*nvrtc, {.text = std::string(source),
                                                                              .name = "source_module.cu",
                                                                              .architecture = architecture,
                                                                              .options = options,
                                                                              .bare = true}));
    return runtime::CompiledKernel{{}, std::move(artifact)};
  });
  state_->module = std::static_pointer_cast<const runtime::cuda::GpuModule>(
      unwrap(state_->gpu->load(unwrap(built)->artifact)));
}

std::vector<std::string> SourceModule::functions() const {
  std::vector<std::string> names;
  for (const auto& [name, resources] : state_->module->entries()) names.push_back(name);
  return names;
}

SourceFunction SourceModule::function(std::string_view name) const {
  std::string found;
  const std::string mangled = fmt::format("{}{}", name.size(), name);  // Itanium: _Z<length><name>…
  for (const auto& [entry, resources] : state_->module->entries()) {
    if (entry == name) {
      found = entry;
      break;
    }
    if (!entry.starts_with("_Z" + mangled)) continue;
    if (!found.empty())
      throw UsageError(fmt::format("the module has several kernels called {}: name them extern \"C\"", name));
    found = entry;
  }
  // PTX, and code without a log, do not list their kernels.
  if (found.empty() && state_->module->find(std::string(name)).ok()) found = name;
  if (found.empty())
    throw UsageError(
        fmt::format("the module has no kernel called {}; it has: {}", name, fmt::join(functions(), ", ")));
  SourceFunction function;
  function.state_ = state_;
  function.name_ = std::move(found);
  return function;
}

int SourceFunction::registers() const { return unwrap(state_->module->find(name_)).resources.registers; }

void SourceFunction::launch(Dim3 grid, Dim3 block, const std::vector<KernelArgument>& arguments,
                            std::int64_t shared_bytes, Stream stream) const {
  std::vector<runtime::cuda::ParameterValue> parameters;
  for (const KernelArgument& argument : arguments) {
    if (argument.tensor() && !(argument.tensor().device() == state_->device))
      throw UsageError(fmt::format("argument {} (counted from 0) of {} lies on {}, the module on {}",
                                   parameters.size(), name_, argument.tensor().device().name(),
                                   state_->device.name()));
    parameters.push_back({argument.bytes().data(), argument.bytes().size()});
  }
  const runtime::cuda::LaunchGeometry geometry{
      .grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}, .shared_bytes = shared_bytes};
  unwrap(state_->gpu->launch(*state_->module, name_, geometry, parameters, {stream.handle}));
}

}  // namespace einkern
