// Memory of a device with an owner.
#pragma once

#include <utility>

#include "core/result.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  static core::Result<DeviceMemory> allocate(runtime::Device& device, std::int64_t bytes) {
    DeviceMemory memory;
    EINKERN_TRY(memory.address_, device.allocate(bytes));
    memory.device_ = &device;
    memory.bytes_ = bytes;
    return memory;
  }
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory() {
    if (device_ != nullptr) device_->free(address_);
  }

  /// 0 if there is none.
  runtime::Address address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  runtime::Device* device_ = nullptr;
  runtime::Address address_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace einkern::autotune::worker
