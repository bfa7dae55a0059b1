// The declarations that einkern makes of its own, compared with the toolkit's headers where there is a
// toolkit: what does not agree does not compile.
#include <gtest/gtest.h>

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"

namespace einkern::runtime::cuda {
namespace {

/// Two parameters are passed alike: both pointers, or integers, enumerations or floats of one size.
template <typename A, typename B>
constexpr bool passed_alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                              std::is_floating_point_v<A> == std::is_floating_point_v<B>;

template <typename A, typename B>
constexpr bool callable_alike = false;
template <typename ResultA, typename... A, typename ResultB, typename... B>
  requires(sizeof...(A) == sizeof...(B))
constexpr bool callable_alike<ResultA (*)(A...), ResultB (*)(B...)> =
    passed_alike<ResultA, ResultB> && (passed_alike<A, B> && ...);

#define F(member, symbol, since, parameters) \
  static_assert(callable_alike<decltype(Driver::member), decltype(&::symbol)>, #symbol);
#include "runtime/cuda/driver_functions.def"
#undef F
#define F(member, symbol, since, parameters) \
  static_assert(callable_alike<decltype(Nvrtc::member), decltype(&::symbol)>, #symbol);
#include "runtime/cuda/nvrtc_functions.def"
#undef F

static_assert(sizeof(DevicePointer) == sizeof(CUdeviceptr) && sizeof(DeviceOrdinal) == sizeof(CUdevice));
static_assert(sizeof(Uuid) == sizeof(CUuuid));

#define SAME_OFFSET(ours, member, theirs, their_member) \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member))
static_assert(sizeof(LaunchConfiguration) == sizeof(CUlaunchConfig));
SAME_OFFSET(LaunchConfiguration, grid_z, CUlaunchConfig, gridDimZ);
SAME_OFFSET(LaunchConfiguration, block_x, CUlaunchConfig, blockDimX);
SAME_OFFSET(LaunchConfiguration, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_OFFSET(LaunchConfiguration, stream, CUlaunchConfig, hStream);
SAME_OFFSET(LaunchConfiguration, attributes, CUlaunchConfig, attrs);
SAME_OFFSET(LaunchConfiguration, attribute_count, CUlaunchConfig, numAttrs);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME_OFFSET(LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
SAME_OFFSET(PoolProperties, location_type, CUmemPoolProps, location.type);
SAME_OFFSET(PoolProperties, location_id, CUmemPoolProps, location.id);
SAME_OFFSET(PoolProperties, security_attributes, CUmemPoolProps, win32SecurityAttributes);
SAME_OFFSET(PoolProperties, maximum_size, CUmemPoolProps, maxSize);

#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME_VALUE(success, CUDA_SUCCESS);
SAME_VALUE(error_invalid_value, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(error_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(error_not_initialised, CUDA_ERROR_NOT_INITIALIZED);
SAME_VALUE(error_no_device, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(error_invalid_image, CUDA_ERROR_INVALID_IMAGE);
SAME_VALUE(error_invalid_context, CUDA_ERROR_INVALID_CONTEXT);
SAME_VALUE(error_no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_VALUE(error_unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_VALUE(error_invalid_source, CUDA_ERROR_INVALID_SOURCE);
SAME_VALUE(error_not_found, CUDA_ERROR_NOT_FOUND);
SAME_VALUE(error_illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_VALUE(error_launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME_VALUE(error_launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME_VALUE(error_launch_failed, CUDA_ERROR_LAUNCH_FAILED);
SAME_VALUE(error_cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME_VALUE(error_not_supported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(error_system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME_VALUE(error_stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);

SAME_VALUE(max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME_VALUE(multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(l2_cache_size, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(max_threads_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME_VALUE(compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(max_shared_memory_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_VALUE(max_registers_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME_VALUE(cooperative_launch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME_VALUE(max_shared_memory_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(max_blocks_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME_VALUE(memory_pools_supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME_VALUE(function_max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(function_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(function_local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(function_registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(function_max_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(function_non_portable_cluster_size_allowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME_VALUE(launch_cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_VALUE(launch_cluster_dimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_VALUE(PoolProperties().allocation_type, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME_VALUE(PoolProperties().location_type, CU_MEM_LOCATION_TYPE_DEVICE);
SAME_VALUE(pool_release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME_VALUE(pointer_device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_VALUE(stream_non_blocking, CU_STREAM_NON_BLOCKING);
SAME_VALUE(capture_mode_thread_local, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME_VALUE(capture_none, CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(jit_error_log_buffer, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(jit_error_log_size, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) >= 64);
SAME_VALUE(tensor_map_u8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME_VALUE(tensor_map_u16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME_VALUE(tensor_map_u32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME_VALUE(tensor_map_i32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME_VALUE(tensor_map_u64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
SAME_VALUE(tensor_map_i64, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME_VALUE(tensor_map_f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME_VALUE(tensor_map_f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME_VALUE(tensor_map_f64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME_VALUE(tensor_map_bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME_VALUE(interleave_none, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME_VALUE(swizzle_none, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME_VALUE(swizzle_32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME_VALUE(swizzle_64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME_VALUE(swizzle_128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME_VALUE(promotion_none, CU_TENSOR_MAP_L2_PROMOTION_NONE);
SAME_VALUE(promotion_64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME_VALUE(promotion_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME_VALUE(promotion_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME_VALUE(fill_zeros, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

TEST(CudaDeclarations, PlaceAttributeValuesWhereCudaReadsThem) {
  LaunchAttribute ours{};
  ours.kind = launch_cluster_dimension;
  ours.value.cluster = {2, 3, 4};
  const auto& theirs = reinterpret_cast<const CUlaunchAttribute&>(ours);
  EXPECT_EQ(theirs.id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(theirs.value.clusterDim.x, 2u);
  EXPECT_EQ(theirs.value.clusterDim.z, 4u);
}

}  // namespace
}  // namespace einkern::runtime::cuda
#else
TEST(CudaDeclarations, PlaceAttributeValuesWhereCudaReadsThem) { GTEST_SKIP() << "no CUDA Toolkit here"; }
#endif
