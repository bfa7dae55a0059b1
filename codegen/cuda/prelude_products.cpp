// What matrix products need beside arithmetic: asynchronous copies to shared memory, and one step of a sum.
#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

// cp.async: PTX ISA, "Data Movement and Conversion Instructions". With a source size of 0 nothing is read,
// and zeros are written. Sixteen bytes pass the L1 cache by (.cg), which smaller copies cannot.
constexpr std::string_view copy_async =
    R"(// Starts copying N elements (4, 8 or 16 bytes) to shared memory; zeros if `inside` is false.
template <int N, typename T>
static __device__ __forceinline__ void ek_copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = N * (int)sizeof(T);
  const unsigned address = (unsigned)__cvta_generic_to_shared(to);
  const int source_bytes = inside ? bytes : 0;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(source_bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes),
                 "r"(source_bytes)
                 : "memory");
}
)";
constexpr std::string_view commit_copies =
    R"(// Makes one group of the copies started since the last group.
static __device__ __forceinline__ void ek_commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
)";
constexpr std::string_view wait_copies =
    R"(// Waits until at most `Pending` of this thread's youngest groups are under way.
template <int Pending>
static __device__ __forceinline__ void ek_wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
)";
// Float sums of products round once a step; integers wrap.
constexpr std::string_view multiply_add =
    R"(static __device__ __forceinline__ float ek_multiply_add(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
static __device__ __forceinline__ double ek_multiply_add(double a, double b, double sum) { return __fma_rn(a, b, sum); }
static __device__ __forceinline__ int ek_multiply_add(int a, int b, int sum) {
  return (int)((unsigned)a * (unsigned)b + (unsigned)sum);
}
static __device__ __forceinline__ unsigned ek_multiply_add(unsigned a, unsigned b, unsigned sum) { return a * b + sum; }
static __device__ __forceinline__ long long ek_multiply_add(long long a, long long b, long long sum) {
  return (long long)((unsigned long long)a * (unsigned long long)b + (unsigned long long)sum);
}
static __device__ __forceinline__ unsigned long long ek_multiply_add(unsigned long long a, unsigned long long b,
                                                                     unsigned long long sum) {
  return a * b + sum;
}
)";

// Sixteen-byte stores want four neighbouring registers, and the compiler then lays the sums out so from the
// start, where they meet each other in the register file's banks (nvdisasm; docs/performance.md).
constexpr std::string_view detached =
    R"(// The value as one of its own, which need not lie where the sum lay; grids have one layer, so nothing is added.
static __device__ __forceinline__ float ek_detached(float value) {
  return __uint_as_float(__float_as_uint(value) | blockIdx.y);
}
)";

}  // namespace

std::vector<PreludePiece> prelude_products() {
  return {
      {"ek_copy_async", {}, 80, copy_async},   {"ek_commit_copies", {}, 80, commit_copies},
      {"ek_wait_copies", {}, 80, wait_copies}, {"ek_multiply_add", {}, 0, multiply_add},
      {"ek_detached", {}, 0, detached},
  };
}

}  // namespace einkern::codegen::cuda
