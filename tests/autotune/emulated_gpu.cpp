#include "tests/autotune/emulated_gpu.h"

#include <cstdlib>
#include <cstring>

#include "tests/cuda/emulation.h"

namespace einkern::testing {
namespace {

using core::Result;
using runtime::Address;
using runtime::Stream;

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

class LoadedModule final : public runtime::Module {
 public:
  const std::map<std::string, core::EntryResources>& entries() const override { return entries_; }
  EmulatedModule code;
  std::map<std::string, core::EntryResources> entries_;
};

class Launch final : public runtime::PreparedLaunch {
 public:
  Launch(std::shared_ptr<EmulatedGpu> gpu, core::LaunchPlan plan, core::SymbolValues symbols,
         std::shared_ptr<const LoadedModule> module)
      : gpu_(std::move(gpu)),
        plan_(std::move(plan)),
        symbols_(std::move(symbols)),
        module_(std::move(module)) {}
  std::int64_t workspace_bytes() const override { return 0; }  // EmulatedModule has its own
  Result<void> prepare_workspace(Address, Stream) const override { return {}; }
  Result<void> launch(const runtime::LaunchArguments& arguments, Stream) const override {
    const std::vector<Address> buffers(arguments.buffers.begin(), arguments.buffers.end());
    const std::vector<std::uint64_t> scalars(arguments.scalars.begin(), arguments.scalars.end());
    return gpu_->queue([this, buffers, scalars] {
      gpu_->addresses.push_back(buffers);
      return module_->code.launch(plan_, symbols_, buffers, scalars);
    });
  }

 private:
  std::shared_ptr<EmulatedGpu> gpu_;
  core::LaunchPlan plan_;
  core::SymbolValues symbols_;
  std::shared_ptr<const LoadedModule> module_;
};

class RecordedLaunches final : public runtime::Graph {
 public:
  explicit RecordedLaunches(std::shared_ptr<EmulatedGpu> gpu) : gpu_(std::move(gpu)) {}
  Result<void> launch(Stream) const override {
    ++gpu_->graph_launches;
    for (const auto& one : launches) EINKERN_CHECK_OK(gpu_->queue(one));
    return {};
  }
  std::vector<std::function<Result<void>()>> launches;

 private:
  std::shared_ptr<EmulatedGpu> gpu_;
};

class ClockEvent final : public runtime::Event {
 public:
  explicit ClockEvent(const EmulatedGpu& gpu) : gpu_(gpu) {}
  Result<void> record(Stream) override {
    seconds_ = gpu_.clock;
    return {};
  }
  Result<void> synchronize() override { return {}; }
  Result<double> seconds_since(const runtime::Event& earlier) const override {
    return seconds_ - static_cast<const ClockEvent&>(earlier).seconds_;
  }

 private:
  const EmulatedGpu& gpu_;
  double seconds_ = 0;
};

}  // namespace

EmulatedGpu::EmulatedGpu() : facts_(core::facts_of_architecture("sm_90a").value()) {
  facts_.uuid = "emulated";
}

Result<Address> EmulatedGpu::allocate(std::int64_t bytes) {
  void* memory = std::aligned_alloc(256, static_cast<std::size_t>(bytes / 256 + 1) * 256);
  std::memset(memory, 0xa5, static_cast<std::size_t>(bytes));
  return reinterpret_cast<Address>(memory);
}
void EmulatedGpu::free(Address address) { std::free(pointer(address)); }
Result<Address> EmulatedGpu::allocate_in_order(std::int64_t bytes, Stream) { return allocate(bytes); }
void EmulatedGpu::free_in_order(Address address, Stream) { free(address); }

Result<void> EmulatedGpu::copy_to_device(Address to, const void* from, std::int64_t bytes, Stream) {
  if (bytes > 0) std::memcpy(pointer(to), from, static_cast<std::size_t>(bytes));
  return {};
}
Result<void> EmulatedGpu::copy_to_host(void* to, Address from, std::int64_t bytes, Stream) {
  copied_to_host += bytes;
  if (bytes > 0) std::memcpy(to, pointer(from), static_cast<std::size_t>(bytes));
  return {};
}
Result<void> EmulatedGpu::copy(Address to, Address from, std::int64_t bytes, Stream) {
  if (bytes > 0) std::memmove(pointer(to), pointer(from), static_cast<std::size_t>(bytes));
  return {};
}
Result<void> EmulatedGpu::fill(Address to, std::uint8_t byte, std::int64_t bytes, Stream) {
  std::memset(pointer(to), byte, static_cast<std::size_t>(bytes));
  return {};
}

Result<void> EmulatedGpu::queue(std::function<Result<void>()> launch) {
  if (recording_ != nullptr) {
    recording_->push_back(std::move(launch));
    return {};
  }
  clock += launch_seconds;
  ++launches;
  return launch();
}

Result<std::unique_ptr<runtime::Graph>> EmulatedGpu::record(Stream,
                                                            const std::function<Result<void>()>& work) {
  auto graph = std::make_unique<RecordedLaunches>(shared_from_this());
  recording_ = &graph->launches;
  const Result<void> worked = work();
  recording_ = nullptr;
  if (!worked.ok()) return worked.error();
  return std::unique_ptr<runtime::Graph>(std::move(graph));
}

Result<std::unique_ptr<runtime::Event>> EmulatedGpu::create_event() {
  return std::unique_ptr<runtime::Event>(std::make_unique<ClockEvent>(*this));
}

Result<core::Artifact> EmulatedGpu::compile(const core::Emission& emission) const {
  core::Artifact artifact;
  artifact.code = emission.source;
  for (const std::string& entry : emission.entries) artifact.entries[entry] = {};
  return artifact;
}

Result<std::shared_ptr<const runtime::Module>> EmulatedGpu::load(const core::Artifact& artifact) {
  static std::map<std::string, std::shared_ptr<const runtime::Module>> loaded;  // the host compiles slowly
  if (const auto known = loaded.find(artifact.code); known != loaded.end()) return known->second;
  core::Emission emission;
  emission.source = artifact.code;
  for (const auto& [name, resources] : artifact.entries) emission.entries.push_back(name);
  auto module = std::make_shared<LoadedModule>();
  module->entries_ = artifact.entries;
  module->code.add(emission);
  EINKERN_CHECK_OK(module->code.build());
  return loaded[artifact.code] = std::move(module);
}

Result<std::shared_ptr<const runtime::PreparedLaunch>> EmulatedGpu::prepare(
    const core::LaunchPlan& plan, std::span<const std::shared_ptr<const runtime::Module>> modules,
    const core::SymbolValues& symbols) {
  core::SymbolValues values = symbols;
  values["sm_count"] = 2;
  return std::shared_ptr<const runtime::PreparedLaunch>(
      std::make_shared<Launch>(shared_from_this(), plan, std::move(values),
                               std::static_pointer_cast<const LoadedModule>(modules.front())));
}

}  // namespace einkern::testing
