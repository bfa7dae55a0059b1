// A warp group's 64 x 16 by 16 x 16 product on the tensor cores; both operands are in shared memory, found by
// descriptors. Without `accumulate` the sum starts anew.
static __device__ __forceinline__ void ek_multiply(float* sum, unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile(
      "{\n .reg .pred accumulate;\n setp.ne.b32 accumulate, %10, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {\n"
      "%0, %1, %2, %3, %4, %5, %6, %7\n"
      "}, %8, %9, accumulate, 1, 1, 0, 0;\n}"
      :
        "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
      : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(160, 1) ek_product(
    const __grid_constant__ ek_tensor_map m_w,
    const __grid_constant__ ek_tensor_map m_x,
    int d_steps,
    ek_divisor by_size,
    int d_tiles,
    int d_M,
    int d_N,
    unsigned short* __restrict__ t_y) {
  constexpr int k_rows = 64;
  constexpr int k_columns = 16;
  constexpr int k_tile_k = 128;
  constexpr int k_slices = 2;
  constexpr int k_stages = 11;
  constexpr int k_consumers = 1;
  constexpr int k_streamed_bytes = 8192;
  constexpr int k_kept_bytes = 2048;
  constexpr int k_stage_bytes = 20480;
  constexpr int k_split = 2;
  constexpr int k_owners = 2;
  constexpr int k_share_columns = 8;
  constexpr int k_share_registers = 4;
  constexpr int k_share_bytes = 2048;
  // Shared memory: the ring of operand stages, partial sums, barriers.
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned ring = ek_shared_address(shared);
  const unsigned partial = ring + k_stages * k_stage_bytes;
  const unsigned full = partial + k_split * k_share_bytes, empty = full + 8 * k_stages;
  const unsigned sent = empty + 8 * k_stages, taken = sent + 8;
  const int warp_group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be a warp's own
  const int rank = blockIdx.x % k_split;
  // The block's part of the sum.
  const int first_step = d_steps * rank / k_split;
  const int end_step = d_steps * (rank + 1) / k_split;

  // Where a tile lies: along the kept operand first, so that L2 serves what is read again.
  struct Place { int streamed, kept; };
  const auto locate = [&](int tile) -> Place {
    return {ek_quotient(tile, by_size) * k_rows, ek_remainder(tile, by_size) * k_columns};
  };

  // full: a stage's bytes are in; empty: all consumers have finished with it.
  // sent: the partial sums of this block's share are in; taken: the owners have read theirs.
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < k_stages; ++stage) {
      ek_barrier_init(full + 8 * stage, 1);
      ek_barrier_init(empty + 8 * stage, k_consumers);
    }
    ek_barrier_init(sent, 1);
    ek_barrier_init(taken, k_owners * k_consumers);
    ek_publish_barriers();
  }
  __syncthreads();
  ek_cluster_arrive();

  if (warp_group == k_consumers) {
    // One thread fills the ring. It runs ahead into the next tile while partial sums are added up.
    if (threadIdx.x % 32 != 0) return;
    int stage = 0;
    unsigned parity = 1;
    for (int tile = blockIdx.x / k_split; tile < d_tiles; tile += gridDim.x / k_split) {
      const Place at = locate(tile);
      for (int step = first_step; step < end_step; ++step) {
        const unsigned landed = full + 8 * stage, to = ring + stage * k_stage_bytes;
        ek_barrier_wait(empty + 8 * stage, parity);
        ek_barrier_expect(landed, k_stage_bytes);
        #pragma unroll
        for (int slice = 0; slice < k_slices; ++slice) {
          const int first_k = step * k_tile_k + slice * 64;
          ek_load_box(to + slice * k_streamed_bytes, m_w, landed, ek_evict_first, first_k, at.streamed);
          ek_load_box(to + k_slices * k_streamed_bytes + slice * k_kept_bytes, m_x, landed, ek_evict_last, first_k, at.kept);
        }
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
    unsigned turn = 0;
    ek_cluster_wait();  // the barriers of the other blocks exist

    for (int tile = blockIdx.x / k_split; tile < d_tiles; tile += gridDim.x / k_split) {
      const Place at = locate(tile);
      // Products: one group stays in flight; behind it the stage before is given back.
      float sums[k_columns / 2] = {};
      for (int step = first_step; step < end_step; ++step) {
        ek_barrier_wait(full + 8 * stage, parity);
        const unsigned long long a = operand_a + stage * (k_stage_bytes / 16);
        const unsigned long long b = operand_b + stage * (k_stage_bytes / 16);
        ek_begin_products();
        #pragma unroll
        for (int slice = 0; slice < k_slices; ++slice) {
          #pragma unroll
          for (int i = 0; i < 4; ++i) {
            ek_multiply(sums, a + slice * (k_streamed_bytes / 16) + i * 2, b + slice * (k_kept_bytes / 16) + i * 2, step > first_step || slice > 0 || i > 0);
          }
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

      // Every block sends each owner its share of the partial sums.
      ek_barrier_wait(taken, turn ^ 1);
      if (thread == 0) ek_barrier_expect(sent, k_split * k_share_bytes);
      #pragma unroll
      for (int owner = 0; owner < k_owners; ++owner) {
        #pragma unroll
        for (int i = 0; i < k_share_registers; i += 4) {
          const unsigned place = rank * k_share_bytes + (i / 4 * k_consumers * 128 + thread) * 16;
          ek_send(partial + place, sent, owner, sums + owner * k_share_registers + i);
        }
      }

      // An owner adds them up, always in the same order.
      ek_barrier_wait(sent, turn);
      float results[k_share_registers] = {};
      #pragma unroll
      for (int block = 0; block < k_split; ++block) {
        #pragma unroll
        for (int i = 0; i < k_share_registers; i += 4) {
          const int place = block * k_share_bytes + (i / 4 * k_consumers * 128 + thread) * 16;
          const float4 sum = *(const float4*)(shared + k_stages * k_stage_bytes + place);
          results[i] += sum.x;
          results[i + 1] += sum.y;
          results[i + 2] += sum.z;
          results[i + 3] += sum.w;
        }
      }
      ek_group_barrier(1 + warp_group);
      if (leader && tile + gridDim.x / k_split < d_tiles)
        for (int block = 0; block < k_split; ++block) ek_barrier_arrive_at(taken, block);

      const int row_of_sums = at.kept + rank * k_share_columns + thread_row;
      const int column_of_sums = at.streamed + thread_column;
      #pragma unroll
      for (int i_row_step = 0; i_row_step < 2; ++i_row_step) {
        const int i_row = row_of_sums + i_row_step * 1;
        if (i_row < d_M) {
          #pragma unroll
          for (int i_column_step = 0; i_column_step < 2; ++i_column_step) {
            const int i_column = column_of_sums + i_column_step * 8;
            if (i_column < d_N) {
              t_y[i_row * d_N + i_column] = ek_f32_to_bf16(results[i_row_step * 1 + i_column_step * 2]);
            }
          }
        }
      }
      turn ^= 1;
    }
  }
}
