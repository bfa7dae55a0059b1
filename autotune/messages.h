// What the tuner and its worker say to each other: a JSON header, then the bytes of compiled code. A request
// is answered by one reply. The tuner asks for: OpenDevice, on a GPU UseChecks, SetProblem, Load of the
// reference, RunReference; then for each candidate Load, Check and Time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/artifact.h"
#include "core/launch_plan.h"
#include "core/result.h"
#include "core/size_expression.h"

namespace einkern::autotune {

/// Names the build: tuner and worker must come from the same one.
std::string build_identity();

/// A tensor that a kernel reads or writes, as the worker makes it.
struct ProblemTensor {
  std::string name;
  DType dtype = DType::f32;
  core::BufferKind kind = core::BufferKind::input;  // input, output, or inout
  std::vector<std::int64_t> shape, strides;         // elements; a stride may be 0 or negative
  std::int64_t first_byte = 0;   // where element 0 lies, from an address aligned to 256 bytes
  std::int64_t index_limit = 0;  // above 0: values are indices in [0, index_limit)
  std::uint64_t seed = 0;
  /// How far an element of a float output may lie from the reference: `relative` times its magnitude, and
  /// `absolute` times the largest finite magnitude of the output.
  double relative = 0, absolute = 0;
};

/// Of which points of a box a reference computes the elements. It takes their row-major numbers from a buffer
/// of that name, whose size is the symbol of that name.
struct Sampling {
  std::string name;
  std::vector<std::int64_t> extents;  // empty: the reference computes everything
  std::uint64_t seed = 0;
};

/// Everything that a launch of the kernel needs but the kernel.
struct Problem {
  std::vector<ProblemTensor> tensors;
  std::map<std::string, std::uint64_t> scalars;  // bits in the low bytes
  core::SymbolValues symbols;
  Sampling sampling;
};

struct OpenDevice {
  std::string device;  // "cpu", or a GPU's uuid
  std::string build;   // build_identity() of the tuner
};
/// The kernels of check_kernels.h, compiled: tensors of later problems are filled and judged on the device.
struct UseChecks {
  core::Artifact artifact;
};
struct SetProblem {
  Problem problem;
};
/// Compiled code under a number of the tuner's choice. Buffers named like a tensor of the problem are that
/// tensor, whatever their kind.
struct Load {
  int kernel = 0;
  core::LaunchPlan launch;
  core::Artifact artifact;  // format, code and entries
};
/// Runs a loaded kernel before each timed launch: it is to read as much as the caches hold.
struct UseFlush {
  int kernel = 0;
};
/// Runs a loaded kernel and keeps its results as the right ones.
struct RunReference {
  int kernel = 0;
};
/// Runs a loaded kernel `runs` times on poisoned outputs: every element is compared with the reference, and
/// that nothing else was written; further runs must give the same bits.
struct Check {
  int kernel = 0;
  int runs = 1;
};
/// Times loaded kernels in rounds, each round in a new random order.
struct Time {
  std::vector<int> kernels;
  int rounds = 1;
  std::uint64_t seed = 0;
};
using Request = std::variant<OpenDevice, UseChecks, SetProblem, Load, UseFlush, RunReference, Check, Time>;

struct Reply {
  std::string failure;  // "": all is well; else "launch: …", "fault: …", "wrong: …", or an error's text
  bool broken = false;  // the device can no longer be used from that process
  double seconds = 0;   // of the run of RunReference and Check, the host's clock
  double error = 0;     // Check: largest error of an element over the largest magnitude of its output
  std::vector<std::vector<double>> samples;  // Time: seconds, by kernel and round
};

std::string encode(const Request& request);
core::Result<Request> decode_request(std::string_view message);
std::string encode(const Reply& reply);
core::Result<Reply> decode_reply(std::string_view message);

}  // namespace einkern::autotune
