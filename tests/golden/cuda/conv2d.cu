// conv2d_0: cuda.generic (threads=128)

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

extern "C" __global__ void __launch_bounds__(128) ek_conv2d_generic_00000000(
    int d_items,
    ek_divisor by_O,
    ek_divisor by_W,
    ek_divisor by_H,
    int d_size,
    int d_size_2,
    int d_U,
    int d_V,
    int d_C,
    int d_H,
    int d_W,
    const float* __restrict__ t_x,
    int d_O,
    const float* __restrict__ t_f,
    float* __restrict__ t_y) {
  constexpr int k_threads = 128;
  // one thread an element
  const int i_item = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)i_item < d_items) {
    const int i_o = ek_remainder(i_item, by_O);
    const int i_outer = ek_quotient(i_item, by_O);
    const int i_w = ek_remainder(i_outer, by_W);
    const int i_outer_2 = ek_quotient(i_outer, by_W);
    const int i_h = ek_remainder(i_outer_2, by_H);
    const int i_n = ek_quotient(i_outer_2, by_H);
    float r_sum = 0.0f;
    for (int i_u = 0; i_u < d_U; ++i_u) {
      for (int i_v = 0; i_v < d_V; ++i_v) {
        for (int i_c = 0; i_c < d_C; ++i_c) {
          const float v_x = ((unsigned)((i_h + i_u) - d_size) < (unsigned)d_H && (unsigned)((i_w + i_v) - d_size_2) < (unsigned)d_W) ? t_x[((i_n * d_H + ((i_h + i_u) - d_size)) * d_W + ((i_w + i_v) - d_size_2)) * d_C + i_c] : 0.0f;
          const float v_f = t_f[((i_u * d_V + i_v) * d_C + i_c) * d_O + i_o];
          r_sum = fmaf(v_x, v_f, r_sum);
        }
      }
    }
    t_y[((i_n * d_H + i_h) * d_W + i_w) * d_O + i_o] = r_sum;
  }
}
// launch: grid (ceil_div(N * H * W * O, 128), 1, 1), block 128, 15 arguments
