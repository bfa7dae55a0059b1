// row_sums_0: cuda.reference (threads=128)

static __device__ __forceinline__ float ek_f16_to_f32(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
static __device__ __forceinline__ unsigned short ek_f32_to_bf16(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// Rounded to odd, so that a second rounding to a narrower type is exact.
static __device__ __forceinline__ float ek_odd_f32(double value) {
  const float rounded = __double2float_rz(value);
  return (double)rounded == value || value != value ? rounded : __uint_as_float(__float_as_uint(rounded) | 1u);
}
static __device__ __forceinline__ float ek_odd_f32(int value) { return ek_odd_f32((double)value); }
static __device__ __forceinline__ float ek_odd_f32(unsigned value) { return ek_odd_f32((double)value); }
static __device__ __forceinline__ float ek_odd_f32(unsigned long long value) {
  const float rounded = __ull2float_rz(value);
  return (unsigned long long)rounded == value ? rounded : __uint_as_float(__float_as_uint(rounded) | 1u);
}
static __device__ __forceinline__ float ek_odd_f32(long long value) {
  const float magnitude = ek_odd_f32(value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value);
  return value < 0 ? -magnitude : magnitude;
}

extern "C" __global__ void __launch_bounds__(128) ek_row_sums_reference_00000000(
    int d_R,
    int d_C,
    const unsigned short* __restrict__ t_x,
    unsigned short* __restrict__ t_y) {
  constexpr int k_threads = 128;
  // one thread an element
  const int i_r = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)i_r < d_R) {
    double r_sum = 0.0;
    for (int i_c = 0; i_c < d_C; ++i_c) {
      const double v_x = (double)ek_f16_to_f32(t_x[i_r * d_C + i_c]);
      r_sum = fma(v_x, v_x, r_sum);
    }
    t_y[i_r] = ek_f32_to_bf16(ek_odd_f32(r_sum));
  }
}
// launch: grid (ceil_div(R, 128), 1, 1), block 128, 4 arguments
