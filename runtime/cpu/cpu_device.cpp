#include "runtime/cpu/cpu_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "runtime/cpu/compiler.h"
#include "runtime/cpu/host.h"
#include "runtime/cpu/memory_pool.h"
#include "runtime/cpu/module.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/resolved_plan.h"

namespace einkern::runtime::cpu {
namespace {

constexpr std::size_t most_argument_words = 1024;  // of a step; they are patched on the stack
constexpr std::int64_t most_kept_bytes = std::int64_t{1} << 30;

core::Error device_error(std::string message) { return {core::ErrorKind::device, std::move(message)}; }

core::Error out_of_memory(std::int64_t bytes) {
  return device_error(
      fmt::format("The CPU has no {} bytes of memory left. Use smaller tensors, or free some.", bytes));
}

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

class CpuEvent final : public Event {
 public:
  core::Result<void> record(Stream) override {
    reached_ = std::chrono::steady_clock::now();
    return {};
  }
  core::Result<void> synchronize() override { return {}; }
  core::Result<double> seconds_since(const Event& earlier) const override {
    const auto* other = dynamic_cast<const CpuEvent*>(&earlier);
    if (other == nullptr)
      return core::Error{core::ErrorKind::usage, "The two events belong to different devices."};
    return std::chrono::duration<double>(reached_ - other->reached_).count();
  }

 private:
  std::chrono::steady_clock::time_point reached_{};
};

/// What a prepared launch shares with its device, so that either may go first.
struct Engine {
  explicit Engine(int thread_count) : threads(thread_count), workspaces(most_kept_bytes) {}
  ThreadPool threads;
  MemoryPool workspaces;
};

struct EntryCall {
  Entry entry;
  const std::uint64_t* arguments;
};

void call_entry(const void* context, std::int64_t begin, std::int64_t end, void* scratch) noexcept {
  const auto& call = *static_cast<const EntryCall*>(context);
  call.entry(call.arguments, begin, end, scratch);
}

class CpuLaunch final : public PreparedLaunch {
 public:
  CpuLaunch(std::shared_ptr<Engine> engine, ResolvedPlan plan, std::vector<Entry> entries,
            std::vector<std::shared_ptr<const Module>> modules)
      : engine_(std::move(engine)),
        plan_(std::move(plan)),
        entries_(std::move(entries)),
        modules_(std::move(modules)) {}

  std::int64_t workspace_bytes() const override { return plan_.workspace_bytes; }

  core::Result<void> prepare_workspace(Address workspace, Stream) const override {
    if (plan_.zeroed_bytes > 0)
      std::memset(pointer(workspace), 0, static_cast<std::size_t>(plan_.zeroed_bytes));
    return {};
  }

  core::Result<void> launch(const LaunchArguments& arguments, Stream stream) const override {
    EINKERN_CHECK_OK(plan_.check(arguments));
    if (arguments.workspace.address != 0 || plan_.workspace_bytes == 0) {
      if (!arguments.workspace.prepared)
        EINKERN_CHECK_OK(prepare_workspace(arguments.workspace.address, stream));
      return run_steps(arguments, arguments.workspace.address);
    }
    void* workspace = engine_->workspaces.take(plan_.workspace_bytes);
    if (workspace == nullptr) return out_of_memory(plan_.workspace_bytes);
    auto address = reinterpret_cast<Address>(workspace);
    core::Result<void> done = prepare_workspace(address, stream);
    if (done.ok()) done = run_steps(arguments, address);
    engine_->workspaces.give_back(workspace);
    return done;
  }

 private:
  core::Result<void> run_steps(const LaunchArguments& arguments, Address workspace) const {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (const auto* fill = std::get_if<ResolvedFill>(&plan_.steps[i])) {
        std::memset(pointer(plan_.address(fill->buffer, arguments, workspace)), fill->byte,
                    static_cast<std::size_t>(fill->bytes));
        continue;
      }
      const auto& loop = std::get<ResolvedCpuLoop>(plan_.steps[i]);
      std::uint64_t words[most_argument_words];
      plan_.patch(loop.arguments, arguments, workspace, words);
      EntryCall call{entries_[i], words};
      if (!engine_->threads.run(call_entry, &call, loop.tasks, loop.grain, loop.scratch_bytes))
        return out_of_memory(loop.scratch_bytes);
    }
    return {};
  }

  std::shared_ptr<Engine> engine_;
  ResolvedPlan plan_;
  std::vector<Entry> entries_;  // one a step, null for fills
  std::vector<std::shared_ptr<const Module>> modules_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(core::DeviceFacts facts)
      : facts_(std::move(facts)), engine_(std::make_shared<Engine>(facts_.multiprocessors)) {}

  const core::DeviceFacts& facts() const override { return facts_; }

