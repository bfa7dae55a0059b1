#include "runtime/resolved_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/fast_divisor.h"

namespace einkern::runtime {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;
using core::SizeExpression;
using core::SymbolValues;

constexpr std::int64_t workspace_alignment = 256;
constexpr std::int64_t divisor_limit = std::int64_t{1} << 31;

/// Evaluates a size that counts something, hence is not negative.
Result<std::int64_t> count_of(const SizeExpression& size, const SymbolValues& symbols,
                              std::string_view what) {
  EINKERN_TRY(const std::int64_t value, size.evaluate(symbols));
  if (value >= 0) return value;
  return Error{ErrorKind::internal, fmt::format("The {} '{}' is negative: {}.", what, size.text(), value)};
}

Result<std::array<std::int64_t, 3>> counts_of(const std::array<SizeExpression, 3>& sizes,
                                              const SymbolValues& symbols, std::string_view what) {
  std::array<std::int64_t, 3> counts{};
  for (std::size_t i = 0; i < 3; ++i) {
    EINKERN_TRY(counts[i], count_of(sizes[i], symbols, what));
  }
  return counts;
}

/// Builds a step's argument words; names are for messages.
class ArgumentPacker {
 public:
  ArgumentPacker(const core::LaunchPlan& plan, const SymbolValues& symbols, std::string_view entry,
                 bool for_gpu)
      : plan_(plan), symbols_(symbols), entry_(entry), for_gpu_(for_gpu) {}

  Result<ArgumentTemplate> pack(const std::vector<core::Argument>& arguments) {
    for (const core::Argument& argument : arguments) {
      align_for(argument);
      template_.starts.push_back(next_slot());
      EINKERN_CHECK_OK(std::visit([&](const auto& a) { return add(a); }, argument));
    }
    return std::move(template_);
  }

 private:
  Result<void> add(const core::PointerArgument& pointer) {
    EINKERN_TRY(const std::int64_t offset, pointer.byte_offset.evaluate(symbols_));
    template_.pointers.push_back({next_slot(), pointer.buffer, static_cast<std::uint64_t>(offset)});
    template_.words.push_back(0);
    return {};
  }

  Result<void> add(const core::SizeArgument& size) {
    EINKERN_TRY(const std::int64_t value, size.value.evaluate(symbols_));
    const bool fits_32 = value >= std::numeric_limits<std::int32_t>::min() &&
                         value <= std::numeric_limits<std::int32_t>::max();
    if (size.bytes == 4 && !fits_32)
      return failure(
          fmt::format("the size '{}' = {} does not fit its 32-bit argument", size.value.text(), value));
    template_.words.push_back(static_cast<std::uint64_t>(value));
    return {};
  }

  Result<void> add(const core::ScalarArgument& scalar) {
    template_.scalars.push_back({next_slot(), scalar.scalar});
    template_.words.push_back(0);
    return {};
  }

  Result<void> add(const core::DivisorArgument& argument) {
    EINKERN_TRY(const std::int64_t value, argument.divisor.evaluate(symbols_));
    if (value < 0 || value >= divisor_limit)
      return failure(
          fmt::format("the divisor '{}' = {} is outside [0, 2^31)", argument.divisor.text(), value));
    if (!for_gpu_) {
      template_.words.push_back(static_cast<std::uint64_t>(value));
      return {};
    }
    const core::FastDivisor divisor = core::make_fast_divisor(static_cast<std::uint32_t>(value));
    template_.words.push_back(divisor.divisor | static_cast<std::uint64_t>(divisor.multiplier) << 32);
    template_.words.push_back(divisor.shift);
    return {};
  }

  Result<void> add(const core::TensorMapArgument& argument) {
    if (!for_gpu_) return failure("a loop on a CPU takes no tensor map");
    const std::string& tensor = plan_.buffers[static_cast<std::size_t>(argument.buffer)].name;
    EINKERN_TRY(ResolvedTensorMap map, resolve(argument, tensor, symbols_));
    map.slot = next_slot();
    template_.tensor_maps.push_back(std::move(map));
    template_.words.resize(template_.words.size() + core::tensor_map_words);
    return {};
  }

  /// Leaves the words free that put a tensor map to its alignment.
  void align_for(const core::Argument& argument) {
    if (!std::holds_alternative<core::TensorMapArgument>(argument)) return;
    while (next_slot() % core::tensor_map_alignment_words != 0) template_.words.push_back(0);
  }
  int next_slot() const { return static_cast<int>(template_.words.size()); }
  Error failure(std::string_view what) const {
    return {ErrorKind::internal, fmt::format("The launch of '{}' cannot be prepared: {}.", entry_, what)};
  }

