// The kernel that empties a GPU's caches between timed launches.
#pragma once

#include "core/device_facts.h"
#include "core/emission.h"

namespace einkern::autotune {

/// Reads 192 MB, or four times the L2 cache if that is more. It reads, since lines that a fill leaves dirty
/// would be written back during the launch that is timed.
core::Emission flush_emission(const core::DeviceFacts& device);

}  // namespace einkern::autotune
