// Which CUDA context a call runs in: the caller's where it fits, else the device's primary one, left as
// found.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "core/result.h"
#include "runtime/cuda/driver.h"

namespace einkern::runtime::cuda {

/// A device's primary context, retained at first use and kept for the life of the process, since releasing it
/// would take the memory of others' tensors along.
class PrimaryContext {
 public:
  PrimaryContext(std::shared_ptr<const Driver> driver, DeviceOrdinal device)
      : driver_(std::move(driver)), device_(device) {}
  core::Result<ContextHandle> get();
  const Driver& driver() const { return *driver_; }
  DeviceOrdinal device() const { return device_; }

 private:
  std::shared_ptr<const Driver> driver_;
  DeviceOrdinal device_;
  std::mutex mutex_;
  std::atomic<ContextHandle> handle_ = nullptr;
};

/// Makes a context of the device current for a scope. Costs two look-ups in thread-local state where one is
/// already.
class ContextScope {
 public:
  /// An error in a child of fork(), where CUDA does not work.
  static core::Result<ContextScope> enter(PrimaryContext& primary);
  ContextScope(ContextScope&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
  ContextScope& operator=(ContextScope&&) = delete;
  ~ContextScope();

 private:
  explicit ContextScope(const Driver* pushed) : driver_(pushed) {}
  const Driver* driver_;  // null if nothing was pushed
};

}  // namespace einkern::runtime::cuda
