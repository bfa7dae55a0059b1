#include "runtime/cuda/gpu_module.h"

#include <fmt/format.h>

#include <array>

namespace einkern::runtime::cuda {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;

/// Dynamic shared memory that a kernel may use without asking, on every architecture.
constexpr std::int64_t shared_without_asking = 48 * 1024;

}  // namespace

Result<std::shared_ptr<const GpuModule>> GpuModule::load(std::shared_ptr<PrimaryContext> context,
                                                         const core::DeviceFacts& facts,
                                                         const core::Artifact& artifact) {
  if (artifact.format == core::CodeFormat::object)
    return Error{ErrorKind::internal, "Code for a CPU was given to a GPU."};
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context));
  const Driver& driver = context->driver();
  std::array<char, 4096> log{};
  std::array<int, 2> options = {jit_error_log_buffer, jit_error_log_size};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  LibraryHandle library = nullptr;
  const Status status = driver.library_load(&library, artifact.code.c_str(), options.data(), values.data(),
                                            options.size(), nullptr, nullptr, 0);
  if (status != success) {
    Error error = driver.error(status, fmt::format("loading code for {}", facts.architecture));
    error.message += fmt::format(" The driver supports CUDA {}.", cuda_version_text(driver.version));
    if (log[0] != '\0') error.message += fmt::format("\n{}", log.data());
    return error;
  }
  std::shared_ptr<GpuModule> module(new GpuModule(std::move(context), facts.shared_bytes_per_block, library));
  for (const auto& [name, reported] : artifact.entries) {
    EINKERN_TRY(const Kernel kernel, module->find(name));
    core::EntryResources& resources = module->entries_[name] = kernel.resources;
    resources.spill_store_bytes = reported.spill_store_bytes;
    resources.spill_load_bytes = reported.spill_load_bytes;
  }
  return std::shared_ptr<const GpuModule>(std::move(module));
}

GpuModule::~GpuModule() { context_->driver().library_unload(library_); }

Result<GpuModule::Kernel> GpuModule::find(const std::string& entry) const {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  const Driver& driver = context_->driver();
  Kernel kernel;
  const Status status = driver.library_get_kernel(&kernel.handle, library_, entry.c_str());
  if (status == error_not_found)
    return Error{
        ErrorKind::usage,
        fmt::format("The loaded code has no kernel '{}'. A kernel that is to be found by its name is "
                    "declared `extern \"C\" __global__`.",
                    entry)};
  EINKERN_CHECK_OK(driver.check(status, fmt::format("looking for the kernel '{}'", entry)));
  int shared = 0;
  const std::array<std::pair<FunctionAttribute, int*>, 4> wanted = {
      {{function_registers, &kernel.resources.registers},
       {function_local_bytes, &kernel.resources.stack_bytes},
       {function_shared_bytes, &shared},
       {function_max_threads_per_block, &kernel.max_threads_per_block}}};
  for (const auto& [attribute, value] : wanted)
    EINKERN_CHECK_OK(
        driver.check(driver.kernel_get_attribute(value, attribute, kernel.handle, context_->device()),
                     fmt::format("reading what the kernel '{}' uses", entry)));
  kernel.resources.shared_bytes = shared;
  return kernel;
}

std::optional<std::vector<std::size_t>> GpuModule::parameter_sizes(const Kernel& kernel) const {
  const auto scope = ContextScope::enter(*context_);
  const auto get_parameter = context_->driver().kernel_get_parameter;
  if (!scope.ok() || get_parameter == nullptr) return std::nullopt;
  std::vector<std::size_t> sizes;
  std::size_t offset = 0, bytes = 0;
  while (get_parameter(kernel.handle, sizes.size(), &offset, &bytes) == success) sizes.push_back(bytes);
  return sizes;
}

Result<void> GpuModule::allow_shared_memory(const std::string& entry, const Kernel& kernel,
                                            std::int64_t bytes) const {
  const std::int64_t limit = shared_limit_ - kernel.resources.shared_bytes;
  if (bytes > limit)
    return Error{ErrorKind::device, fmt::format("The kernel '{}' needs {} bytes of shared memory ({} of them "
                                                "static), and the GPU has {} for a block. "
                                                "Take a configuration with smaller tiles or fewer stages.",
                                                entry, bytes + kernel.resources.shared_bytes,
                                                kernel.resources.shared_bytes, shared_limit_)};
  if (bytes <= shared_without_asking - kernel.resources.shared_bytes) return {};
  // Always the whole limit, so that prepared launches of one kernel with different sizes cannot undo one
  // another.
  return context_->driver().check(
      context_->driver().kernel_set_attribute(function_max_dynamic_shared_bytes, static_cast<int>(limit),
                                              kernel.handle, context_->device()),
      fmt::format("allowing {} bytes of shared memory to the kernel '{}'", limit, entry));
}

Result<void> GpuModule::allow_large_clusters(const std::string& entry, const Kernel& kernel) const {
  return context_->driver().check(
      context_->driver().kernel_set_attribute(function_non_portable_cluster_size_allowed, 1, kernel.handle,
                                              context_->device()),
      fmt::format("allowing large clusters to the kernel '{}'", entry));
}

}  // namespace einkern::runtime::cuda
