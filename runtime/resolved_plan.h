// A launch plan with its sizes evaluated: what both the GPU and the CPU make their prepared launches from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/launch_plan.h"
#include "core/result.h"
#include "core/size_expression.h"
#include "runtime/device.h"
#include "runtime/resolved_tensor_map.h"

namespace einkern::runtime {

/// Where a launch stores a value that is known only then. `slot` counts 8-byte words of the template.
struct PointerPatch {
  int slot = 0;
  int buffer = 0;
  std::uint64_t byte_offset = 0;
};
struct ScalarPatch {
  int slot = 0;
  int scalar = 0;
};

/// The arguments of one step as 8-byte words, every argument at the start of its own. On a GPU a divisor
/// takes two words (12 bytes), on the CPU one (the divisor as i64). A tensor map takes 16 and starts at a
/// multiple of 64 bytes.
struct ArgumentTemplate {
  std::vector<std::uint64_t> words;
  std::vector<int> starts;  // word of each argument, in order
  std::vector<PointerPatch> pointers;
  std::vector<ScalarPatch> scalars;
  std::vector<ResolvedTensorMap> tensor_maps;
};

struct ResolvedKernel {
  std::string entry;
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  std::int64_t shared_bytes = 0;
  bool cooperative = false;
  ArgumentTemplate arguments;
};
struct ResolvedCpuLoop {
  std::string entry;
  std::int64_t tasks = 0, grain = 1, scratch_bytes = 0;
  ArgumentTemplate arguments;
};
struct ResolvedFill {
  int buffer = 0;
  std::int64_t bytes = 0;
  std::uint8_t byte = 0;
};
using ResolvedStep = std::variant<ResolvedKernel, ResolvedCpuLoop, ResolvedFill>;

/// Steps with nothing to do (an empty grid, no tasks, no bytes) have been left out.
struct ResolvedPlan {
  std::vector<ResolvedStep> steps;
  std::vector<std::int64_t> workspace_offsets;  // by buffer; -1: the caller gives the address
  std::int64_t workspace_bytes = 0;
  std::int64_t zeroed_bytes = 0;  // at the start of the workspace: what is zero on creation
  std::size_t buffer_count = 0, scalar_count = 0;

  /// A launch's address of a buffer.
  Address address(int buffer, const LaunchArguments& arguments, Address workspace) const {
    const std::int64_t offset = workspace_offsets[static_cast<std::size_t>(buffer)];
    return offset < 0 ? arguments.buffers[static_cast<std::size_t>(buffer)]
                      : workspace + static_cast<Address>(offset);
  }
  /// Writes a step's argument words to `words`, which holds `arguments.words.size()` of them. Tensor maps are
  /// left 0: only the device can encode them.
  void patch(const ArgumentTemplate& step, const LaunchArguments& arguments, Address workspace,
             std::uint64_t* words) const;
  /// An internal error if there are too few buffers or scalars, or the workspace is misaligned.
  core::Result<void> check(const LaunchArguments& arguments) const;
};

/// Evaluates every size with `symbols`. A size that is negative, does not fit its argument, or a divisor
/// outside [0, 2^31) in a step that runs, is an error. Scratch and counter buffers get room in the workspace;
/// inputs, outputs and constants come from the caller. A plan of KernelSteps gets a GPU's argument words,
/// CpuSteps the CPU's.
core::Result<ResolvedPlan> resolve(const core::LaunchPlan& plan, const core::SymbolValues& symbols);

}  // namespace einkern::runtime
