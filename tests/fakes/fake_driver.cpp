#include "tests/fakes/fake_driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>

using namespace einkern::runtime::cuda;  // the types of the driver's interface
using einkern::fakes::FakeDriverState;
using einkern::fakes::FakeLaunch;

// Declares each function as einkern calls it, so that a definition below with other parameters does not
// compile.
#define EXPORTED __attribute__((visibility("default")))
extern "C" {
#define F(member, symbol, since, parameters) EXPORTED Status symbol parameters;
#include "runtime/cuda/driver_functions.def"
#undef F
EXPORTED FakeDriverState* fake_driver_state() {
  static FakeDriverState state;
  return &state;
}
}

namespace {

struct FakeKernel {
  std::string name;
  std::vector<std::size_t> parameters;  // bytes of each
  int registers = 0, shared_bytes = 0;
};

std::vector<std::size_t> parameters_of(const std::string& text) {
  if (text.find(',') == std::string::npos) return std::vector<std::size_t>(std::stoul(text), 8);
  std::vector<std::size_t> sizes;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) sizes.push_back(std::stoul(part));
  return sizes;
}

struct FakeLibrary {
  std::vector<std::unique_ptr<FakeKernel>> kernels;
};

thread_local std::vector<ContextHandle> contexts;
char primary_contexts[16], stream_memory, event_memory, pool_memory, graph_memory;

template <typename Handle>
Handle handle_of(void* memory) {
  return reinterpret_cast<Handle>(memory);
}

FakeDriverState& state() { return *fake_driver_state(); }

/// Notes a call; the status it shall fail with, or success.
Status enter(const char* symbol) {
  if (!state().run_kernel) state().calls.emplace_back(symbol);
  const auto failure = state().failures.find(symbol);
  return failure == state().failures.end() ? success : failure->second;
}
#define ENTER \
  if (const Status status = enter(__func__); status != success) return status

std::mutex memory_mutex;

Status allocate(DevicePointer* address, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  if (state().allocated_bytes + static_cast<std::int64_t>(bytes) > state().memory_limit)
    return error_out_of_memory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xa5, bytes);  // fresh memory holds anything
  *address = reinterpret_cast<DevicePointer>(memory);
  state().allocations[*address] = bytes;
  state().allocated_bytes += static_cast<std::int64_t>(bytes);
  return success;
}

Status release(DevicePointer address) {
  const std::lock_guard lock(memory_mutex);
  const auto found = state().allocations.find(address);
  if (found == state().allocations.end()) return error_invalid_value;
  state().allocated_bytes -= static_cast<std::int64_t>(found->second);
  state().allocations.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return success;
}

int attribute_of(DeviceAttribute attribute) {
  switch (attribute) {
    case max_threads_per_block:
      return 1024;
    case warp_size:
      return 32;
    case multiprocessor_count:
      return 132;
    case l2_cache_size:
      return 50 << 20;
    case max_threads_per_multiprocessor:
      return 2048;
    case compute_capability_major:
      return state().compute_major;
    case compute_capability_minor:
      return state().compute_minor;
    case max_shared_memory_per_multiprocessor:
      return 228 << 10;
    case max_registers_per_multiprocessor:
      return 65536;
    case max_shared_memory_per_block_optin:
      return 227 << 10;
    case max_blocks_per_multiprocessor:
      return 32;
    default:
      return 1;
  }
}

}  // namespace

// --- driver and devices ---

Status cuInit(unsigned int) {
  ENTER;
  return state().device_count == 0 ? error_no_device : success;
}
Status cuDriverGetVersion(int* version) {
  *version = state().version;
  return success;
}
Status cuGetErrorName(Status status, const char** name) {
  *name = status == error_out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return success;
}
Status cuGetErrorString(Status status, const char** text) {
  *text = status == error_out_of_memory ? "out of memory" : "a failure of the fake";
  return success;
}
Status cuDeviceGetCount(int* count) {
  ENTER;
  *count = state().device_count;
  return success;
}
Status cuDeviceGet(DeviceOrdinal* device, int ordinal) {
  *device = ordinal;
  return success;
}
Status cuDeviceGetName(char* name, int length, DeviceOrdinal device) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
  return success;
}
Status cuDeviceGetUuid_v2(Uuid* uuid, DeviceOrdinal device) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(16 * device + i);
  return success;
}
Status cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceOrdinal) {
  ENTER;
  *value = attribute_of(attribute);
  return success;
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, DeviceOrdinal) {
  *bytes = static_cast<std::size_t>(state().memory_limit);
  return success;
}

// --- contexts ---

