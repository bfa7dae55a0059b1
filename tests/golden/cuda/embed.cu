// embed_0: cuda.pointwise (vector=8 unroll=1 threads=256)

// Consecutive elements, as one access of at most 16 bytes moves them.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) ek_vector {
  T element[N];
};
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
static __device__ __forceinline__ float ek_bf16_to_f32(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
static __device__ __forceinline__ unsigned short ek_f32_to_bf16(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

extern "C" __global__ void __launch_bounds__(256) ek_embed_pointwise_00000000(
    int d_vectors,
    ek_divisor by_size,
    const int* __restrict__ t_t,
    int d_V,
    int d_D,
    const unsigned short* __restrict__ t_w,
    unsigned short* __restrict__ t_e) {
  constexpr int k_threads = 256;
  const int i_vector = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)i_vector < d_vectors) {
    const int i_chunk = ek_remainder(i_vector, by_size);
    const int i_s = ek_quotient(i_vector, by_size);
    const int i_d = i_chunk * 8;
    const int v_cast = t_t[i_s];
    ek_vector<unsigned short, 8> w_e;
    #pragma unroll
    for (int i_element = 0; i_element < 8; ++i_element) {
      const float v_w = ((unsigned)v_cast < (unsigned)d_V) ? ek_bf16_to_f32(t_w[v_cast * d_D + (i_d + i_element)]) : 0.0f;
      w_e.element[i_element] = ek_f32_to_bf16(v_w);
    }
    ek_store<8>(t_e + i_s * d_D + i_d, w_e);
  }
}
// launch: grid (ceil_div(S * ceil_div(D, 8), 256), 1, 1), block 256, 7 arguments
