// A driver without a GPU: memory is the host's, kernels are recorded instead of run. Tests load it in
// libcuda's stead. Its "machine code" is text: a line "kernel NAME PARAMETERS REGISTERS STATIC-SHARED-BYTES"
// for each entry, where PARAMETERS is how many there are of 8 bytes, or the bytes of each: "8,8,4,".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/cuda/driver_types.h"

namespace einkern::fakes {

struct FakeLaunch {
  std::string kernel;
  runtime::cuda::LaunchConfiguration configuration{};
  std::vector<runtime::cuda::LaunchAttribute> attributes;
  std::vector<std::uint64_t> parameters;  // the first 8 bytes of each
  std::vector<std::string> parameter_bytes;
};

/// What cuTensorMapEncodeTiled was given. The map that it made is 16 words of its number, counted from
/// 1.
struct FakeTensorMap {
  int type = 0;
  std::uint64_t address = 0;
  std::vector<std::uint64_t> sizes, byte_strides;
  std::vector<std::uint32_t> box, element_strides;
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct FakeDriverState {
  int version = 13000;
  int device_count = 1;
  int compute_major = 9, compute_minor = 0;
  std::map<std::string, int> failures;  // by exported symbol: the status it gives instead of doing anything
  std::int64_t memory_limit = std::int64_t{1} << 30;
  bool capturing = false;
  /// If set, it runs every launched kernel, and then nothing but memory is recorded: the fake may be used
  /// from many threads at once, and launches that allocate nothing meet no lock in it that would hide a race.
  /// A tensor map is then 16 words of its address.
  std::function<void(void** parameters)> run_kernel;

  std::vector<FakeLaunch> launches;
  std::vector<FakeTensorMap> tensor_maps;
  std::map<std::uint64_t, std::size_t> allocations;
  std::int64_t allocated_bytes = 0;
  int order_allocations = 0, fills = 0, trims = 0;
  std::map<std::string, int> dynamic_shared_limits;  // by kernel
  std::vector<std::string> calls;                    // exported symbols, in order
};

}  // namespace einkern::fakes

/// Exported by the fake library; the state of its one driver.
extern "C" einkern::fakes::FakeDriverState* fake_driver_state();
