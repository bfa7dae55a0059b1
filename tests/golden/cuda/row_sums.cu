// row_sums_0: cuda.row_reduction (rows_across_lanes=0 threads=256 threads_per_row=128 vector=8 vectors=4 resident=0 splits=1)

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
static __device__ __forceinline__ float ek_f16_to_f32(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
// The value of the lane whose number differs in the bits of `mask`.
template <typename T>
static __device__ __forceinline__ T ek_shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
static __device__ __forceinline__ bool ek_shuffle_xor(bool value, int mask) {
  return __shfl_xor_sync(0xffffffffu, (int)value, mask) != 0;
}

extern "C" __global__ void __launch_bounds__(256) ek_row_sums_row_reduction_00000000(
    int d_R,
    int d_C,
    const unsigned short* __restrict__ t_x,
    float* __restrict__ t_y) {
  constexpr int k_members = 128;
  constexpr int k_vectors = 4;
  // the members of a row are neighbouring threads
  const int i_member = threadIdx.x % k_members;
  const int i_row_in_block = threadIdx.x / k_members;
  const int i_row_or_more = (int)blockIdx.x * 2 + i_row_in_block;
  // threads beyond the last row compute it too, and write nothing
  const int i_r = min(i_row_or_more, d_R - 1);
  ek_vector<unsigned short, 8> w_x[4];
  // sum over the row
  float r_sum = 0.0f;
  for (int i_tile = 0; i_tile < d_C; i_tile += 4096) {
    #pragma unroll
    for (int i_slot = 0; i_slot < k_vectors; ++i_slot) {
      const int i_c = i_tile + (i_slot * k_members + i_member) * 8;
      if (i_c < d_C) {
        ek_load<8>(w_x[i_slot], t_x + i_r * d_C + i_c);
      }
    }
    #pragma unroll
    for (int i_slot_2 = 0; i_slot_2 < k_vectors; ++i_slot_2) {
      const int i_c = i_tile + (i_slot_2 * k_members + i_member) * 8;
      if (i_c < d_C) {
        #pragma unroll
        for (int i_element = 0; i_element < 8; ++i_element) {
          r_sum = r_sum + ek_f16_to_f32(w_x[i_slot_2].element[i_element]);
        }
      }
    }
  }
  #pragma unroll
  for (int i_mask = 16; i_mask > 0; i_mask /= 2) {
    r_sum = r_sum + ek_shuffle_xor(r_sum, i_mask);
  }
  __shared__ float shared_sum[8];
  if (threadIdx.x % 32 == 0) shared_sum[threadIdx.x / 32] = r_sum;
  __syncthreads();
  r_sum = 0.0f;
  #pragma unroll
  for (int i_part = 0; i_part < 4; ++i_part) {
    r_sum = r_sum + shared_sum[i_row_in_block * 4 + i_part];
  }
  // one member writes the row's results
  if (i_member == 0 && i_row_or_more < d_R) {
    t_y[i_r] = r_sum;
  }
}
// launch: grid (ceil_div(R, 2), 1, 1), block 256, 4 arguments
