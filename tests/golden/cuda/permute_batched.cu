// permute_0: cuda.permute (tile=32 vector=1 threads=256)

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

extern "C" __global__ void __launch_bounds__(256) ek_permute_permute_00000000(
    ek_divisor by_size,
    ek_divisor by_size_2,
    int d_R,
    int d_C,
    const float* __restrict__ t_x,
    const float* __restrict__ t_s,
    int d_B,
    float* __restrict__ t_y) {
  constexpr int k_tile = 32;
  // which tile
  const int i_flat_tile = (int)blockIdx.x;
  const int i_r_tile = ek_remainder(i_flat_tile, by_size);
  const int i_above = ek_quotient(i_flat_tile, by_size);
  const int i_c_tile = ek_remainder(i_above, by_size_2);
  const int i_b = ek_quotient(i_above, by_size_2);
  const int i_c_first = i_c_tile * k_tile;
  const int i_r_first = i_r_tile * k_tile;
  __shared__ float shared_x[32 * 33];
  // into shared memory, along the operands' own axis
  const int i_c_place = (int)threadIdx.x % 32;
  #pragma unroll
  for (int i_r_line = threadIdx.x / 32; i_r_line < k_tile; i_r_line += 8) {
    const int i_c = i_c_first + i_c_place;
    const int i_r = i_r_first + i_r_line;
    if (i_c < d_C && i_r < d_R) {
      ek_vector<float, 1> w_x;
      ek_load<1>(w_x, t_x + (i_b * d_R + i_r) * d_C + i_c);
      shared_x[i_r_line * 33 + i_c_place] = w_x.element[0];
    }
  }
  __syncthreads();
  // values and writes, along the results' axis
  const int i_r_place = (int)threadIdx.x % 32;
  #pragma unroll
  for (int i_c_line = threadIdx.x / 32; i_c_line < k_tile; i_c_line += 8) {
    const int i_r = i_r_first + i_r_place;
    const int i_c = i_c_first + i_c_line;
    if (i_r < d_R && i_c < d_C) {
      const float v_value = t_s[i_c];
      t_y[(i_c * d_B + i_b) * d_R + i_r] = (2.0f * shared_x[i_r_place * 33 + i_c_line]) + v_value;
    }
  }
}
// launch: grid (B * (ceil_div(C, 32) * ceil_div(R, 32)), 1, 1), block 256, 8 arguments