  const core::LaunchPlan& plan_;
  const SymbolValues& symbols_;
  std::string_view entry_;
  bool for_gpu_;
  ArgumentTemplate template_;
};

bool any_zero(const std::array<std::int64_t, 3>& counts) {
  return std::find(counts.begin(), counts.end(), 0) != counts.end();
}

/// Nothing to do leaves `steps` as it is; arguments of such a step are not evaluated (its divisors may be 0).
Result<void> resolve_step(const core::KernelStep& step, const core::LaunchPlan& plan,
                          const SymbolValues& symbols, std::vector<ResolvedStep>& steps) {
  ResolvedKernel kernel;
  kernel.entry = step.entry;
  kernel.cooperative = step.cooperative;
  EINKERN_TRY(kernel.grid, counts_of(step.grid, symbols, "grid size"));
  if (any_zero(kernel.grid)) return {};
  EINKERN_TRY(kernel.block, counts_of(step.block, symbols, "block size"));
  EINKERN_TRY(kernel.cluster, counts_of(step.cluster, symbols, "cluster size"));
  if (any_zero(kernel.block) || any_zero(kernel.cluster))
    return Error{ErrorKind::internal,
                 fmt::format("The kernel '{}' has an empty block or cluster.", step.entry)};
  EINKERN_TRY(kernel.shared_bytes, count_of(step.shared_bytes, symbols, "shared memory size"));
  EINKERN_TRY(kernel.arguments, ArgumentPacker(plan, symbols, step.entry, true).pack(step.arguments));
  steps.emplace_back(std::move(kernel));
  return {};
}

Result<void> resolve_step(const core::CpuStep& step, const core::LaunchPlan& plan,
                          const SymbolValues& symbols, std::vector<ResolvedStep>& steps) {
  ResolvedCpuLoop loop;
  loop.entry = step.entry;
  EINKERN_TRY(loop.tasks, count_of(step.tasks, symbols, "number of tasks"));
  if (loop.tasks == 0) return {};
  EINKERN_TRY(loop.grain, count_of(step.grain, symbols, "grain"));
  loop.grain = std::max<std::int64_t>(loop.grain, 1);
  EINKERN_TRY(loop.scratch_bytes, count_of(step.scratch_bytes, symbols, "scratch size"));
  EINKERN_TRY(loop.arguments, ArgumentPacker(plan, symbols, step.entry, false).pack(step.arguments));
  steps.emplace_back(std::move(loop));
  return {};
}

Result<void> resolve_step(const core::FillStep& step, const core::LaunchPlan&, const SymbolValues& symbols,
                          std::vector<ResolvedStep>& steps) {
  EINKERN_TRY(const std::int64_t bytes, count_of(step.bytes, symbols, "number of bytes"));
  if (bytes > 0) steps.emplace_back(ResolvedFill{step.buffer, bytes, step.byte});
  return {};
}

bool lives_in_workspace(const core::BufferSpec& buffer) {
  return buffer.kind == core::BufferKind::scratch || buffer.kind == core::BufferKind::counter;
}

/// Gives room to the buffers that are zero on creation first, so that one fill zeroes them all.
Result<void> lay_out_workspace(const core::LaunchPlan& plan, const SymbolValues& symbols,
                               ResolvedPlan& resolved) {
  resolved.workspace_offsets.assign(plan.buffers.size(), -1);
  for (const bool zeroed : {true, false}) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const core::BufferSpec& buffer = plan.buffers[i];
      if (!lives_in_workspace(buffer) || buffer.zero_on_creation != zeroed) continue;
      if (buffer.alignment > workspace_alignment)
        return Error{ErrorKind::internal,
                     fmt::format("The buffer '{}' asks for an alignment of {} bytes; at most {} can be had.",
                                 buffer.name, buffer.alignment, workspace_alignment)};
      EINKERN_TRY(const std::int64_t bytes, count_of(buffer.bytes, symbols, "buffer size"));
      resolved.workspace_offsets[i] = resolved.workspace_bytes;
      const std::int64_t limit =
          std::numeric_limits<std::int64_t>::max() - resolved.workspace_bytes - workspace_alignment;
      if (bytes > limit)
        return Error{ErrorKind::shape,
                     "The temporary buffers of these shapes do not fit 64 bits; use smaller shapes."};
      resolved.workspace_bytes +=
          (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
    }
    if (zeroed) resolved.zeroed_bytes = resolved.workspace_bytes;
  }
  return {};
}

}  // namespace

void ResolvedPlan::patch(const ArgumentTemplate& step, const LaunchArguments& arguments, Address workspace,
                         std::uint64_t* words) const {
  std::copy(step.words.begin(), step.words.end(), words);
  for (const PointerPatch& pointer : step.pointers)
    words[pointer.slot] = address(pointer.buffer, arguments, workspace) + pointer.byte_offset;
  for (const ScalarPatch& scalar : step.scalars)
    words[scalar.slot] = arguments.scalars[static_cast<std::size_t>(scalar.scalar)];
}

Result<void> ResolvedPlan::check(const LaunchArguments& arguments) const {
  if (arguments.buffers.size() < buffer_count || arguments.scalars.size() < scalar_count)
    return Error{ErrorKind::internal,
                 fmt::format("A launch takes {} buffers and {} scalars, and was given {} and {}.",
                             buffer_count, scalar_count, arguments.buffers.size(), arguments.scalars.size())};
  if (arguments.workspace.address % workspace_alignment != 0)
    return Error{ErrorKind::usage,
                 fmt::format("The workspace must be aligned to {} bytes.", workspace_alignment)};
  return {};
}

Result<ResolvedPlan> resolve(const core::LaunchPlan& plan, const SymbolValues& symbols) {
  ResolvedPlan resolved;
  resolved.buffer_count = plan.buffers.size();
  resolved.scalar_count = plan.scalars.size();
  EINKERN_CHECK_OK(lay_out_workspace(plan, symbols, resolved));
  for (const core::Step& step : plan.steps) {
    EINKERN_CHECK_OK(
        std::visit([&](const auto& s) { return resolve_step(s, plan, symbols, resolved.steps); }, step));
  }
  return resolved;
}

}  // namespace einkern::runtime
