// A warp group's 64 x 16 by 16 x 128 product on the tensor cores; both operands are in shared memory, found by
// descriptors. Without `accumulate` the sum starts anew.
static __device__ __forceinline__ void ek_multiply(float* sum, unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile(
      "{\n .reg .pred accumulate;\n setp.ne.b32 accumulate, %66, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {\n"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n"
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,\n"
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,\n"
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63\n"
      "}, %64, %65, accumulate, 1, 1, 0, 0;\n}"
      :
        "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
        "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
        "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
        "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]), "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
      : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(384, 1) ek_product(
    const __grid_constant__ ek_tensor_map m_x,
    const __grid_constant__ ek_tensor_map m_w,
    const __grid_constant__ ek_tensor_map m_y,
    int d_steps,
    int d_tiles,
    int d_band,
    ek_divisor by_size,
    int d_tiles_m,
    int d_tiles_n) {
  constexpr int k_tile_m = 128;
  constexpr int k_tile_n = 128;
  constexpr int k_tile_k = 64;
  constexpr int k_stages = 6;
  constexpr int k_consumers = 2;
  constexpr int k_row_blocks = 2;
  constexpr int k_a_bytes = 16384;
  constexpr int k_stage_bytes = 32768;
  constexpr int k_pieces = 4;
  constexpr int k_slabs = 2;
  constexpr int k_slab_bytes = 8192;
  // Shared memory: the ring of operand stages, staged results, barriers.
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned ring = ek_shared_address(shared);
  const unsigned staging = ring + k_stages * k_stage_bytes;
  const unsigned full = staging + k_consumers * k_slabs * k_slab_bytes, empty = full + 8 * k_stages;
  const int warp_group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be a warp's own

  // Where a tile lies: down the rows of a band first, then along it, every second band backwards;
  // the tiles in flight share operands in the L2 cache.
  struct Place { int m, n; };
  const auto locate = [&](int tile) -> Place {
    const int band = ek_quotient(tile, by_size);
    const int in_band = ek_remainder(tile, by_size);
    const int first_row = band * d_band;
    const int rows = min(d_band, d_tiles_m - first_row);
    const int along = in_band / rows;
    return {(first_row + in_band % rows) * k_tile_m, (band % 2 == 0 ? along : d_tiles_n - 1 - along) * k_tile_n};
  };

  // full: a stage's bytes are in; empty: those who multiply it have finished with it.
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < k_stages; ++stage) {
      ek_barrier_init(full + 8 * stage, 1);
      ek_barrier_init(empty + 8 * stage, 1);
    }
    ek_publish_barriers();
  }
  __syncthreads();

  if (warp_group == 0) {
    // One thread fills the ring. It runs ahead into the next tile while the consumers write this one.
    ek_give_registers<40>();
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
        ek_load_box(to, m_x, landed, ek_evict_last, first_k, at.m);
        ek_load_box(to + k_a_bytes, m_w, landed, ek_evict_first, first_k, at.n);
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      backward = !backward;
    }
  } else {
    ek_take_registers<232>();
    const int thread = threadIdx.x - 128, consumer = warp_group - 1;
    const bool leader = thread % 128 == 0;
    const unsigned long long operand_a = ek_operand_descriptor(ring, 16, 1024);
    const unsigned long long operand_b = ek_operand_descriptor(ring + k_a_bytes, 16, 1024);
    const int thread_row = thread % 128 / 4 % 8 + thread % 128 / 32 * 16, thread_column = thread % 128 % 4 * 2;
    float sums[k_row_blocks * k_tile_n / 2] = {};

    // A tile's results wait as pairs. Each piece of 64 x 64 goes to swizzled shared memory and leaves
    // from there by the copy engine.
    unsigned packed[k_row_blocks * k_tile_n / 4] = {};
    Place last = {};
    const int slab_row = thread % 128 / 32 * 16 + thread % 16, half = thread % 32 / 16;
    const auto write = [&](int piece) {
      const unsigned slab = staging + (consumer * k_slabs + piece % k_slabs) * k_slab_bytes;
      if (leader) ek_wait_stored<k_slabs - 1>();  // what left this slab last has been read
      ek_group_barrier(1 + consumer);
      #pragma unroll
      for (int octet = 0; octet < 8; octet += 2) {
        const unsigned* pair = packed + piece * 16 + octet * 2;
        const int chunk = (octet + half) ^ slab_row % 8;
        ek_store_matrices(slab + slab_row * 128 + chunk * 16, pair[0], pair[1], pair[2], pair[3]);
      }
      ek_publish_staged();
      ek_group_barrier(1 + consumer);
      if (leader) {
        ek_store_box(slab, m_y, ek_evict_first, last.n + piece % 2 * 64, last.m + (piece / 2) * 64);
      }
    };

    int stage = 0;
    unsigned parity = 0;
    const auto skip_tile = [&] {
      const int next = stage + d_steps;
      parity ^= (unsigned)(next / k_stages) & 1u;
      stage = (int)(next % k_stages);
    };
    if (consumer == 1) {
      skip_tile();
      ek_pass_turn(3);  // the first turn is the other's
    }

    for (int tile = blockIdx.x + consumer * gridDim.x; tile < d_tiles; tile += 2 * gridDim.x) {
      const Place at = locate(tile);
      ek_wait_turn(3 + consumer);
      // Products: one group stays in flight; behind it the stage before is given back.
      for (int step = 0; step < d_steps; ++step) {
        ek_barrier_wait(full + 8 * stage, parity);
        const unsigned long long a = operand_a + stage * (k_stage_bytes / 16);
        const unsigned long long b = operand_b + stage * (k_stage_bytes / 16);
        ek_begin_products();
        #pragma unroll
        for (int i = 0; i < k_tile_k / 16; ++i) {
          #pragma unroll
          for (int block = 0; block < k_row_blocks; ++block) {
            ek_multiply(sums + block * (k_tile_n / 2), a + block * 512 + i * 2, b + i * 2, step > 0 || i > 0);
          }
        }
        ek_commit_products();
        ek_wait_products<1>();
        if (step > 0 && leader) ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      ek_pass_turn(4 - consumer);
      ek_wait_products<0>();
      if (leader) ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));

      skip_tile();
      const int row_of_sums = at.m + thread_row;
      const int column_of_sums = at.n + thread_column;
      #pragma unroll
      for (int i_row_step = 0; i_row_step < 2; ++i_row_step) {
        #pragma unroll
        for (int i_row_step_2 = 0; i_row_step_2 < 2; ++i_row_step_2) {
          const int i_row = row_of_sums + i_row_step * 64 + i_row_step_2 * 8;
          #pragma unroll
          for (int i_column_step = 0; i_column_step < 16; ++i_column_step) {
            const int i_column = column_of_sums + i_column_step * 8;
            packed[(i_row_step * 64 + i_row_step_2 * 2 + i_column_step * 4) / 2] = ek_pack_bf16(sums[i_row_step * 64 + i_row_step_2 * 2 + i_column_step * 4], sums[i_row_step * 64 + i_row_step_2 * 2 + i_column_step * 4 + 1]);
          }
        }
      }
      last = at;
      #pragma unroll
      for (int piece = 0; piece < k_pieces; ++piece) write(piece);
    }
    if (leader) ek_wait_stored<0>();  // shared memory must outlive the copies
  }
}
