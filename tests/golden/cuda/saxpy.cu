// saxpy_0: cuda.pointwise (vector=4 unroll=2 threads=256)

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

extern "C" __global__ void __launch_bounds__(256) ek_saxpy_pointwise_00000000(
    int d_vectors,
    const float* __restrict__ t_x,
    const float* __restrict__ t_y,
    float s_a,
    float* __restrict__ t_z) {
  constexpr int k_threads = 256;
  constexpr int k_unroll = 2;
  const int i_first_vector = (int)(blockIdx.x * (k_threads * k_unroll) + threadIdx.x);
  // reads: all in flight before the first is used
  ek_vector<float, 4> w_x[2];
  ek_vector<float, 4> w_y[2];
  #pragma unroll
  for (int i_slot = 0; i_slot < k_unroll; ++i_slot) {
    const int i_vector = i_first_vector + i_slot * k_threads;
    if ((unsigned)i_vector < d_vectors) {
      const int i_flat = i_vector * 4;
      ek_load<4>(w_x[i_slot], t_x + i_flat);
      ek_load<4>(w_y[i_slot], t_y + i_flat);
    }
  }
  // values and writes
  #pragma unroll
  for (int i_slot_2 = 0; i_slot_2 < k_unroll; ++i_slot_2) {
    const int i_vector = i_first_vector + i_slot_2 * k_threads;
    if ((unsigned)i_vector < d_vectors) {
      const int i_flat = i_vector * 4;
      ek_vector<float, 4> w_z;
      #pragma unroll
      for (int i_element = 0; i_element < 4; ++i_element) {
        w_z.element[i_element] = (s_a * w_x[i_slot_2].element[i_element]) + w_y[i_slot_2].element[i_element];
      }
      ek_store<4>(t_z + i_flat, w_z);
    }
  }
}
// launch: grid (ceil_div(ceil_div(N, 4), 512), 1, 1), block 256, 5 arguments
