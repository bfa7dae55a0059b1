// best_0: cuda.row_reduction (rows_across_lanes=0 threads=128 threads_per_row=32 vector=4 vectors=2 resident=0 splits=1)

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
// Whether argmax takes (a, i) before (b, j): NaN first, then the larger, then the lower index.
template <typename V, typename I>
static __device__ __forceinline__ bool ek_argmax_before(V a, I i, V b, I j) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan && b_nan ? i < j : a_nan;
  return a != b ? a > b : i < j;
}
// Keeps the one of two that argmax takes; an index of -1 is none.
template <typename V, typename I>
static __device__ __forceinline__ void ek_argmax_step(V& value, I& index, V other, I other_index) {
  if (other_index >= 0 && (index < 0 || ek_argmax_before(other, other_index, value, index))) {
    value = other;
    index = other_index;
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

extern "C" __global__ void __launch_bounds__(128) ek_best_row_reduction_00000000(
    int d_R,
    int d_C,
    const float* __restrict__ t_x,
    long long* __restrict__ t_y) {
  constexpr int k_members = 32;
  constexpr int k_vectors = 2;
  // the members of a row are neighbouring threads
  const int i_member = threadIdx.x % k_members;
  const int i_row_in_block = threadIdx.x / k_members;
  const int i_row_or_more = (int)blockIdx.x * 4 + i_row_in_block;
  // threads beyond the last row compute it too, and write nothing
  const int i_r = min(i_row_or_more, d_R - 1);
  ek_vector<float, 4> w_x[2];
  // argmax over the row
  float r_argmax = 0.0f;
  int r_argmax_index = -1;
  for (int i_tile = 0; i_tile < d_C; i_tile += 256) {
    #pragma unroll
    for (int i_slot = 0; i_slot < k_vectors; ++i_slot) {
      const int i_c = i_tile + (i_slot * k_members + i_member) * 4;
      if (i_c < d_C) {
        ek_load<4>(w_x[i_slot], t_x + i_r * d_C + i_c);
      }
    }
    #pragma unroll
    for (int i_slot_2 = 0; i_slot_2 < k_vectors; ++i_slot_2) {
      const int i_c = i_tile + (i_slot_2 * k_members + i_member) * 4;
      if (i_c < d_C) {
        #pragma unroll
        for (int i_element = 0; i_element < 4; ++i_element) {
          ek_argmax_step(r_argmax, r_argmax_index, w_x[i_slot_2].element[i_element], i_c + i_element);
        }
      }
    }
  }
  #pragma unroll
  for (int i_mask = 16; i_mask > 0; i_mask /= 2) {
    ek_argmax_step(r_argmax, r_argmax_index, ek_shuffle_xor(r_argmax, i_mask), ek_shuffle_xor(r_argmax_index, i_mask));
  }
  // one member writes the row's results
  if (i_member == 0 && i_row_or_more < d_R) {
    t_y[i_r] = r_argmax_index;
  }
}
// launch: grid (ceil_div(R, 4), 1, 1), block 128, 4 arguments
