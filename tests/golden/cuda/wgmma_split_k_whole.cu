// A warp group's 64 x 16 by 16 x 8 product on the tensor cores; both operands are in shared memory, found by
// descriptors. Without `accumulate` the sum starts anew.
static __device__ __forceinline__ void ek_multiply(float* sum, unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile(
      "{\n .reg .pred accumulate;\n setp.ne.b32 accumulate, %6, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {\n"
      "%0, %1, %2, %3\n"
      "}, %4, %5, accumulate, 1, 1, 0, 0;\n}"
      :
        "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(160, 2) ek_product(
    const __grid_constant__ ek_tensor_map m_w,
    const __grid_constant__ ek_tensor_map m_x,
    int d_steps,
    ek_divisor by_size,
    int d_tiles,
    int d_M,
    int d_N,
    unsigned short* __restrict__ t_y) {
  constexpr int k_rows = 64;
  constexpr int k_columns = 8;
  constexpr int k_tile_k = 64;
  constexpr int k_slices = 1;
  constexpr int k_stages = 12;
  constexpr int k_consumers = 1;
  constexpr int k_streamed_bytes = 8192;
  constexpr int k_kept_bytes = 1024;
  constexpr int k_stage_bytes = 9216;
  // Shared memory: the ring of operand stages, barriers.
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned ring = ek_shared_address(shared);
  const unsigned full = ring + k_stages * k_stage_bytes, empty = full + 8 * k_stages;
  const int warp_group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be a warp's own
  const int first_step = 0;
  const int end_step = d_steps;

  // Where a tile lies: along the kept operand first, so that L2 serves what is read again.
  struct Place { int streamed, kept; };
  const auto locate = [&](int tile) -> Place {
    return {ek_quotient(tile, by_size) * k_rows, ek_remainder(tile, by_size) * k_columns};
  };

  // full: a stage's bytes are in; empty: all consumers have finished with it.
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < k_stages; ++stage) {
      ek_barrier_init(full + 8 * stage, 1);
      ek_barrier_init(empty + 8 * stage, k_consumers);
    }
    ek_publish_barriers();
  }
  __syncthreads();

  if (warp_group == k_consumers) {
    // One thread fills the ring. It runs ahead into the next tile while partial sums are added up.
    if (threadIdx.x % 32 != 0) return;
    int stage = 0;
    unsigned parity = 1;
    for (int tile = blockIdx.x; tile < d_tiles; tile += gridDim.x) {
      const Place at = locate(tile);
      for (int step = first_step; step < end_step; ++step) {
        const unsigned landed = full + 8 * stage, to = ring + stage * k_stage_bytes;
        ek_barrier_wait(empty + 8 * stage, parity);
        ek_barrier_expect(landed, k_stage_bytes);
        const int first_k = step * k_tile_k;
        ek_load_box(to, m_w, landed, ek_evict_first, first_k, at.streamed);
        ek_load_box(to + k_streamed_bytes, m_x, landed, ek_evict_last, first_k, at.kept);
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  } else {
    const int thread = threadIdx.x;
    const bool leader = thread % 128 == 0;
    const unsigned long long operand_a = ek_operand_descriptor(ring + warp_group * 64 * 128, 16, 1024);
    const unsigned long long operand_b = ek_operand_descriptor(ring + k_slices * k_streamed_bytes, 16, 1024);
    const int thread_row = thread % 4 * 2, thread_column = thread / 4 % 8 + thread / 32 * 16;
    int stage = 0;
    unsigned parity = 0;

    for (int tile = blockIdx.x; tile < d_tiles; tile += gridDim.x) {
      const Place at = locate(tile);
      // Products: one group stays in flight; behind it the stage before is given back.
      float sums[k_columns / 2] = {};
      for (int step = first_step; step < end_step; ++step) {
        ek_barrier_wait(full + 8 * stage, parity);
        const unsigned long long a = operand_a + stage * (k_stage_bytes / 16);
        const unsigned long long b = operand_b + stage * (k_stage_bytes / 16);
        ek_begin_products();
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
          ek_multiply(sums, a + i * 2, b + i * 2, step > first_step || i > 0);
        }
        ek_commit_products();
        ek_wait_products<1>();
        if (step > first_step && leader) ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      ek_wait_products<0>();
      if (first_step < end_step && leader) ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));

      const int row_of_sums = at.kept + thread_row;
      const int column_of_sums = at.streamed + thread_column;
      #pragma unroll
      for (int i_row_step = 0; i_row_step < 2; ++i_row_step) {
        const int i_row = row_of_sums + i_row_step * 1;
        if (i_row < d_M) {
          #pragma unroll
          for (int i_column_step = 0; i_column_step < 2; ++i_column_step) {
            const int i_column = column_of_sums + i_column_step * 8;
            if (i_column < d_N) {
              t_y[i_row * d_N + i_column] = ek_f32_to_bf16(sums[i_row_step * 1 + i_column_step * 2]);
            }
          }
        }
      }
    }
  }
}
