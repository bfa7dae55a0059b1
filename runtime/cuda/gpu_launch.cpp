#include "runtime/cuda/gpu_launch.h"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

#include "runtime/cuda/gpu_device.h"
#include "runtime/cuda/tensor_map.h"

namespace einkern::runtime::cuda {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": alike on all that einkern
/// supports.
constexpr std::array<std::int64_t, 3> largest_grid = {2147483647, 65535, 65535};
constexpr std::array<std::int64_t, 3> largest_block = {1024, 1024, 64};
constexpr std::int64_t portable_cluster = 8;
/// Kernels of 4 KiB of parameters run everywhere; each takes at least one word here.
constexpr std::size_t most_argument_words = 512;

std::string text_of(const std::array<std::int64_t, 3>& sizes) {
  return fmt::format("{} x {} x {}", sizes[0], sizes[1], sizes[2]);
}

Result<void> check_geometry(const std::string& entry, const LaunchGeometry& geometry,
                            const core::DeviceFacts& facts, int most_threads) {
  const auto failure = [&](const std::string& what) {
    return Error{ErrorKind::device,
                 fmt::format("The kernel '{}' cannot be launched with a grid of {} blocks of {} threads: {}.",
                             entry, text_of(geometry.grid), text_of(geometry.block), what)};
  };
  std::int64_t cluster_blocks = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (geometry.grid[i] < 1 || geometry.grid[i] > largest_grid[i])
      return failure(fmt::format("dimension {} of a grid is 1 to {}", i, largest_grid[i]));
    if (geometry.block[i] < 1 || geometry.block[i] > largest_block[i])
      return failure(fmt::format("dimension {} of a block is 1 to {}", i, largest_block[i]));
    if (geometry.cluster[i] < 1 || geometry.grid[i] % geometry.cluster[i] != 0)
      return failure(
          fmt::format("the grid is no multiple of the cluster of {} blocks", text_of(geometry.cluster)));
    cluster_blocks *= geometry.cluster[i];
    if (cluster_blocks > 2 * portable_cluster) return failure("a cluster has at most 16 blocks");
  }
  if (cluster_blocks > 1 && facts.compute_capability < 90)
    return failure(fmt::format("{} has no clusters of blocks; sm_90 was the first", facts.architecture));
  const std::int64_t threads = geometry.block[0] * geometry.block[1] * geometry.block[2];
  if (threads > most_threads)
    return failure(
        fmt::format("a block has {} threads and this kernel allows {}, by its registers or launch bounds",
                    threads, most_threads));
  return {};
}

/// Everything that a launch needs of one kernel step.
struct KernelCommand {
  KernelLaunch kernel;
  ArgumentTemplate arguments;
};
using Command = std::variant<KernelCommand, ResolvedFill>;

class GpuPreparedLaunch final : public PreparedLaunch {
 public:
  GpuPreparedLaunch(std::shared_ptr<GpuDevice> device, ResolvedPlan plan, std::vector<Command> commands,
                    std::vector<std::shared_ptr<const Module>> modules)
      : device_(std::move(device)),
        plan_(std::move(plan)),
        commands_(std::move(commands)),
        modules_(std::move(modules)) {}

  std::int64_t workspace_bytes() const override { return plan_.workspace_bytes; }

  Result<void> prepare_workspace(Address workspace, Stream stream) const override {
    if (plan_.zeroed_bytes == 0) return {};
    return device_->fill(workspace, 0, plan_.zeroed_bytes, stream);
  }

  Result<void> launch(const LaunchArguments& arguments, Stream stream) const override {
    EINKERN_CHECK_OK(plan_.check(arguments));
    if (commands_.empty()) return {};
    EINKERN_TRY(const ContextScope scope, ContextScope::enter(device_->context()));
    if (plan_.workspace_bytes == 0 || arguments.workspace.address != 0)
      return run(arguments, arguments.workspace, stream);
    EINKERN_TRY(const Address workspace, device_->allocate_in_order(plan_.workspace_bytes, stream));
    const Result<void> result = run(arguments, {workspace, false}, stream);
    device_->free_in_order(workspace, stream);
    return result;
  }

 private:
  Result<void> run(const LaunchArguments& arguments, Workspace workspace, Stream stream) const {
    if (!workspace.prepared) EINKERN_CHECK_OK(prepare_workspace(workspace.address, stream));
    for (const Command& command : commands_) {
      if (const auto* kernel = std::get_if<KernelCommand>(&command)) {
        EINKERN_CHECK_OK(run(*kernel, arguments, workspace.address, stream));
      } else {
        const auto& fill = std::get<ResolvedFill>(command);
        EINKERN_CHECK_OK(device_->fill(plan_.address(fill.buffer, arguments, workspace.address), fill.byte,
                                       fill.bytes, stream));
      }
    }
    return {};
  }

  Result<void> run(const KernelCommand& command, const LaunchArguments& arguments, Address workspace,
                   Stream stream) const {
    // Aligned as a tensor map must be; its slots are multiples of its alignment.
    alignas(TensorMap) std::array<std::uint64_t, most_argument_words> words;
    std::array<void*, most_argument_words> parameters;
    plan_.patch(command.arguments, arguments, workspace, words.data());
    for (const ResolvedTensorMap& map : command.arguments.tensor_maps)
      EINKERN_CHECK_OK(encode_tensor_map(device_->driver(), map,
                                         plan_.address(map.buffer, arguments, workspace),
                                         &words[static_cast<std::size_t>(map.slot)]));
    const std::vector<int>& starts = command.arguments.starts;
    for (std::size_t i = 0; i < starts.size(); ++i)
      parameters[i] = &words[static_cast<std::size_t>(starts[i])];
    return command.kernel.launch(device_->driver(), parameters.data(), stream);
  }