Status cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal device) {
  ENTER;
  *context = handle_of<ContextHandle>(&primary_contexts[device]);
  return success;
}
Status cuCtxGetCurrent(ContextHandle* context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return success;
}
Status cuCtxGetDevice(DeviceOrdinal* device) {
  if (contexts.empty()) return error_invalid_context;
  *device = static_cast<int>(reinterpret_cast<char*>(contexts.back()) - primary_contexts) % 8;
  return success;
}
Status cuCtxPushCurrent_v2(ContextHandle context) {
  contexts.push_back(context);
  return success;
}
Status cuCtxPopCurrent_v2(ContextHandle* context) {
  if (contexts.empty()) return error_invalid_context;
  *context = contexts.back();
  contexts.pop_back();
  return success;
}

// --- memory ---

Status cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  *total_bytes = static_cast<std::size_t>(state().memory_limit);
  *free_bytes = static_cast<std::size_t>(state().memory_limit - state().allocated_bytes);
  return success;
}
Status cuMemAlloc_v2(DevicePointer* address, std::size_t bytes) {
  ENTER;
  return allocate(address, bytes);
}
Status cuMemFree_v2(DevicePointer address) {
  ENTER;
  return release(address);
}
Status cuMemPoolCreate(PoolHandle* pool, const PoolProperties*) {
  ENTER;
  *pool = handle_of<PoolHandle>(&pool_memory);
  return success;
}
Status cuMemPoolSetAttribute(PoolHandle, int, void*) { return success; }
Status cuMemPoolTrimTo(PoolHandle, std::size_t) {
  ++state().trims;
  return success;
}
Status cuMemAllocFromPoolAsync(DevicePointer* address, std::size_t bytes, PoolHandle, StreamHandle) {
  ENTER;
  if (!state().run_kernel) ++state().order_allocations;
  return allocate(address, bytes);
}
Status cuMemFreeAsync(DevicePointer address, StreamHandle) {
  ENTER;
  return release(address);
}
Status cuPointerGetAttribute(void* value, int, DevicePointer address) {
  if (!state().allocations.contains(address)) return error_invalid_value;
  *static_cast<int*>(value) = 0;
  return success;
}
Status cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, StreamHandle) {
  ENTER;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return success;
}
Status cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, StreamHandle) {
  ENTER;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return success;
}
Status cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle) {
  ENTER;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return success;
}
Status cuMemsetD8Async(DevicePointer to, unsigned char byte, std::size_t count, StreamHandle) {
  ENTER;
  if (!state().run_kernel) ++state().fills;
  std::memset(reinterpret_cast<void*>(to), byte, count);
  return success;
}

// --- streams, events, graphs ---

Status cuStreamCreate(StreamHandle* stream, unsigned int) {
  ENTER;
  *stream = handle_of<StreamHandle>(&stream_memory);
  return success;
}
Status cuStreamDestroy_v2(StreamHandle) { return enter(__func__); }
Status cuStreamSynchronize(StreamHandle) { return enter(__func__); }
Status cuStreamGetCtx(StreamHandle, ContextHandle* context) {
  *context = handle_of<ContextHandle>(&primary_contexts[0]);
  return success;
}
Status cuStreamIsCapturing(StreamHandle, int* status) {
  *status = state().capturing ? 1 : capture_none;
  return success;
}
Status cuStreamBeginCapture_v2(StreamHandle, int) {
  ENTER;
  state().capturing = true;
  return success;
}
Status cuStreamEndCapture(StreamHandle, GraphHandle* graph) {
  state().capturing = false;
  ENTER;
  *graph = handle_of<GraphHandle>(&graph_memory);
  return success;
}
Status cuGraphInstantiateWithFlags(GraphExecutionHandle* execution, GraphHandle, unsigned long long) {
  ENTER;
  *execution = handle_of<GraphExecutionHandle>(&graph_memory);
  return success;
}
Status cuGraphLaunch(GraphExecutionHandle, StreamHandle) { return enter(__func__); }
Status cuGraphExecDestroy(GraphExecutionHandle) { return enter(__func__); }
Status cuGraphDestroy(GraphHandle) { return enter(__func__); }
Status cuEventCreate(EventHandle* event, unsigned int) {
  ENTER;
  *event = handle_of<EventHandle>(&event_memory);
  return success;
}
Status cuEventDestroy_v2(EventHandle) { return enter(__func__); }
Status cuEventRecord(EventHandle, StreamHandle) { return enter(__func__); }
Status cuEventSynchronize(EventHandle) { return enter(__func__); }
Status cuEventElapsedTime(float* milliseconds, EventHandle, EventHandle) {
  *milliseconds = 2.5f;
  return success;
}

