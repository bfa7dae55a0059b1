// The cost model that CUDA schedules share: bytes and operations against the device's rates, waves of blocks,
// occupancy.
#pragma once

#include <cstdint>

#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

/// What one block of a kernel takes, and how well its accesses use the memory.
struct BlockUse {
  std::int64_t blocks = 1;
  int threads = 256;
  int registers = 32;  // a thread, estimated
  std::int64_t shared_bytes = 0;
  double bytes_in_flight = 16;  // outstanding reads a thread
  double traffic_factor =
      1;  // bytes moved over the least: 2 where rows are read twice, 8 where a sector serves 4 bytes
  int launches = 1;
};

/// Resident blocks of one multiprocessor; 0 where a block does not fit at all.
int resident_blocks(const core::DeviceFacts& device, const BlockUse& use);

/// Roofline estimate with the last wave's idle multiprocessors and the latency that too few bytes in flight
/// cannot hide.
Estimate roofline(const KernelContext& context, const BlockUse& use);

}  // namespace einkern::codegen::cuda
