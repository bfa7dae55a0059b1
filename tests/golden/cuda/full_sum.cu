// full_sum_0: cuda.row_reduction (rows_across_lanes=0 threads=256 threads_per_row=256 vector=4 vectors=4 resident=0 splits=128)

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
// The value of the lane whose number differs in the bits of `mask`.
template <typename T>
static __device__ __forceinline__ T ek_shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
static __device__ __forceinline__ bool ek_shuffle_xor(bool value, int mask) {
  return __shfl_xor_sync(0xffffffffu, (int)value, mask) != 0;
}

extern "C" __global__ void __launch_bounds__(256) ek_full_sum_row_reduction_00000000(
    int d_N,
    int d_chunk,
    const float* __restrict__ t_x,
    float* __restrict__ t_partial_0) {
  constexpr int k_members = 256;
  constexpr int k_vectors = 4;
  constexpr int k_splits = 128;
  // the members of a row are neighbouring threads
  const int i_member = threadIdx.x;
  const int i_row = (int)blockIdx.x;
  // this block's part of the row
  const int i_begin = min((int)blockIdx.y * d_chunk, d_N);
  const int i_end = min(i_begin + d_chunk, d_N);
  ek_vector<float, 4> w_x[4];
  // sum over the row
  float r_sum = 0.0f;
  for (int i_tile = i_begin; i_tile < i_end; i_tile += 4096) {
    #pragma unroll
    for (int i_slot = 0; i_slot < k_vectors; ++i_slot) {
      const int i_i = i_tile + (i_slot * k_members + i_member) * 4;
      if (i_i < i_end) {
        ek_load<4>(w_x[i_slot], t_x + i_i);
      }
    }
    #pragma unroll
    for (int i_slot_2 = 0; i_slot_2 < k_vectors; ++i_slot_2) {
      const int i_i = i_tile + (i_slot_2 * k_members + i_member) * 4;
      if (i_i < i_end) {
        #pragma unroll
        for (int i_element = 0; i_element < 4; ++i_element) {
          r_sum = r_sum + w_x[i_slot_2].element[i_element];
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
  for (int i_part = 0; i_part < 8; ++i_part) {
    r_sum = r_sum + shared_sum[i_part];
  }
  // one member keeps the part's results for the second kernel
  if (i_member == 0) {
    t_partial_0[i_row * k_splits + blockIdx.y] = r_sum;
  }
}

extern "C" __global__ void __launch_bounds__(128) ek_full_sum_row_reduction_00000000_merge(
    const float* __restrict__ t_partial_0,
    float* __restrict__ t_y) {
  constexpr int k_splits = 128;
  // a warp a row: its parts, in the same order each time
  const int i_row_or_more = (int)(blockIdx.x * 4 + threadIdx.x / 32);
  const int i_row = i_row_or_more < 1 ? i_row_or_more : (int)0;
  float r_sum = 0.0f;
  for (int i_split = threadIdx.x % 32; i_split < k_splits; i_split += 32) {
    r_sum = r_sum + t_partial_0[i_row * k_splits + i_split];
  }
  #pragma unroll
  for (int i_mask = 16; i_mask > 0; i_mask /= 2) {
    r_sum = r_sum + ek_shuffle_xor(r_sum, i_mask);
  }
  if (threadIdx.x % 32 == 0 && i_row_or_more < 1) {
    t_y[0] = r_sum;
  }
}
// launch: grid (1, 128, 1), block 256, 4 arguments
// launch: grid (1, 1, 1), block 128, 2 arguments