  core::Result<Address> allocate(std::int64_t bytes) override {
    void* memory = bytes < 0 ? nullptr : allocate_aligned(bytes);
    if (memory == nullptr) return out_of_memory(bytes);
    return reinterpret_cast<Address>(memory);
  }
  void free(Address address) override { free_aligned(pointer(address)); }
  core::Result<Address> allocate_in_order(std::int64_t bytes, Stream) override {
    void* memory = bytes < 0 ? nullptr : engine_->workspaces.take(bytes);
    if (memory == nullptr) return out_of_memory(bytes);
    return reinterpret_cast<Address>(memory);
  }
  void free_in_order(Address address, Stream) override { engine_->workspaces.give_back(pointer(address)); }
  core::Result<std::int64_t> free_memory() override {
    return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  }

  core::Result<void> copy_to_device(Address to, const void* from, std::int64_t bytes, Stream) override {
    return copy_bytes(pointer(to), from, bytes);
  }
  core::Result<void> copy_to_host(void* to, Address from, std::int64_t bytes, Stream) override {
    return copy_bytes(to, pointer(from), bytes);
  }
  core::Result<void> copy(Address to, Address from, std::int64_t bytes, Stream) override {
    return copy_bytes(pointer(to), pointer(from), bytes);
  }
  core::Result<void> fill(Address to, std::uint8_t byte, std::int64_t bytes, Stream) override {
    if (bytes > 0) std::memset(pointer(to), byte, static_cast<std::size_t>(bytes));
    return {};
  }

  core::Result<Stream> create_stream() override { return Stream{}; }
  void destroy_stream(Stream) override {}
  core::Result<void> synchronize(Stream) override { return {}; }
  core::Result<bool> is_capturing(Stream) override { return false; }
  core::Result<std::unique_ptr<Event>> create_event() override {
    return std::unique_ptr<Event>(std::make_unique<CpuEvent>());
  }

  std::string compiler_version() const override { return cpu::compiler_version(); }
  core::Result<core::Artifact> compile(const core::Emission& emission) const override {
    if (emission.language != core::SourceLanguage::llvm_ir)
      return core::Error{core::ErrorKind::internal, "The CPU compiles LLVM IR; it was given CUDA C++."};
    return compile_object(emission.source, facts_);
  }
  core::Result<std::shared_ptr<const Module>> load(const core::Artifact& artifact) override {
    EINKERN_TRY(std::shared_ptr<const Module> module, CpuModule::load(artifact));
    return module;
  }
  core::Result<std::shared_ptr<const PreparedLaunch>> prepare(
      const core::LaunchPlan& plan, std::span<const std::shared_ptr<const Module>> modules,
      const core::SymbolValues& symbols) override {
    core::SymbolValues values = symbols;
    values["sm_count"] = facts_.multiprocessors;
    EINKERN_TRY(ResolvedPlan resolved, resolve(plan, values));
    std::vector<Entry> entries;
    for (const ResolvedStep& step : resolved.steps) {
      EINKERN_TRY(Entry entry, find_entry(step, modules));
      entries.push_back(entry);
    }
    return std::shared_ptr<const PreparedLaunch>(std::make_shared<CpuLaunch>(
        engine_, std::move(resolved), std::move(entries),
        std::vector<std::shared_ptr<const Module>>(modules.begin(), modules.end())));
  }

 private:
  static core::Result<void> copy_bytes(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0) std::memmove(to, from, static_cast<std::size_t>(bytes));
    return {};
  }

  static core::Result<Entry> find_entry(const ResolvedStep& step,
                                        std::span<const std::shared_ptr<const Module>> modules) {
    if (std::holds_alternative<ResolvedFill>(step)) return Entry{nullptr};
    const auto* loop = std::get_if<ResolvedCpuLoop>(&step);
    if (loop == nullptr)
      return core::Error{core::ErrorKind::internal, "A GPU's kernel step was given to the CPU."};
    if (loop->arguments.words.size() > most_argument_words)
      return device_error(
          fmt::format("A kernel takes {} words of arguments; the CPU passes at most {}. Split the "
                      "function into smaller ones.",
                      loop->arguments.words.size(), most_argument_words));
    for (const std::shared_ptr<const Module>& module : modules) {
      const auto* code = dynamic_cast<const CpuModule*>(module.get());
      if (code == nullptr) continue;
      if (Entry entry = code->find(loop->entry)) return entry;
    }
    return core::Error{core::ErrorKind::internal,
                       fmt::format("No loaded CPU module has the entry \"{}\".", loop->entry)};
  }

  core::DeviceFacts facts_;
  std::shared_ptr<Engine> engine_;
};

}  // namespace

core::Result<std::shared_ptr<Device>> open_cpu_device() {
  EINKERN_TRY(core::DeviceFacts facts, host_facts());
  return std::shared_ptr<Device>(std::make_shared<CpuDevice>(std::move(facts)));
}

}  // namespace einkern::runtime::cpu
