// The devices of this process by name: "cpu", "cuda", "cuda:1".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "runtime/device.h"

namespace einkern::engine {

/// The same object at every call. The error, of kind device, says what is missing and how to get it.
core::Result<std::shared_ptr<runtime::Device>> open_device(std::string_view name);

/// GPU 0 if there is one that can compile, else the CPU.
core::Result<std::shared_ptr<runtime::Device>> open_best_device();

/// What `einkern devices` lists: each device, or why a kind of device is not here.
struct DeviceListing {
  std::string name;                         // as open_device takes it
  std::shared_ptr<runtime::Device> device;  // null: see `missing`
  std::string missing;
};
std::vector<DeviceListing> list_devices();

}  // namespace einkern::engine
