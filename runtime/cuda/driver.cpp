#include "runtime/cuda/driver.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <mutex>

#include "runtime/cuda/function_table.h"

namespace einkern::runtime::cuda {
namespace {

/// cuLibraryLoadData and launches of context-free kernels; the driver is 525.60 or newer.
constexpr int oldest_version = 12000;

std::atomic<bool> forked = false;

std::string_view remedy_of(Status status) {
  switch (status) {
    case error_out_of_memory:
      return "Use smaller shapes, free tensors, or end other processes that hold GPU memory (`nvidia-smi` "
             "lists them).";
    case error_no_device:
      return "There is no NVIDIA GPU that this process may use; see `nvidia-smi` and CUDA_VISIBLE_DEVICES, "
             "or use the CPU.";
    case error_system_driver_mismatch:
      return "The driver was updated since the machine started; restart the machine.";
    case error_no_binary_for_gpu:
    case error_invalid_image:
    case error_unsupported_ptx_version:
      return "The compiler may be newer than the driver; update the driver, or set EINKERN_NVRTC to an older "
             "libnvrtc.";
    case error_illegal_address:
    case error_launch_failed:
    case error_launch_timeout:
      return "A kernel that ran before has failed, and this process's work on the GPU is lost: restart the "
             "process.";
    case error_launch_out_of_resources:
    case error_cooperative_launch_too_large:
      return "The kernel needs more registers, threads or shared memory than the GPU has; take a smaller "
             "configuration.";
    case error_stream_capture_unsupported:
      return "The stream is being captured into a graph; do this before the capture begins.";
    default:
      return "";
  }
}

core::Error too_old(const Driver& driver, std::string_view why) {
  return {core::ErrorKind::device,
          fmt::format(
              "The NVIDIA driver ({}) supports CUDA {}, and einkern needs CUDA 12.0{}. Update the driver to "
              "version 525 or newer, or use the CPU.",
              driver.path, driver.version == 0 ? "of an unknown version" : cuda_version_text(driver.version),
              why)};
}

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forked = true; }); });
}

}  // namespace

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

bool forked_after_load() { return forked.load(std::memory_order_relaxed); }

core::Error Driver::error(Status status, std::string_view doing) const {
  const char *name = nullptr, *text = nullptr;
  get_error_name(status, &name);
  get_error_string(status, &text);
  const std::string_view remedy = remedy_of(status);
  return {core::ErrorKind::device,
          fmt::format("CUDA failed while {}: {} ({}).{}{}", doing, text != nullptr ? text : "unknown error",
                      name != nullptr ? name : fmt::format("status {}", status), remedy.empty() ? "" : " ",
                      remedy)};
}

core::Result<std::shared_ptr<const Driver>> load_driver(const LibrarySearch& search) {
  EINKERN_TRY(const FoundLibrary library, open_library(search));
  auto driver = std::make_shared<Driver>();
  driver->path = library.path;
  MissingSymbol missing, may_be_missing;
#define OPTIONAL(member, symbol, since, parameters) \
  look_up(library.handle, #symbol, since, driver->member, may_be_missing);
#define F(member, symbol, since, parameters) look_up(library.handle, #symbol, since, driver->member, missing);
#include "runtime/cuda/driver_functions.def"
#undef F
  if (driver->driver_get_version != nullptr) driver->driver_get_version(&driver->version);
  if (!missing.name.empty()) return too_old(*driver, fmt::format(" (it lacks {})", missing.name));
  if (driver->version < oldest_version) return too_old(*driver, "");
  EINKERN_CHECK_OK(driver->check(driver->init(0), "initialising the driver"));
  watch_forks();
  return std::shared_ptr<const Driver>(std::move(driver));
}

}  // namespace einkern::runtime::cuda
