// The part of the CUDA driver's binary interface that einkern uses, so that it builds without the toolkit.
// Values and layouts are those of cuda.h (CUDA 12.0 to 13.0); tests/runtime/cuda_declarations_test.cpp
// compares them with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace einkern::runtime::cuda {

using Status = int;  // CUresult
inline constexpr Status success = 0, error_invalid_value = 1, error_out_of_memory = 2,
                        error_not_initialised = 3, error_no_device = 100, error_invalid_image = 200,
                        error_invalid_context = 201, error_no_binary_for_gpu = 209,
                        error_unsupported_ptx_version = 222, error_invalid_source = 300,
                        error_not_found = 500, error_illegal_address = 700,
                        error_launch_out_of_resources = 701, error_launch_timeout = 702,
                        error_launch_failed = 719, error_cooperative_launch_too_large = 720,
                        error_not_supported = 801, error_system_driver_mismatch = 803,
                        error_stream_capture_unsupported = 900;

using DeviceOrdinal = int;                 // CUdevice
using DevicePointer = unsigned long long;  // CUdeviceptr
using ContextHandle = struct ContextTag*;
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using FunctionHandle =
    struct FunctionTag*;  // a CUkernel may be given where a CUfunction is asked for, from 12.0 on
using KernelHandle = struct KernelTag*;
using LibraryHandle = struct LibraryTag*;
using PoolHandle = struct PoolTag*;
using GraphHandle = struct GraphTag*;
using GraphExecutionHandle = struct GraphExecutionTag*;

struct Uuid {
  char bytes[16];
};

/// CUdevice_attribute.
enum DeviceAttribute : int {
  max_threads_per_block = 1,
  warp_size = 10,
  multiprocessor_count = 16,
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_multiprocessor = 81,
  max_registers_per_multiprocessor = 82,
  cooperative_launch = 95,
  max_shared_memory_per_block_optin = 97,
  max_blocks_per_multiprocessor = 106,
  memory_pools_supported = 115,
};

/// CUfunction_attribute.
enum FunctionAttribute : int {
  function_max_threads_per_block = 0,
  function_shared_bytes = 1,
  function_local_bytes = 3,
  function_registers = 4,
  function_max_dynamic_shared_bytes = 8,
  function_non_portable_cluster_size_allowed = 14,
};

/// CUlaunchAttributeID.
enum LaunchAttributeKind : int {
  launch_cooperative = 2,
  launch_cluster_dimension = 4,
};

/// CUlaunchAttribute: the value is a union of 64 bytes.
struct LaunchAttribute {
  LaunchAttributeKind kind;
  int padding = 0;
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned int x, y, z;
    } cluster;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfiguration {
  unsigned int grid_x, grid_y, grid_z;
  unsigned int block_x, block_y, block_z;
  unsigned int shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned int attribute_count;
};

/// CUmemPoolProps.
struct PoolProperties {
  int allocation_type = 1;  // pinned: the one there is
  int handle_types = 0;
  int location_type = 1;  // a device
  int location_id = 0;
  void* security_attributes = nullptr;
  std::size_t maximum_size = 0;
  unsigned char reserved[56] = {};
};

/// CUtensorMap.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

/// CUtensorMapDataType.
enum TensorMapType : int {
  tensor_map_u8 = 0,
  tensor_map_u16 = 1,
  tensor_map_u32 = 2,
  tensor_map_i32 = 3,
  tensor_map_u64 = 4,
  tensor_map_i64 = 5,
  tensor_map_f16 = 6,
  tensor_map_f32 = 7,
  tensor_map_f64 = 8,
  tensor_map_bf16 = 9,
};
/// CUtensorMapSwizzle.
enum TensorMapSwizzle : int { swizzle_none = 0, swizzle_32 = 1, swizzle_64 = 2, swizzle_128 = 3 };
/// CUtensorMapL2promotion.
enum TensorMapPromotion : int { promotion_none = 0, promotion_64 = 1, promotion_128 = 2, promotion_256 = 3 };
inline constexpr int interleave_none = 0;  // CUtensorMapInterleave
inline constexpr int fill_zeros = 0;       // CUtensorMapFloatOOBfill

inline constexpr int pool_release_threshold = 4;    // CUmemPool_attribute
inline constexpr int pointer_device_ordinal = 9;    // CUpointer_attribute
inline constexpr unsigned stream_non_blocking = 1;  // CUstream_flags
inline constexpr int capture_mode_thread_local = 1, capture_none = 0;
inline constexpr int jit_error_log_buffer = 5, jit_error_log_size = 6;  // CUjit_option

}  // namespace einkern::runtime::cuda
