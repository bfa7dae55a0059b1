// Device, and errors as exceptions.
#include "engine/device_registry.h"
#include "engine/face_access.h"

namespace einkern {

namespace detail {

void raise(const core::Error& error) {
  switch (error.kind) {
    case core::ErrorKind::compile:
      throw CompileError(error.message, "[]");
    case core::ErrorKind::shape:
      throw ShapeError(error.message);
    case core::ErrorKind::device:
      throw DeviceError(error.message);
    case core::ErrorKind::usage:
      throw UsageError(error.message);
    case core::ErrorKind::io:
      throw IoError(error.message);
    case core::ErrorKind::internal:
      break;
  }
  throw InternalError(error.message);
}

runtime::KernelBuilder& process_builder() {
  static runtime::KernelBuilder builder(&runtime::process_cache());
  return builder;
}

std::shared_ptr<runtime::Device> Access::runtime(const Device& device) {
  if (!device.handle_)
    throw UsageError("this Device is empty: take one with Device::best(), cpu() or cuda()");
  return device.handle_->device;
}

Device Access::wrap(std::shared_ptr<runtime::Device> device) {
  // One handle a device, so that equal devices compare equal.
  static std::mutex mutex;
  static std::map<runtime::Device*, std::shared_ptr<DeviceHandle>> handles;
  const std::lock_guard lock(mutex);
  auto& handle = handles[device.get()];
  if (!handle) handle = std::make_shared<DeviceHandle>(DeviceHandle{std::move(device)});
  Device result;
  result.handle_ = handle;
  return result;
}

}  // namespace detail

using detail::Access;
using detail::unwrap;

Device Device::best() { return Access::wrap(unwrap(engine::open_best_device())); }
Device Device::cpu() { return named("cpu"); }
Device Device::cuda(int ordinal) { return named("cuda:" + std::to_string(ordinal)); }
Device Device::named(std::string_view name) { return Access::wrap(unwrap(engine::open_device(name))); }

std::string Device::name() const { return Access::runtime(*this)->facts().name; }
std::string Device::architecture() const { return Access::runtime(*this)->facts().architecture; }
bool Device::is_gpu() const { return Access::runtime(*this)->facts().backend == core::Backend::cuda; }
void Device::synchronize(Stream stream) const {
  unwrap(Access::runtime(*this)->synchronize({stream.handle}));
}

}  // namespace einkern
