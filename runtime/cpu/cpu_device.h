// The CPU behind the face of devices.
#pragma once

#include <memory>

#include "core/result.h"
#include "runtime/device.h"

namespace einkern::runtime::cpu {

/// This machine's CPU with `host_facts()` and a pool of their `multiprocessors` threads. Memory is the
/// process's own, an Address is a pointer, and work is done when a call returns. Events measure with the
/// steady clock.
core::Result<std::shared_ptr<Device>> open_cpu_device();

}  // namespace einkern::runtime::cpu
