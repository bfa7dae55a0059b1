// The device that the tuner names.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

/// "cpu", or the GPU with that uuid. An error of kind device.
core::Result<std::shared_ptr<runtime::Device>> open_device(const std::string& name);

}  // namespace einkern::autotune::worker
