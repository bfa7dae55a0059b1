// Which GPUs there are, and which one a stream or an address belongs to.
#include "runtime/cuda/gpu_device.h"

namespace einkern::runtime::cuda {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;
using Devices = std::vector<std::shared_ptr<GpuDevice>>;

Result<Devices> open_process_devices() {
  EINKERN_TRY(std::shared_ptr<const Driver> driver, load_driver(driver_search()));
  return open_devices(std::move(driver));
}

Result<std::shared_ptr<GpuDevice>> device_of_ordinal(const Devices& devices, DeviceOrdinal ordinal) {
  for (const auto& device : devices)
    if (device->ordinal() == ordinal) return device;
  return Error{ErrorKind::device, "The memory or stream belongs to no GPU that this process sees."};
}

}  // namespace

Result<Devices> open_devices(std::shared_ptr<const Driver> driver, NvrtcSource nvrtc) {
  int count = 0;
  EINKERN_CHECK_OK(driver->check(driver->device_get_count(&count), "counting the GPUs"));
  Devices devices;
  for (int i = 0; i < count; ++i) {
    DeviceOrdinal ordinal = 0;
    EINKERN_CHECK_OK(driver->check(driver->device_get(&ordinal, i), "opening a GPU"));
    EINKERN_TRY(core::DeviceFacts facts, read_facts(*driver, ordinal));
    devices.push_back(std::make_shared<GpuDevice>(driver, ordinal, std::move(facts), nvrtc));
  }
  if (devices.empty()) return driver->error(error_no_device, "counting the GPUs");
  return devices;
}

Result<Devices> process_devices() {
  static const auto* const devices =
      new Result<Devices>(open_process_devices());  // never destroyed: the driver goes first
  return *devices;
}

Result<std::shared_ptr<GpuDevice>> device_of(Stream stream) {
  EINKERN_TRY(const Devices devices, process_devices());
  const Driver& driver = devices.front()->driver();
  ContextHandle context = nullptr;
  if (stream.handle == nullptr) {
    driver.context_get_current(&context);
  } else {
    EINKERN_CHECK_OK(
        driver.check(driver.stream_get_context(static_cast<StreamHandle>(stream.handle), &context),
                     "asking which GPU a stream belongs to"));
  }
  if (context == nullptr) return devices.front();
  DeviceOrdinal ordinal = 0;
  EINKERN_CHECK_OK(driver.check(driver.context_push(context), "entering a stream's context"));
  const Status status = driver.context_get_device(&ordinal);
  driver.context_pop(&context);
  EINKERN_CHECK_OK(driver.check(status, "asking which GPU a context belongs to"));
  return device_of_ordinal(devices, ordinal);
}

Result<std::shared_ptr<GpuDevice>> device_of(Address address) {
  EINKERN_TRY(const Devices devices, process_devices());
  const Driver& driver = devices.front()->driver();
  int ordinal = 0;
  EINKERN_CHECK_OK(driver.check(driver.pointer_get_attribute(&ordinal, pointer_device_ordinal, address),
                                "asking which GPU holds an address (is it a pointer to the GPU's memory?)"));
  return device_of_ordinal(devices, ordinal);
}

}  // namespace einkern::runtime::cuda
