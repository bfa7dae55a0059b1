// The key under which an emission's code is kept: everything that can change it.
#pragma once

#include "core/emission.h"
#include "core/hash.h"
#include "runtime/device.h"

namespace einkern::runtime {

core::Key kernel_key(const core::Emission& emission, const Device& device);

}  // namespace einkern::runtime
