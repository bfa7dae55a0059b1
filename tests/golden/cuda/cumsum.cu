// cumsum_0: cuda.generic (threads=128)

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

extern "C" __global__ void __launch_bounds__(128) ek_cumsum_generic_00000000(
    int d_items,
    ek_divisor by_N,
    int d_N,
    const float* __restrict__ t_x,
    float* __restrict__ t_y) {
  constexpr int k_threads = 128;
  // one thread an element
  const int i_item = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)i_item < d_items) {
    const int i_i = ek_remainder(i_item, by_N);
    const int i_r = ek_quotient(i_item, by_N);
    float r_sum = 0.0f;
    for (int i_j = 0; i_j < i_i + 1; ++i_j) {
      r_sum = r_sum + t_x[i_r * d_N + i_j];
    }
    t_y[i_r * d_N + i_i] = r_sum;
  }
}
// launch: grid (ceil_div(R * N, 128), 1, 1), block 128, 5 arguments
