// layernorm_0: cuda.row_reduction (rows_across_lanes=0 threads=128 threads_per_row=32 vector=4 vectors=8 resident=1 splits=1)

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
// The value of the lane whose number differs in the bits of `mask`.
template <typename T>
static __device__ __forceinline__ T ek_shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
static __device__ __forceinline__ bool ek_shuffle_xor(bool value, int mask) {
  return __shfl_xor_sync(0xffffffffu, (int)value, mask) != 0;
}

extern "C" __global__ void __launch_bounds__(128) ek_layernorm_row_reduction_00000000(
    int d_R,
    int d_C,
    const float* __restrict__ t_x,
    float s_eps,
    const float* __restrict__ t_g,
    const float* __restrict__ t_b,
    float* __restrict__ t_y) {
  constexpr int k_members = 32;
  constexpr int k_vectors = 8;
  // the members of a row are neighbouring threads
  const int i_member = threadIdx.x % k_members;
  const int i_row_in_block = threadIdx.x / k_members;
  const int i_row_or_more = (int)blockIdx.x * 4 + i_row_in_block;
  // threads beyond the last row compute it too, and write nothing
  const int i_r = min(i_row_or_more, d_R - 1);
  ek_vector<float, 4> w_x[8];
  // the row, once from memory
  #pragma unroll
  for (int i_slot = 0; i_slot < k_vectors; ++i_slot) {
    const int i_c = (i_slot * k_members + i_member) * 4;
    if (i_c < d_C) {
      ek_load<4>(w_x[i_slot], t_x + i_r * d_C + i_c);
    }
  }
  // sum over the row
  float r_sum = 0.0f;
  #pragma unroll
  for (int i_slot_2 = 0; i_slot_2 < k_vectors; ++i_slot_2) {
    const int i_c = (i_slot_2 * k_members + i_member) * 4;
    if (i_c < d_C) {
      #pragma unroll
      for (int i_element = 0; i_element < 4; ++i_element) {
        r_sum = r_sum + w_x[i_slot_2].element[i_element];
      }
    }
  }
  #pragma unroll
  for (int i_mask = 16; i_mask > 0; i_mask /= 2) {
    r_sum = r_sum + ek_shuffle_xor(r_sum, i_mask);
  }
  // sum over the row
  float r_sum_2 = 0.0f;
  const float v_cast = (float)d_C;
  const float v_divide = r_sum / v_cast;
  #pragma unroll
  for (int i_slot_3 = 0; i_slot_3 < k_vectors; ++i_slot_3) {
    const int i_c = (i_slot_3 * k_members + i_member) * 4;
    if (i_c < d_C) {
      #pragma unroll
      for (int i_element = 0; i_element < 4; ++i_element) {
        const float v_subtract = w_x[i_slot_3].element[i_element] - v_divide;
        r_sum_2 = fmaf(v_subtract, v_subtract, r_sum_2);
      }
    }
  }
  #pragma unroll
  for (int i_mask_2 = 16; i_mask_2 > 0; i_mask_2 /= 2) {
    r_sum_2 = r_sum_2 + ek_shuffle_xor(r_sum_2, i_mask_2);
  }
  // the row's elements
  const float v_rsqrt = rsqrtf((r_sum_2 / v_cast) + s_eps);
  if (i_row_or_more < d_R) {
    #pragma unroll
    for (int i_slot_4 = 0; i_slot_4 < k_vectors; ++i_slot_4) {
      const int i_c = (i_slot_4 * k_members + i_member) * 4;
      if (i_c < d_C) {
        ek_vector<float, 4> w_g;
        ek_vector<float, 4> w_b;
        ek_load<4>(w_g, t_g + i_c);
        ek_load<4>(w_b, t_b + i_c);
        ek_vector<float, 4> w_y;
        #pragma unroll
        for (int i_element = 0; i_element < 4; ++i_element) {
          const float v_subtract = w_x[i_slot_4].element[i_element] - v_divide;
          w_y.element[i_element] = ((v_subtract * v_rsqrt) * w_g.element[i_element]) + w_b.element[i_element];
        }
        ek_store<4>(t_y + i_r * d_C + i_c, w_y);
      }
    }
  }
}
// launch: grid (ceil_div(R, 4), 1, 1), block 128, 7 arguments
