// Fair timing: both sides in one process on the same buffers, in a new random order each round, the L2 cache
// flushed by reading before every run, medians and spreads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "runtime/device.h"

namespace einkern::bench {

/// Something to time: queues one run on the default stream.
struct Contestant {
  std::string name;
  std::function<core::Result<void>()> run;
};

struct Time {
  double seconds = 0;  // median
  double spread = 0;   // (upper quartile - lower quartile) / median
};

/// Reads 192 MB, which evicts everything else from L2 without leaving dirty lines, and then spins, so that
/// the timed kernel is queued before it begins. On a CPU neither is needed: prepare() does nothing.
class ColdCache {
 public:
  static core::Result<std::unique_ptr<ColdCache>> make(runtime::Device& device);
  virtual ~ColdCache() = default;
  virtual core::Result<void> prepare() = 0;
};

/// Medians of `rounds` rounds after two to warm up, in the contestants' order.
core::Result<std::vector<Time>> time_interleaved(runtime::Device& device, ColdCache& cache,
                                                 const std::vector<Contestant>& contestants, int rounds,
                                                 std::uint64_t seed);

}  // namespace einkern::bench