  std::shared_ptr<GpuDevice> device_;
  ResolvedPlan plan_;
  std::vector<Command> commands_;
  std::vector<std::shared_ptr<const Module>> modules_;  // owners of the code
};

Result<const GpuModule*> module_of(const std::string& entry,
                                   std::span<const std::shared_ptr<const Module>> modules) {
  for (const auto& module : modules)
    if (module->entries().contains(entry)) return static_cast<const GpuModule*>(module.get());
  return Error{ErrorKind::internal, fmt::format("No module that was given has the entry '{}'.", entry)};
}

}  // namespace

Result<KernelLaunch> KernelLaunch::prepare(const GpuModule& module, const core::DeviceFacts& facts,
                                           const std::string& entry, const LaunchGeometry& geometry) {
  EINKERN_TRY(const GpuModule::Kernel kernel, module.find(entry));
  EINKERN_CHECK_OK(check_geometry(entry, geometry, facts, kernel.max_threads_per_block));
  EINKERN_CHECK_OK(module.allow_shared_memory(entry, kernel, geometry.shared_bytes));
  KernelLaunch launch;
  launch.entry_ = entry;
  launch.function_ = reinterpret_cast<FunctionHandle>(kernel.handle);
  const auto size = [](std::int64_t value) { return static_cast<unsigned>(value); };
  const auto& [grid, block, cluster, shared_bytes, cooperative] = geometry;
  launch.configuration_ = {size(grid[0]),  size(grid[1]),      size(grid[2]), size(block[0]), size(block[1]),
                           size(block[2]), size(shared_bytes), nullptr,       nullptr,        0};
  unsigned& count = launch.configuration_.attribute_count;
  if (cooperative) {
    LaunchAttribute& attribute = launch.attributes_[count++];
    attribute.kind = launch_cooperative;
    attribute.value.cooperative = 1;
  }
  if (const std::int64_t blocks = cluster[0] * cluster[1] * cluster[2]; blocks > 1) {
    LaunchAttribute& attribute = launch.attributes_[count++];
    attribute.kind = launch_cluster_dimension;
    attribute.value.cluster = {size(cluster[0]), size(cluster[1]), size(cluster[2])};
    if (blocks > portable_cluster) EINKERN_CHECK_OK(module.allow_large_clusters(entry, kernel));
  }
  return launch;
}

Result<void> KernelLaunch::launch(const Driver& driver, void** parameters, Stream stream) const {
  LaunchConfiguration configuration = configuration_;
  std::array<LaunchAttribute, 2> attributes = attributes_;
  configuration.stream = static_cast<StreamHandle>(stream.handle);
  configuration.attributes = attributes.data();
  const Status status = driver.launch_kernel(&configuration, function_, parameters, nullptr);
  if (status == success) return {};
  const LaunchConfiguration& c = configuration_;
  return driver.error(status, fmt::format("launching '{}' with {} x {} x {} blocks of {} x {} x {} threads "
                                          "and {} bytes of dynamic shared memory",
                                          entry_, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y,
                                          c.block_z, c.shared_bytes));
}

Result<std::shared_ptr<const PreparedLaunch>> prepare_launch(
    std::shared_ptr<GpuDevice> device, ResolvedPlan plan,
    std::span<const std::shared_ptr<const Module>> modules) {
  std::vector<Command> commands;
  for (ResolvedStep& step : plan.steps) {
    if (const auto* fill = std::get_if<ResolvedFill>(&step)) {
      commands.emplace_back(*fill);
    } else if (auto* kernel = std::get_if<ResolvedKernel>(&step)) {
      if (kernel->arguments.words.size() > most_argument_words)
        return Error{ErrorKind::internal,
                     fmt::format("The kernel '{}' has too many arguments.", kernel->entry)};
      if (!kernel->arguments.tensor_maps.empty() && device->facts().compute_capability < 90)
        return Error{ErrorKind::device,
                     fmt::format("The kernel '{}' takes tensor maps, which {} does not have; sm_90 was the "
                                 "first. Take a schedule without them.",
                                 kernel->entry, device->facts().architecture)};
      EINKERN_TRY(const GpuModule* module, module_of(kernel->entry, modules));
      const LaunchGeometry geometry = {kernel->grid, kernel->block, kernel->cluster, kernel->shared_bytes,
                                       kernel->cooperative};
      EINKERN_TRY(KernelLaunch launch,
                  KernelLaunch::prepare(*module, device->facts(), kernel->entry, geometry));
      commands.emplace_back(KernelCommand{std::move(launch), std::move(kernel->arguments)});
    } else {
      return Error{ErrorKind::internal, "A launch plan for a GPU has a step for a CPU."};
    }
  }
  plan.steps.clear();  // the commands hold what a launch needs of them
  return std::shared_ptr<const PreparedLaunch>(std::make_shared<GpuPreparedLaunch>(
      std::move(device), std::move(plan), std::move(commands),
      std::vector<std::shared_ptr<const Module>>(modules.begin(), modules.end())));
}

}  // namespace einkern::runtime::cuda
