#include "autotune/worker/devices.h"

#include <fmt/format.h>

#include "runtime/cuda/gpu_device.h"
#ifdef EINKERN_HAS_LLVM
#include "runtime/cpu/cpu_device.h"
#endif

namespace einkern::autotune::worker {

core::Result<std::shared_ptr<runtime::Device>> open_device(const std::string& name) {
  if (name == "cpu") {
#ifdef EINKERN_HAS_LLVM
    return runtime::cpu::open_cpu_device();
#else
    return core::Error{core::ErrorKind::device, "this einkern-worker was built without LLVM"};
#endif
  }
  EINKERN_TRY(const auto gpus, runtime::cuda::process_devices());
  for (const auto& gpu : gpus)
    if (gpu->facts().uuid == name) return std::shared_ptr<runtime::Device>(gpu);
  return core::Error{core::ErrorKind::device, fmt::format("the worker sees no GPU with the uuid {}", name)};
}

}  // namespace einkern::autotune::worker
