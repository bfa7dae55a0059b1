// float__0: cuda.pointwise (vector=4 unroll=1 threads=256)

// Consecutive elements, as one access of at most 16 bytes moves them.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) ek_vector {
  T element[N];
};
// Fills a vector by accesses of P elements each; `from` is aligned to one.
template <int P, typename T, int N>
static __device__ __forceinline__ void ek_load(ek_vector<T, N>& to, const T* __restrict__ from) {
#pragma unroll
  for (int p = 0; p < N / P; ++p) {
    const ek_vector<T, P> piece = reinterpret_cast<const ek_vector<T, P>*>(from)[p];
#pragma unroll
    for (int i = 0; i < P; ++i) to.element[p * P + i] = piece.element[i];
  }
}
// Writes a vector by accesses of P elements each; `to` is aligned to one.
template <int P, typename T, int N>
static __device__ __forceinline__ void ek_store(T* to, const ek_vector<T, N>& from) {
#pragma unroll
  for (int p = 0; p < N / P; ++p) {
    ek_vector<T, P> piece;
#pragma unroll
    for (int i = 0; i < P; ++i) piece.element[i] = from.element[p * P + i];
    reinterpret_cast<ek_vector<T, P>*>(to)[p] = piece;
  }
}
// A divisor that is fixed at launch, for dividends from 0 to 2^31 - 1.
struct ek_divisor {
  unsigned divisor, multiplier, shift;
};
static __device__ __forceinline__ int ek_quotient(int n, ek_divisor by) {
  return (int)((__umulhi((unsigned)n, by.multiplier) + (unsigned)n) >> by.shift);
}
static __device__ __forceinline__ int ek_remainder(int n, ek_divisor by) {
  return n - ek_quotient(n, by) * (int)by.divisor;
}
static __device__ __forceinline__ float ek_max_f32(float a, float b) {
  float value;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}

extern "C" __global__ void __launch_bounds__(256) ek_float__pointwise_00000000(
    int d_vectors,
    ek_divisor by_size,
    int d_class,
    const float* __restrict__ t_int,
    const float* __restrict__ t_threadIdx,
    float s_ek_max_f32,
    float* __restrict__ t_asm) {
  constexpr int k_threads = 256;
  const int i_vector = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)i_vector < d_vectors) {
    const int i_chunk = ek_remainder(i_vector, by_size);
    const int i_for_ = ek_quotient(i_vector, by_size);
    const int i_while = i_chunk * 4;
    ek_vector<float, 4> w_int;
    ek_vector<float, 4> w_threadIdx;
    ek_load<4>(w_int, t_int + i_for_ * d_class + i_while);
    ek_load<4>(w_threadIdx, t_threadIdx + i_while);
    ek_vector<float, 4> w_asm;
    #pragma unroll
    for (int i_element = 0; i_element < 4; ++i_element) {
      const float v_add = (w_int.element[i_element] * w_threadIdx.element[i_element]) + ek_max_f32(s_ek_max_f32, w_int.element[i_element]);
      w_asm.element[i_element] = v_add;
    }
    ek_store<4>(t_asm + i_for_ * d_class + i_while, w_asm);
  }
}
// launch: grid (ceil_div(blockIdx * ceil_div(class, 4), 256), 1, 1), block 256, 7 arguments
