#include "runtime/cuda/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>

namespace einkern::runtime::cuda {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;

StreamHandle handle_of(Stream stream) { return static_cast<StreamHandle>(stream.handle); }

/// CUDA refuses allocations of no bytes, and einkern's tensors may have none.
std::size_t allocation_size(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

class GpuEvent final : public Event {
 public:
  GpuEvent(std::shared_ptr<PrimaryContext> context, EventHandle handle)
      : context_(std::move(context)), handle_(handle) {}
  ~GpuEvent() override {
    if (const auto scope = ContextScope::enter(*context_); scope.ok()) driver().event_destroy(handle_);
  }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  Result<void> record(Stream stream) override {
    EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
    return driver().check(driver().event_record(handle_, handle_of(stream)), "recording an event");
  }
  Result<void> synchronize() override {
    return driver().check(driver().event_synchronize(handle_), "waiting for an event");
  }
  Result<double> seconds_since(const Event& earlier) const override {
    EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
    float milliseconds = 0;
    const EventHandle start = static_cast<const GpuEvent&>(earlier).handle_;
    EINKERN_CHECK_OK(driver().check(driver().event_elapsed(&milliseconds, start, handle_),
                                    "reading the time between events"));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  const Driver& driver() const { return context_->driver(); }
  std::shared_ptr<PrimaryContext> context_;
  EventHandle handle_;
};

/// The driver copies as many bytes as the kernel's parameter has, whatever the value's own size is.
Result<void> check_parameters(const std::string& entry, const std::vector<std::size_t>& sizes,
                              std::span<const ParameterValue> given) {
  if (sizes.size() != given.size())
    return Error{ErrorKind::usage, fmt::format("The kernel '{}' takes {} arguments, and {} were given.",
                                               entry, sizes.size(), given.size())};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != given[i].bytes)
      return Error{ErrorKind::usage,
                   fmt::format("Argument {} (counted from 0) of the kernel '{}' has {} bytes, but the "
                               "kernel's parameter has {}: pass a value of the parameter's own C++ type.",
                               i, entry, given[i].bytes, sizes[i])};
  return {};
}

}  // namespace

GpuDevice::GpuDevice(std::shared_ptr<const Driver> driver, DeviceOrdinal ordinal, core::DeviceFacts facts,
                     NvrtcSource nvrtc)
    : context_(std::make_shared<PrimaryContext>(std::move(driver), ordinal)),
      facts_(std::move(facts)),
      nvrtc_(nvrtc) {}

GpuDevice::~GpuDevice() = default;  // the context and the pool in it stay for the life of the process

// --- memory ---

Result<Address> GpuDevice::allocate(std::int64_t bytes) {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  DevicePointer address = 0;
  Status status = driver().memory_allocate(&address, allocation_size(bytes));
  if (status == error_out_of_memory) {  // einkern's own pool may hold what is missing
    EINKERN_TRY(const PoolHandle memory_pool, pool());
    driver().pool_trim(memory_pool, 0);
    status = driver().memory_allocate(&address, allocation_size(bytes));
  }
  if (status == success) return Address{address};
  return driver().error(status, fmt::format("allocating {} bytes on {} (which has {})", bytes, facts_.name,
                                            facts_.memory_bytes));
}

void GpuDevice::free(Address address) {
  const auto scope = ContextScope::enter(*context_);
  if (scope.ok() && address != 0) driver().memory_free(address);
}

Result<PoolHandle> GpuDevice::pool() {
  const std::lock_guard lock(pool_mutex_);
  if (pool_ != nullptr) return pool_;
  PoolProperties properties;
  properties.location_id = ordinal();
  EINKERN_CHECK_OK(driver().check(driver().pool_create(&pool_, &properties), "making a memory pool"));
  // Memory that was freed stays in the pool; the driver's default gives it back at every synchronisation.
  std::uint64_t keep_everything = ~std::uint64_t{0};
  driver().pool_set_attribute(pool_, pool_release_threshold, &keep_everything);
  return pool_;
}

Result<Address> GpuDevice::allocate_in_order(std::int64_t bytes, Stream stream) {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  EINKERN_TRY(const bool capturing, is_capturing(stream));
  if (capturing)
    return Error{
        ErrorKind::device,
        fmt::format(
            "{} bytes of memory are needed on a stream that is being captured into a graph, and nothing is "
            "allocated there. Give the launch a workspace made before the capture.",
            bytes)};
  EINKERN_TRY(const PoolHandle memory_pool, pool());
  DevicePointer address = 0;
  Status status = driver().pool_allocate(&address, allocation_size(bytes), memory_pool, handle_of(stream));
  if (status == error_out_of_memory) {  // what others have freed may not be back yet
    driver().stream_synchronize(handle_of(stream));
    driver().pool_trim(memory_pool, 0);
    status = driver().pool_allocate(&address, allocation_size(bytes), memory_pool, handle_of(stream));
  }
  if (status == success) return Address{address};
  return driver().error(status, fmt::format("allocating {} bytes on {} (which has {})", bytes, facts_.name,
                                            facts_.memory_bytes));
}

void GpuDevice::free_in_order(Address address, Stream stream) {
  const auto scope = ContextScope::enter(*context_);
  if (scope.ok() && address != 0) driver().memory_free_in_order(address, handle_of(stream));
}

Result<std::int64_t> GpuDevice::free_memory() {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  std::size_t free_bytes = 0, total_bytes = 0;
  EINKERN_CHECK_OK(
      driver().check(driver().memory_get_info(&free_bytes, &total_bytes), "asking for free memory"));
  return static_cast<std::int64_t>(free_bytes);
}

Result<void> GpuDevice::copy_to_device(Address to, const void* from, std::int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  EINKERN_CHECK_OK(
      driver().check(driver().copy_to_device(to, from, static_cast<std::size_t>(bytes), handle_of(stream)),
                     fmt::format("copying {} bytes to the GPU", bytes)));
  return synchronize(stream);
}

Result<void> GpuDevice::copy_to_host(void* to, Address from, std::int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  EINKERN_CHECK_OK(
      driver().check(driver().copy_to_host(to, from, static_cast<std::size_t>(bytes), handle_of(stream)),
                     fmt::format("copying {} bytes from the GPU", bytes)));
  return synchronize(stream);
}

Result<void> GpuDevice::copy(Address to, Address from, std::int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  return driver().check(driver().copy_on_device(to, from, static_cast<std::size_t>(bytes), handle_of(stream)),
                        fmt::format("copying {} bytes on the GPU", bytes));
}

Result<void> GpuDevice::fill(Address to, std::uint8_t byte, std::int64_t bytes, Stream stream) {
  if (bytes == 0) return {};
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  return driver().check(driver().fill_bytes(to, byte, static_cast<std::size_t>(bytes), handle_of(stream)),
                        fmt::format("filling {} bytes on the GPU", bytes));
}

// --- streams and events ---

Result<Stream> GpuDevice::create_stream() {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  StreamHandle stream = nullptr;
  EINKERN_CHECK_OK(driver().check(driver().stream_create(&stream, stream_non_blocking), "making a stream"));
  return Stream{stream};
}

void GpuDevice::destroy_stream(Stream stream) {
  const auto scope = ContextScope::enter(*context_);
  if (scope.ok() && stream.handle != nullptr) driver().stream_destroy(handle_of(stream));
}

Result<void> GpuDevice::synchronize(Stream stream) {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  return driver().check(driver().stream_synchronize(handle_of(stream)), "waiting for a stream");
}

Result<bool> GpuDevice::is_capturing(Stream stream) {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  int status = capture_none;
  EINKERN_CHECK_OK(driver().check(driver().stream_is_capturing(handle_of(stream), &status),
                                  "asking whether a stream is captured"));
  return status != capture_none;
}

Result<std::unique_ptr<Event>> GpuDevice::create_event() {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  EventHandle event = nullptr;
  EINKERN_CHECK_OK(driver().check(driver().event_create(&event, 0), "making an event"));
  return std::unique_ptr<Event>(std::make_unique<GpuEvent>(context_, event));
}

// --- code ---

std::string GpuDevice::compiler_version() const {
  const auto nvrtc = nvrtc_();
  return nvrtc.ok() ? cuda::compiler_version(**nvrtc) : "no nvrtc";
}

Result<core::Artifact> GpuDevice::compile(const core::Emission& emission) const {
  if (emission.language != core::SourceLanguage::cuda)
    return Error{ErrorKind::internal, "Source for a CPU was given to a GPU's compiler."};
  EINKERN_TRY(const std::shared_ptr<const Nvrtc> nvrtc, nvrtc_());
  CudaSource source;
  source.text = emission.source;
  source.architecture = facts_.architecture;
  source.options = emission.options;
  EINKERN_TRY(core::Artifact artifact, compile_cuda(*nvrtc, source));
  for (const std::string& entry : emission.entries)
    artifact.entries.try_emplace(entry);  // PTX comes without a report
  return artifact;
}

Result<std::shared_ptr<const Module>> GpuDevice::load(const core::Artifact& artifact) {
  EINKERN_TRY(std::shared_ptr<const GpuModule> module, GpuModule::load(context_, facts_, artifact));
  return std::shared_ptr<const Module>(std::move(module));
}

Result<std::shared_ptr<const PreparedLaunch>> GpuDevice::prepare(
    const core::LaunchPlan& plan, std::span<const std::shared_ptr<const Module>> modules,
    const core::SymbolValues& symbols) {
  core::SymbolValues values = symbols;
  values["sm_count"] = facts_.multiprocessors;
  EINKERN_TRY(ResolvedPlan resolved, resolve(plan, values));
  return prepare_launch(shared_from_this(), std::move(resolved), modules);
}

Result<std::optional<std::vector<std::size_t>>> GpuDevice::parameter_sizes(const Module& module,
                                                                           const std::string& entry) {
  const auto& gpu_module = static_cast<const GpuModule&>(module);
  EINKERN_TRY(const GpuModule::Kernel kernel, gpu_module.find(entry));
  return gpu_module.parameter_sizes(kernel);
}

Result<void> GpuDevice::launch(const Module& module, const std::string& entry, const LaunchGeometry& geometry,
                               std::span<const ParameterValue> parameters, Stream stream) {
  EINKERN_TRY(const auto sizes, parameter_sizes(module, entry));
  if (sizes) EINKERN_CHECK_OK(check_parameters(entry, *sizes, parameters));
  if (std::find(geometry.grid.begin(), geometry.grid.end(), 0) != geometry.grid.end()) return {};
  EINKERN_TRY(const KernelLaunch kernel,
              KernelLaunch::prepare(static_cast<const GpuModule&>(module), facts_, entry, geometry));
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  std::vector<void*> pointers;
  for (const ParameterValue& parameter : parameters)
    pointers.push_back(const_cast<void*>(parameter.value));  // the driver only reads it
  return kernel.launch(driver(), pointers.data(), stream);
}

Result<int> GpuDevice::active_blocks(const Module& module, const std::string& entry, int threads,
                                     std::int64_t dynamic_shared_bytes) {
  const auto& gpu_module = static_cast<const GpuModule&>(module);
  EINKERN_TRY(const GpuModule::Kernel kernel, gpu_module.find(entry));
  EINKERN_CHECK_OK(gpu_module.allow_shared_memory(entry, kernel, dynamic_shared_bytes));
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  int blocks = 0;
  EINKERN_CHECK_OK(
      driver().check(driver().occupancy_blocks(&blocks, reinterpret_cast<FunctionHandle>(kernel.handle),
                                               threads, static_cast<std::size_t>(dynamic_shared_bytes)),
                     fmt::format("asking for the occupancy of '{}'", entry)));
  return blocks;
}

}  // namespace einkern::runtime::cuda
