// column_sums_0: cuda.row_reduction (rows_across_lanes=1 threads=256 threads_per_row=8 vector=1 vectors=4 resident=0 splits=1)

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

extern "C" __global__ void __launch_bounds__(256) ek_column_sums_row_reduction_00000000(
    int d_C,
    int d_R,
    const float* __restrict__ t_x,
    float* __restrict__ t_y) {
  constexpr int k_members = 8;
  constexpr int k_rows = 32;
  constexpr int k_vectors = 4;
  // lanes on neighbouring rows; the members of a row stand rows apart
  const int i_member = threadIdx.x / k_rows;
  const int i_row_in_block = threadIdx.x % k_rows;
  const int i_row_or_more = (int)blockIdx.x * 32 + i_row_in_block;
  // threads beyond the last row compute it too, and write nothing
  const int i_c = min(i_row_or_more, d_C - 1);
  ek_vector<float, 1> w_x[4];
  // sum over the row
  float r_sum = 0.0f;
  for (int i_tile = 0; i_tile < d_R; i_tile += 32) {
    #pragma unroll
    for (int i_slot = 0; i_slot < k_vectors; ++i_slot) {
      const int i_r = i_tile + (i_slot * k_members + i_member);
      if (i_r < d_R) {
        ek_load<1>(w_x[i_slot], t_x + i_r * d_C + i_c);
      }
    }
    #pragma unroll
    for (int i_slot_2 = 0; i_slot_2 < k_vectors; ++i_slot_2) {
      const int i_r = i_tile + (i_slot_2 * k_members + i_member);
      if (i_r < d_R) {
        r_sum = r_sum + w_x[i_slot_2].element[0];
      }
    }
  }
  __shared__ float shared_sum[256];
  shared_sum[threadIdx.x] = r_sum;
  __syncthreads();
  r_sum = 0.0f;
  #pragma unroll
  for (int i_part = 0; i_part < 8; ++i_part) {
    r_sum = r_sum + shared_sum[i_part * 32 + i_row_in_block];
  }
  // one member writes the row's results
  if (i_member == 0 && i_row_or_more < d_C) {
    t_y[i_c] = r_sum;
  }
}
// launch: grid (ceil_div(C, 32), 1, 1), block 256, 4 arguments
