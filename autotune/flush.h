// What runs on a GPU before each timed launch.
#pragma once

#include "core/device_facts.h"
#include "core/emission.h"

namespace einkern::autotune {

/// Empties the caches and then holds the stream, so that what is timed is queued before it can begin. Reads
/// 192 MB, or four times the L2 cache if that is more. It reads, since lines that a fill leaves dirty
/// would be written back during the launch that is timed.
core::Emission flush_emission(const core::DeviceFacts& device);

}  // namespace einkern::autotune
