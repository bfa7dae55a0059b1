#include "runtime/cuda/context.h"

namespace einkern::runtime::cuda {

core::Result<ContextHandle> PrimaryContext::get() {
  if (ContextHandle handle = handle_.load(std::memory_order_acquire)) return handle;
  const std::lock_guard lock(mutex_);
  ContextHandle handle = handle_.load(std::memory_order_relaxed);
  if (handle != nullptr) return handle;
  EINKERN_CHECK_OK(driver_->check(driver_->primary_context_retain(&handle, device_), "opening the GPU"));
  handle_.store(handle, std::memory_order_release);
  return handle;
}

core::Result<ContextScope> ContextScope::enter(PrimaryContext& primary) {
  if (forked_after_load())
    return core::Error{core::ErrorKind::device,
                       "CUDA does not work in a process made by fork() after its parent used the GPU. Use "
                       "the GPU in one of the "
                       "two only, or start the child as a new program."};
  const Driver& driver = primary.driver();
  EINKERN_TRY(const ContextHandle wanted, primary.get());
  ContextHandle current = nullptr;
  driver.context_get_current(&current);
  if (current == wanted) return ContextScope(nullptr);
  DeviceOrdinal device = -1;
  if (current != nullptr && driver.context_get_device(&device) == success && device == primary.device())
    return ContextScope(nullptr);
  EINKERN_CHECK_OK(driver.check(driver.context_push(wanted), "entering the GPU's context"));
  return ContextScope(&driver);
}

ContextScope::~ContextScope() {
  ContextHandle popped = nullptr;
  if (driver_ != nullptr) driver_->context_pop(&popped);
}

}  // namespace einkern::runtime::cuda
