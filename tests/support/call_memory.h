// A call's tensors as bytes in host memory, laid out as a test wants them, with guard zones around.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/specialisation.h"
#include "core/launch_plan.h"
#include "tests/support/call.h"

namespace einkern::testing {

/// Where a tensor lies; the default is dense, row-major and aligned.
struct MemoryLayout {
  std::vector<int> order;    // of the dimensions, outermost first; empty: as declared
  std::int64_t padding = 0;  // elements between the innermost rows
  std::int64_t offset = 0;   // elements from the aligned address to the first one
};
/// By tensor name.
using MemoryLayouts = std::map<std::string, MemoryLayout>;

/// Strides in elements, by dimension.
std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& shape, const MemoryLayout& layout);

/// What specialisation is told of the tensors.
std::vector<codegen::TensorPlacement> placements_of(const Call& call, const MemoryLayouts& layouts);

/// The memory of all tensors that the caller gives or gets.
class CallMemory {
 public:
  CallMemory(const Call& call, const MemoryLayouts& layouts);

  /// Dims by name, strides by stride_symbol, and "sm_count" = 4.
  core::SymbolValues symbols() const;
  /// Host addresses of a plan's buffers; 0 for those that are not the call's.
  std::vector<std::uint64_t> addresses(const core::LaunchPlan& plan);
  /// The bits of a plan's scalars, defaults computed.
  std::vector<std::uint64_t> scalars(const core::LaunchPlan& plan) const;
  /// Outputs and inout tensors. An error if bytes around a tensor, or an input, were written.
  core::Result<Results> results() const;

 private:
  struct Region {
    dsl::TensorId id;
    DType dtype;
    std::vector<std::int64_t> shape, strides;
    std::vector<unsigned char> bytes;
    std::size_t first = 0;              // byte of the first element
    std::vector<unsigned char> before;  // the bytes as they were handed over
  };
  const Call& call_;
  std::vector<Region> regions_;
};

}  // namespace einkern::testing
