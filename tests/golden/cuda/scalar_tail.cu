// tail_0: cuda.pointwise (vector=8 unroll=1 threads=128)

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
static __device__ __forceinline__ float ek_f16_to_f32(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
static __device__ __forceinline__ unsigned short ek_f32_to_f16(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

extern "C" __global__ void __launch_bounds__(128) ek_tail_pointwise_00000000(
    int d_vectors,
    int d_N,
    const unsigned short* __restrict__ t_x,
    const float* __restrict__ t_y,
    unsigned short* __restrict__ t_z) {
  constexpr int k_threads = 128;
  const int i_vector = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)i_vector < d_vectors) {
    const int i_flat = i_vector * 8;
    if (i_flat + 8 <= d_N) {
      ek_vector<unsigned short, 8> w_x;
      ek_vector<float, 8> w_y;
      ek_load<8>(w_x, t_x + i_flat);
      ek_load<4>(w_y, t_y + i_flat);
      ek_vector<unsigned short, 8> w_z;
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        const float v_where = (0.0f < ek_f16_to_f32(w_x.element[i_element])) ? (ek_f16_to_f32(w_x.element[i_element]) / w_y.element[i_element]) : w_y.element[i_element];
        w_z.element[i_element] = ek_f32_to_f16(v_where);
      }
      ek_store<8>(t_z + i_flat, w_z);
    } else {
      for (int i_tail = i_flat; i_tail < d_N; ++i_tail) {
        ek_vector<unsigned short, 1> w_x;
        ek_vector<float, 1> w_y;
        ek_load<1>(w_x, t_x + i_tail);
        ek_load<1>(w_y, t_y + i_tail);
        const float v_where = (0.0f < ek_f16_to_f32(w_x.element[0])) ? (ek_f16_to_f32(w_x.element[0]) / w_y.element[0]) : w_y.element[0];
        t_z[i_tail] = ek_f32_to_f16(v_where);
      }
    }
  }
}
// launch: grid (ceil_div(ceil_div(N, 8), 128), 1, 1), block 128, 5 arguments
