#include "engine/device_registry.h"

#include <charconv>

#include <fmt/format.h>

#include "runtime/cuda/gpu_device.h"
#ifdef EINKERN_HAS_LLVM
#include "runtime/cpu/cpu_device.h"
#endif

namespace einkern::engine {
namespace {

core::Error device_error(std::string message) { return {core::ErrorKind::device, std::move(message)}; }

core::Result<std::shared_ptr<runtime::Device>> cpu_device() {
#ifdef EINKERN_HAS_LLVM
  static const auto device = runtime::cpu::open_cpu_device();
  return device;
#else
  return device_error(
      "this einkern was built without LLVM, so it has no CPU backend: install llvm-19-dev zlib1g-dev "
      "libzstd-dev and build again");
#endif
}

core::Result<std::shared_ptr<runtime::Device>> gpu_device(int ordinal) {
  EINKERN_TRY(const auto devices, runtime::cuda::process_devices());
  if (ordinal >= static_cast<int>(devices.size()))
    return device_error(fmt::format("there is no cuda:{}: {} GPU{} here, cuda:0 to cuda:{}", ordinal,
                                    devices.size(), devices.size() == 1 ? " is" : "s are",
                                    devices.size() - 1));
  return std::shared_ptr<runtime::Device>(devices[static_cast<std::size_t>(ordinal)]);
}

}  // namespace

core::Result<std::shared_ptr<runtime::Device>> open_device(std::string_view name) {
  if (name == "cpu") return cpu_device();
  if (name == "cuda") return gpu_device(0);
  int ordinal = -1;
  if (name.starts_with("cuda:")) {
    const auto [end, fault] = std::from_chars(name.data() + 5, name.data() + name.size(), ordinal);
    if (fault == std::errc() && end == name.data() + name.size() && ordinal >= 0) return gpu_device(ordinal);
  }
  return device_error(fmt::format("no device is called \"{}\": there are cpu, cuda and cuda:N", name));
}

core::Result<std::shared_ptr<runtime::Device>> open_best_device() {
  if (auto gpu = gpu_device(0); gpu.ok() && runtime::cuda::process_nvrtc().ok()) return gpu;
  return cpu_device();
}

std::vector<DeviceListing> list_devices() {
  std::vector<DeviceListing> listing;
  if (const auto gpus = runtime::cuda::process_devices(); gpus.ok()) {
    for (std::size_t i = 0; i < gpus->size(); ++i)
      listing.push_back({fmt::format("cuda:{}", i), (*gpus)[i], ""});
    if (const auto nvrtc = runtime::cuda::process_nvrtc(); !nvrtc.ok())
      listing.push_back({"nvrtc", nullptr, nvrtc.error().message});
  } else {
    listing.push_back({"cuda", nullptr, gpus.error().message});
  }
  if (const auto cpu = cpu_device(); cpu.ok())
    listing.push_back({"cpu", *cpu, ""});
  else
    listing.push_back({"cpu", nullptr, cpu.error().message});
  return listing;
}

}  // namespace einkern::engine
