// Encodes tensor maps (TMA descriptors) for a launch.
#pragma once

#include "core/result.h"
#include "runtime/cuda/driver.h"
#include "runtime/device.h"
#include "runtime/resolved_tensor_map.h"

namespace einkern::runtime::cuda {

/// Writes the map of the tensor whose buffer begins at `buffer` to `words`: 16 words, 64-byte aligned. A
/// device error names the tensor and the rule that its address breaks, or what the driver had against it.
/// Touches no memory but `words`, hence may run in many threads and during a capture.
core::Result<void> encode_tensor_map(const Driver& driver, const ResolvedTensorMap& map, Address buffer,
                                     std::uint64_t* words);

}  // namespace einkern::runtime::cuda
