// A warp group's 64 x 16 by 16 x 64 product on the tensor cores; both operands are in shared memory, found by
// descriptors. Without `accumulate` the sum starts anew.
static __device__ __forceinline__ void ek_multiply(float* sum, unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile(
      "{\n .reg .pred accumulate;\n setp.ne.b32 accumulate, %34, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {\n"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n"
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31\n"
      "}, %32, %33, accumulate, 1, 1, 1, 1;\n}"
      :
        "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
        "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31])
      : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(256, 1) ek_product(
    const __grid_constant__ ek_tensor_map m_x,
    const __grid_constant__ ek_tensor_map m_w,
    int d_steps,
    int d_tiles,
    ek_divisor by_size,
    int d_band,
    ek_divisor by_size_2,
    int d_tiles_m,
    int d_tiles_n,
    int d_M,
    int d_N,
    float* __restrict__ t_y) {
  constexpr int k_tile_m = 64;
  constexpr int k_tile_n = 64;
  constexpr int k_tile_k = 64;
  constexpr int k_stages = 6;
  constexpr int k_consumers = 1;
  constexpr int k_row_blocks = 1;
  constexpr int k_a_bytes = 8192;
  constexpr int k_stage_bytes = 16384;
  // Shared memory: the ring of operand stages, barriers.
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned ring = ek_shared_address(shared);
  const unsigned full = ring + k_stages * k_stage_bytes, empty = full + 8 * k_stages;
  const int warp_group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be a warp's own

  // Where a tile lies: down the rows of a band first, then along it, every second band backwards;
  // the tiles in flight share operands in the L2 cache.
  struct Place { int m, n, batch; };
  const auto locate = [&](int tile) -> Place {
    const int batch = ek_quotient(tile, by_size);
    const int in_batch = ek_remainder(tile, by_size);
    const int band = ek_quotient(in_batch, by_size_2);
    const int in_band = ek_remainder(in_batch, by_size_2);
    const int first_row = band * d_band;
    const int rows = min(d_band, d_tiles_m - first_row);
    const int along = in_band / rows;
    return {(first_row + in_band % rows) * k_tile_m, (band % 2 == 0 ? along : d_tiles_n - 1 - along) * k_tile_n, batch};
  };

  // full: a stage's bytes are in; empty: those who multiply it have finished with it.
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < k_stages; ++stage) {
      ek_barrier_init(full + 8 * stage, 1);
      ek_barrier_init(empty + 8 * stage, k_consumers);
    }
    ek_publish_barriers();
  }
  __syncthreads();

  if (warp_group == 0) {
    // One thread fills the ring. It runs ahead into the next tile while the consumers write this one.
    if (threadIdx.x != 0) return;
    int stage = 0;
    unsigned parity = 1;
    bool backward = false;
    for (int tile = blockIdx.x; tile < d_tiles; tile += gridDim.x) {
      const Place at = locate(tile);
      for (int step = 0; step < d_steps; ++step) {
        // every second tile from the far end: what was read last is still in L2
        const int first_k = (backward ? d_steps - 1 - step : step) * k_tile_k;
        const unsigned landed = full + 8 * stage, to = ring + stage * k_stage_bytes;
        ek_barrier_wait(empty + 8 * stage, parity);
        ek_barrier_expect(landed, k_stage_bytes);
        ek_load_box(to, m_x, landed, ek_evict_last, at.m, first_k, at.batch);
        ek_load_box(to + k_a_bytes, m_w, landed, ek_evict_first, at.n, first_k, at.batch);
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      backward = !backward;
    }
  } else {
    const int thread = threadIdx.x - 128, consumer = warp_group - 1;
    const bool leader = thread % 128 == 0;
    const unsigned long long operand_a = ek_operand_descriptor(ring + consumer * k_row_blocks * 64 * 128, 8192, 1024);
    const unsigned long long operand_b = ek_operand_descriptor(ring + k_a_bytes, 8192, 1024);
    const int thread_row = thread / 4 % 8 + thread / 32 * 16, thread_column = thread % 4 * 2;
    float sums[k_row_blocks * k_tile_n / 2] = {};
    int stage = 0;
    unsigned parity = 0;

    for (int tile = blockIdx.x; tile < d_tiles; tile += gridDim.x) {
      const Place at = locate(tile);
      // Products: one group stays in flight; behind it the stage before is given back.
      for (int step = 0; step < d_steps; ++step) {
        ek_barrier_wait(full + 8 * stage, parity);
        const unsigned long long a = operand_a + stage * (k_stage_bytes / 16);
        const unsigned long long b = operand_b + stage * (k_stage_bytes / 16);
        ek_begin_products();
        #pragma unroll
        for (int i = 0; i < k_tile_k / 16; ++i) {
          ek_multiply(sums, a + i * 128, b + i * 128, step > 0 || i > 0);
        }
        ek_commit_products();
        ek_wait_products<1>();
        if (step > 0 && leader) ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      ek_wait_products<0>();
      if (leader) ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));

      const int row_of_sums = at.m + thread_row;
      const int column_of_sums = at.n + thread_column;
      #pragma unroll
      for (int i_row_step = 0; i_row_step < 2; ++i_row_step) {
        const int i_row = row_of_sums + i_row_step * 8;
        if (i_row < d_M) {
          #pragma unroll
          for (int i_column_step = 0; i_column_step < 8; ++i_column_step) {
            const int i_column = column_of_sums + i_column_step * 8;
            if (i_column + 2 <= d_N) {
              ek_vector<float, 2> w_y;
              #pragma unroll
              for (int i_element = 0; i_element < 2; ++i_element) {
                w_y.element[i_element] = sums[i_row_step * 2 + i_column_step * 4 + i_element];
              }
              ek_store<2>(t_y + (at.batch * d_M + i_row) * d_N + i_column, w_y);
            } else {
              #pragma unroll
              for (int i_element = 0; i_element < 2; ++i_element) {
                if (i_column + i_element < d_N) {
                  t_y[(at.batch * d_M + i_row) * d_N + (i_column + i_element)] = sums[i_row_step * 2 + i_column_step * 4 + i_element];
                }
              }
            }
          }
        }
      }
    }
  }
}
