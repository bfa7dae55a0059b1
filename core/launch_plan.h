// How compiled kernels are launched, as data: the cache, the tuner's child process and `explain` read the
// same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "core/size_expression.h"
#include "core/tensor_map.h"

namespace einkern::core {

enum class BufferKind { input, output, inout, scratch, counter, constant };

/// A region of device memory that steps use. Inputs and outputs come from the caller; the runtime allocates
/// the rest.
struct BufferSpec {
  std::string name;  // the tensor's name in the function, or a temporary's
  BufferKind kind = BufferKind::scratch;
  DType dtype = DType::f32;
  SizeExpression bytes;  // of scratch, counter and constant buffers
  std::int64_t alignment = 256;
  bool zero_on_creation = false;
};

/// A scalar that the caller passes by value. Symbols of dims are not scalars.
struct ScalarSpec {
  std::string name;
  DType dtype = DType::f32;
};

struct PointerArgument {
  int buffer = 0;  // index in LaunchPlan::buffers
  SizeExpression byte_offset;
};
struct SizeArgument {
  SizeExpression value;
  int bytes = 8;  // 4 or 8; a value that does not fit is a launch error
};
struct ScalarArgument {
  int scalar = 0;  // index in LaunchPlan::scalars
};
/// A divisor as the emitted kernels use it: struct { u32 divisor, multiplier, shift } (Granlund and
/// Montgomery 1994), for dividends below 2^31. See core/fast_divisor.h.
struct DivisorArgument {
  SizeExpression divisor;
};
/// TensorMapArgument (core/tensor_map.h) is for kernels on GPUs of sm_90 and newer alone.
using Argument =
    std::variant<PointerArgument, SizeArgument, ScalarArgument, DivisorArgument, TensorMapArgument>;

/// One kernel launch on a GPU. A grid of which any dimension is 0 is not launched.
struct KernelStep {
  std::string entry;
  std::array<SizeExpression, 3> grid = {1, 1, 1};
  std::array<SizeExpression, 3> block = {1, 1, 1};
  std::array<SizeExpression, 3> cluster = {1, 1, 1};
  SizeExpression shared_bytes = 0;  // dynamic
  bool cooperative = false;
  std::vector<Argument> arguments;
};

/// One parallel loop on the CPU. Entry: void entry(const std::uint64_t* arguments, std::int64_t begin,
/// std::int64_t end, void* scratch), called for disjoint ranges that cover [0, tasks). Each argument fills
/// one 8-byte slot (a divisor: its divisor as i64); scalars are stored at the start of their slot. `scratch`
/// is private to the worker thread, 64-byte aligned.
struct CpuStep {
  std::string entry;
  SizeExpression tasks = 1;
  SizeExpression grain = 1;  // least number of tasks worth giving to a thread
  SizeExpression scratch_bytes = 0;
  std::vector<Argument> arguments;
};

/// Fills a buffer's bytes.
struct FillStep {
  int buffer = 0;
  SizeExpression bytes;
  std::uint8_t byte = 0;
};

using Step = std::variant<KernelStep, CpuStep, FillStep>;

struct LaunchPlan {
  std::vector<BufferSpec> buffers;
  std::vector<ScalarSpec> scalars;
  std::vector<Step> steps;

  std::string to_json() const;
  static Result<LaunchPlan> from_json(std::string_view text);
  /// Appends `next`'s steps, unifying buffers and scalars by name.
  void append(const LaunchPlan& next);
};

}  // namespace einkern::core
