// transpose_0: cuda.permute (tile=64 vector=8 threads=256)

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

extern "C" __global__ void __launch_bounds__(256) ek_transpose_permute_00000000(
    ek_divisor by_size,
    int d_R,
    int d_C,
    const unsigned short* __restrict__ t_x,
    unsigned short* __restrict__ t_y) {
  constexpr int k_tile = 64;
  // which tile
  const int i_flat_tile = (int)blockIdx.x;
  const int i_r_tile = ek_remainder(i_flat_tile, by_size);
  const int i_above = ek_quotient(i_flat_tile, by_size);
  const int i_c_first = i_above * k_tile;
  const int i_r_first = i_r_tile * k_tile;
  __shared__ unsigned short shared_x[64 * 66];
  // into shared memory, along the operands' own axis
  const int i_c_place = (int)threadIdx.x % 8 * 8;
  #pragma unroll
  for (int i_r_line = threadIdx.x / 8; i_r_line < k_tile; i_r_line += 32) {
    const int i_c = i_c_first + i_c_place;
    const int i_r = i_r_first + i_r_line;
    if (i_c < d_C && i_r < d_R) {
      ek_vector<unsigned short, 8> w_x;
      ek_load<8>(w_x, t_x + i_r * d_C + i_c);
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        shared_x[i_r_line * 66 + i_c_place + i_element] = w_x.element[i_element];
      }
    }
  }
  __syncthreads();
  // values and writes, along the results' axis
  const int i_r_place = (int)threadIdx.x % 8 * 8;
  #pragma unroll
  for (int i_c_line = threadIdx.x / 8; i_c_line < k_tile; i_c_line += 32) {
    const int i_r = i_r_first + i_r_place;
    const int i_c = i_c_first + i_c_line;
    if (i_r < d_R && i_c < d_C) {
      ek_vector<unsigned short, 8> w_y;
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        w_y.element[i_element] = shared_x[(i_r_place + i_element) * 66 + i_c_line];
      }
      ek_store<8>(t_y + i_c * d_R + i_r, w_y);
    }
  }
}
// launch: grid (ceil_div(C, 64) * ceil_div(R, 64), 1, 1), block 256, 5 arguments
