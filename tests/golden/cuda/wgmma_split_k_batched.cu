// A warp group's 64 x 16 by 16 x 32 product on the tensor cores; both operands are in shared memory, found by
// descriptors. Without `accumulate` the sum starts anew.
static __device__ __forceinline__ void ek_multiply(float* sum, unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile(
      "{\n .reg .pred accumulate;\n setp.ne.b32 accumulate, %18, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {\n"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15\n"
      "}, %16, %17, accumulate, 1, 1, 1, 0;\n}"
      :
        "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15])
      : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(288, 1) ek_product(
    const __grid_constant__ ek_tensor_map m_x,
    const __grid_constant__ ek_tensor_map m_w,
    int d_steps,
    ek_divisor by_size,
    ek_divisor by_size_2,
    int d_tiles,
    int d_M,
    int d_N,
    const float* __restrict__ t_b,
    unsigned short* __restrict__ t_y) {
  constexpr int k_rows = 128;
  constexpr int k_columns = 32;
  constexpr int k_tile_k = 64;
  constexpr int k_slices = 1;
  constexpr int k_stages = 9;
  constexpr int k_consumers = 2;
  constexpr int k_streamed_bytes = 16384;
  constexpr int k_kept_bytes = 4096;
  constexpr int k_stage_bytes = 20480;
  constexpr int k_split = 8;
  constexpr int k_owners = 4;
  constexpr int k_share_columns = 8;
  constexpr int k_share_registers = 4;
  constexpr int k_share_bytes = 4096;
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
  struct Place { int streamed, kept, batch; };
  const auto locate = [&](int tile) -> Place {
    const int batch = ek_quotient(tile, by_size);
    const int in_batch = ek_remainder(tile, by_size);
    return {ek_quotient(in_batch, by_size_2) * k_rows, ek_remainder(in_batch, by_size_2) * k_columns, batch};
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
        const int first_k = step * k_tile_k;
        ek_load_box(to, m_x, landed, ek_evict_first, at.streamed, first_k, at.batch);
        ek_load_box(to + 8192, m_x, landed, ek_evict_first, at.streamed + 64, first_k, at.batch);
        ek_load_box(to + k_streamed_bytes, m_w, landed, ek_evict_last, first_k, at.kept, at.batch);
        if (++stage == k_stages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  } else {
    const int thread = threadIdx.x;
    const bool leader = thread % 128 == 0;
    const unsigned long long operand_a = ek_operand_descriptor(ring + warp_group * 64 * 128, 8192, 1024);
    const unsigned long long operand_b = ek_operand_descriptor(ring + k_slices * k_streamed_bytes, 16, 1024);
    const int thread_row = thread / 4 % 8 + thread / 32 % 4 * 16 + thread / 128 * 64, thread_column = thread % 4 * 2;
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
        for (int i = 0; i < 4; ++i) {
          ek_multiply(sums, a + i * 128, b + i * 2, step > first_step || i > 0);
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
      if (rank < k_owners && thread == 0) ek_barrier_expect(sent, k_split * k_share_bytes);
      #pragma unroll
      for (int owner = 0; owner < k_owners; ++owner) {
        #pragma unroll
        for (int i = 0; i < k_share_registers; i += 4) {
          const unsigned place = rank * k_share_bytes + (i / 4 * k_consumers * 128 + thread) * 16;
          ek_send(partial + place, sent, owner, sums + owner * k_share_registers + i);
        }
      }

      if (rank < k_owners) {
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

        const int row_of_sums = at.streamed + thread_row;
        const int column_of_sums = at.kept + rank * k_share_columns + thread_column;
        #pragma unroll
        for (int i_row_step = 0; i_row_step < 2; ++i_row_step) {
          const int i_row = row_of_sums + i_row_step * 8;
          if (i_row < d_M) {
            if (column_of_sums + 2 <= d_N) {
              ek_vector<float, 2> w_b;
              ek_load<2>(w_b, t_b + column_of_sums);
              ek_vector<unsigned short, 2> w_y;
              #pragma unroll
              for (int i_element = 0; i_element < 2; ++i_element) {
                const float v_maximum = ek_max_f32(results[i_row_step * 2 + i_element] + w_b.element[i_element], -20.0f);
                w_y.element[i_element] = ek_f32_to_f16((0.5f * v_maximum) * (1.0f + erff(v_maximum * 0.70710677f)));
              }
              ek_store<2>(t_y + (at.batch * d_M + i_row) * d_N + column_of_sums, w_y);
            } else {
              #pragma unroll
              for (int i_element = 0; i_element < 2; ++i_element) {
                if (column_of_sums + i_element < d_N) {
                  ek_vector<float, 1> w_b;
                  ek_load<1>(w_b, t_b + column_of_sums + i_element);
                  const float v_maximum = ek_max_f32(results[i_row_step * 2 + i_element] + w_b.element[0], -20.0f);
                  t_y[(at.batch * d_M + i_row) * d_N + (column_of_sums + i_element)] = ek_f32_to_f16((0.5f * v_maximum) * (1.0f + erff(v_maximum * 0.70710677f)));
                }
              }
            }
          }
        }
      }
      turn ^= 1;
    }
  }
}