// --- code and launches ---

Status cuLibraryLoadData(LibraryHandle* library, const void* code, int* options, void** values,
                         unsigned int option_count, int*, void**, unsigned int) {
  if (const Status status = enter(__func__); status != success) {
    for (unsigned int i = 0; i < option_count; ++i)
      if (options[i] == jit_error_log_buffer)
        std::strcpy(static_cast<char*>(values[i]), "the fake's linker has a complaint");
    return status;
  }
  auto loaded = std::make_unique<FakeLibrary>();
  std::istringstream lines(static_cast<const char*>(code));
  for (std::string word; lines >> word;) {
    auto kernel = std::make_unique<FakeKernel>();
    std::string parameters;
    if (word == "kernel" &&
        lines >> kernel->name >> parameters >> kernel->registers >> kernel->shared_bytes) {
      kernel->parameters = parameters_of(parameters);
      loaded->kernels.push_back(std::move(kernel));
    }
  }
  *library = handle_of<LibraryHandle>(loaded.release());
  return success;
}
Status cuLibraryUnload(LibraryHandle library) {
  delete reinterpret_cast<FakeLibrary*>(library);
  return enter(__func__);
}
Status cuLibraryGetKernel(KernelHandle* kernel, LibraryHandle library, const char* name) {
  for (const auto& known : reinterpret_cast<FakeLibrary*>(library)->kernels)
    if (known->name == name) {
      *kernel = handle_of<KernelHandle>(known.get());
      return success;
    }
  return error_not_found;
}
Status cuKernelGetAttribute(int* value, FunctionAttribute attribute, KernelHandle handle, DeviceOrdinal) {
  const auto& kernel = *reinterpret_cast<FakeKernel*>(handle);
  switch (attribute) {
    case function_registers:
      *value = kernel.registers;
      break;
    case function_shared_bytes:
      *value = kernel.shared_bytes;
      break;
    case function_max_threads_per_block:
      *value = kernel.registers > 128 ? 256 : 1024;
      break;
    default:
      *value = 0;
  }
  return success;
}
Status cuKernelSetAttribute(FunctionAttribute attribute, int value, KernelHandle handle, DeviceOrdinal) {
  ENTER;
  if (attribute == function_max_dynamic_shared_bytes)
    state().dynamic_shared_limits[reinterpret_cast<FakeKernel*>(handle)->name] = value;
  return success;
}
Status cuKernelGetParamInfo(KernelHandle handle, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const auto& parameters = reinterpret_cast<FakeKernel*>(handle)->parameters;
  if (index >= parameters.size()) return error_invalid_value;
  *offset = 8 * index;
  *bytes = parameters[index];
  return success;
}
Status cuTensorMapEncodeTiled(TensorMap* map, TensorMapType type, unsigned int dims, void* address,
                              const std::uint64_t* sizes, const std::uint64_t* byte_strides,
                              const std::uint32_t* box, const std::uint32_t* element_strides, int interleave,
                              TensorMapSwizzle swizzle, TensorMapPromotion promotion, int fill) {
  ENTER;
  if (reinterpret_cast<std::uint64_t>(map) % 64 != 0) return error_invalid_value;
  if (state().run_kernel) {
    std::fill_n(map->words, 16, reinterpret_cast<std::uint64_t>(address));
    return success;
  }
  state().tensor_maps.push_back({type,
                                 reinterpret_cast<std::uint64_t>(address),
                                 {sizes, sizes + dims},
                                 {byte_strides, byte_strides + dims - 1},
                                 {box, box + dims},
                                 {element_strides, element_strides + dims},
                                 interleave,
                                 swizzle,
                                 promotion,
                                 fill});
  for (unsigned long long& word : map->words) word = state().tensor_maps.size();
  return success;
}
Status cuLaunchKernelEx(const LaunchConfiguration* configuration, FunctionHandle function, void** parameters,
                        void**) {
  ENTER;
  if (state().run_kernel) {
    state().run_kernel(parameters);
    return success;
  }
  const auto& kernel = *reinterpret_cast<FakeKernel*>(function);
  FakeLaunch launch{kernel.name,
                    *configuration,
                    {configuration->attributes, configuration->attributes + configuration->attribute_count},
                    {},
                    {}};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, parameters[i], std::min(sizeof word, kernel.parameters[i]));
    launch.parameters.push_back(word);
    launch.parameter_bytes.emplace_back(static_cast<const char*>(parameters[i]), kernel.parameters[i]);
  }
  state().launches.push_back(std::move(launch));
  return success;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle, int block_size, std::size_t) {
  *blocks = 2048 / block_size;
  return success;
}
