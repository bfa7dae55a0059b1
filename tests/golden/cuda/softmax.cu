// softmax_0: cuda.row_reduction (rows_across_lanes=0 threads=256 threads_per_row=256 vector=8 vectors=2 resident=1 splits=1)

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
static __device__ __forceinline__ float ek_bf16_to_f32(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
static __device__ __forceinline__ unsigned short ek_f32_to_bf16(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
static __device__ __forceinline__ float ek_max_f32(float a, float b) {
  float value;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
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

extern "C" __global__ void __launch_bounds__(256) ek_softmax_row_reduction_00000000(
    int d_C,
    const unsigned short* __restrict__ t_x,
    unsigned short* __restrict__ t_y) {
  constexpr int k_members = 256;
  constexpr int k_vectors = 2;
  // the members of a row are neighbouring threads
  const int i_member = threadIdx.x;
  const int i_r = (int)blockIdx.x;
  ek_vector<unsigned short, 8> w_x[2];
  // the row, once from memory
  #pragma unroll
  for (int i_slot = 0; i_slot < k_vectors; ++i_slot) {
    const int i_c = (i_slot * k_members + i_member) * 8;
    if (i_c < d_C) {
      ek_load<8>(w_x[i_slot], t_x + i_r * d_C + i_c);
    }
  }
  // max over the row
  float r_max = -__int_as_float(0x7f800000);
  #pragma unroll
  for (int i_slot_2 = 0; i_slot_2 < k_vectors; ++i_slot_2) {
    const int i_c = (i_slot_2 * k_members + i_member) * 8;
    if (i_c < d_C) {
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        r_max = ek_max_f32(r_max, ek_bf16_to_f32(w_x[i_slot_2].element[i_element]));
      }
    }
  }
  #pragma unroll
  for (int i_mask = 16; i_mask > 0; i_mask /= 2) {
    r_max = ek_max_f32(r_max, ek_shuffle_xor(r_max, i_mask));
  }
  __shared__ float shared_max[8];
  if (threadIdx.x % 32 == 0) shared_max[threadIdx.x / 32] = r_max;
  __syncthreads();
  r_max = -__int_as_float(0x7f800000);
  #pragma unroll
  for (int i_part = 0; i_part < 8; ++i_part) {
    r_max = ek_max_f32(r_max, shared_max[i_part]);
  }
  // sum over the row
  float r_sum = 0.0f;
  #pragma unroll
  for (int i_slot_3 = 0; i_slot_3 < k_vectors; ++i_slot_3) {
    const int i_c = (i_slot_3 * k_members + i_member) * 8;
    if (i_c < d_C) {
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        const float v_exp = expf(ek_bf16_to_f32(w_x[i_slot_3].element[i_element]) - r_max);
        r_sum = r_sum + v_exp;
      }
    }
  }
  #pragma unroll
  for (int i_mask_2 = 16; i_mask_2 > 0; i_mask_2 /= 2) {
    r_sum = r_sum + ek_shuffle_xor(r_sum, i_mask_2);
  }
  __shared__ float shared_sum[8];
  if (threadIdx.x % 32 == 0) shared_sum[threadIdx.x / 32] = r_sum;
  __syncthreads();
  r_sum = 0.0f;
  #pragma unroll
  for (int i_part_2 = 0; i_part_2 < 8; ++i_part_2) {
    r_sum = r_sum + shared_sum[i_part_2];
  }
  // the row's elements
  #pragma unroll
  for (int i_slot_4 = 0; i_slot_4 < k_vectors; ++i_slot_4) {
    const int i_c = (i_slot_4 * k_members + i_member) * 8;
    if (i_c < d_C) {
      ek_vector<unsigned short, 8> w_y;
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        const float v_exp = expf(ek_bf16_to_f32(w_x[i_slot_4].element[i_element]) - r_max);
        w_y.element[i_element] = ek_f32_to_bf16(v_exp / r_sum);
      }
      ek_store<8>(t_y + i_r * d_C + i_c, w_y);
    }
  }
}
// launch: grid (R, 1, 1), block 256, 3 arguments
