extern "C" __global__ void __launch_bounds__(256, 1) ek_product(
    ek_divisor by_size,
    int d_tiles_m,
    int d_tiles_k,
    int d_K,
    int d_M,
    int d_N,
    const float* __restrict__ t_a,
    const float* __restrict__ t_b,
    float* __restrict__ t_y) {
  constexpr int k_block_m = 256;
  constexpr int k_block_n = 128;
  constexpr int k_block_k = 8;
  constexpr int k_thread_m = 16;
  constexpr int k_thread_n = 8;
  constexpr int k_stages = 2;
  constexpr int k_band = 8;
  constexpr int k_a_pitch = 260;
  constexpr int k_a_stage = 2080;
  constexpr int k_b_pitch = 132;
  constexpr int k_b_stage = 1056;
  constexpr int k_a_lines = 2;
  constexpr int k_b_lines = 1;
  // Blocks go through bands of k_band tile rows, so that those in flight share operands in the L2 cache.
  const int band = ek_quotient(blockIdx.x, by_size);
  const int in_band = ek_remainder(blockIdx.x, by_size);
  const int band_row = band * k_band;
  const int height = min((int)k_band, d_tiles_m - band_row);
  const int first_m = (band_row + in_band % height) * k_block_m;
  const int first_n = in_band / height * k_block_n;
  // The part of the sum, in tiles of k_block_k steps.
  const int end_tile = d_tiles_k;

  extern __shared__ __align__(16) unsigned char shared[];
  float* const a_shared = reinterpret_cast<float*>(shared);
  float* const b_shared = a_shared + k_stages * k_a_stage;
  const int thread = threadIdx.x;

  // A: neighbours lie along the sum; blocks of a tile are turned in registers, it is stored [step][row]
  const int a_row = (thread % 16 + 16 * (thread / 32)) * 2;
  const int a_step = thread % 32 / 16 * 4;
  int a_offset[k_a_lines];
  #pragma unroll
  for (int i = 0; i < k_a_lines; ++i) {
    const int row = min(first_m + a_row + i, d_M - 1);
    a_offset[i] = row * d_K;
  }
  ek_vector<float, 4> a_line[k_a_lines];
  auto load_a = [&](int tile) {
    const int step = tile * k_block_k + a_step;
    #pragma unroll
    for (int i = 0; i < k_a_lines; ++i) {
      ek_load<4>(a_line[i], t_a + a_offset[i] + step);
    }
  };
  auto store_a = [&](int tile, int stage) {
    float* to = a_shared + stage * k_a_stage + a_step * k_a_pitch + a_row;
    #pragma unroll
    for (int step = 0; step < 4; ++step) {
      ek_vector<float, 2> rows;
      #pragma unroll
      for (int row = 0; row < 2; ++row) rows.element[row] = a_line[row].element[step];
      ek_store<2>(to + step * k_a_pitch, rows);
    }
  };

  // B: neighbours lie along the sum; blocks of a tile are turned in registers, it is stored [step][row]
  const int b_row = (thread % 16 + 16 * (thread / 32));
  const int b_step = thread % 32 / 16 * 4;
  int b_offset[k_b_lines];
  #pragma unroll
  for (int i = 0; i < k_b_lines; ++i) {
    const int row = min(first_n + b_row, d_N - 1);
    b_offset[i] = row * d_K;
  }
  ek_vector<float, 4> b_line[k_b_lines];
  auto load_b = [&](int tile) {
    const int step = tile * k_block_k + b_step;
    #pragma unroll
    for (int i = 0; i < k_b_lines; ++i) {
      ek_load<4>(b_line[i], t_b + b_offset[i] + step);
    }
  };
  auto store_b = [&](int tile, int stage) {
    float* to = b_shared + stage * k_b_stage + b_step * k_b_pitch + b_row;
    #pragma unroll
    for (int step = 0; step < 4; ++step) {
      ek_vector<float, 1> rows;
      #pragma unroll
      for (int row = 0; row < 1; ++row) rows.element[row] = b_line[row].element[step];
      ek_store<1>(to + step * k_b_pitch, rows);
    }
  };

  // Registers: a block of the result, and two sets of operand fragments, one being read while the other is used.
  const int thread_row = thread % 2 * 4 + thread / 16 % 2 * 8 + thread / 32 % 4 * 64;
  const int thread_column = thread / 2 % 8 * 4 + thread / 128 * 64;
  float accumulator[k_thread_m * k_thread_n] = {};
  ek_vector<float, 4> a_fragment[2][4];
  const float* a_read = a_shared + thread_row;
  auto read_a = [&](int buffer, int step) {
    const float* from = a_read + step * k_a_pitch;
    #pragma unroll
    for (int i = 0; i < 4; ++i) ek_load<4>(a_fragment[buffer][i], from + i * 16);
  };
  ek_vector<float, 4> b_fragment[2][2];
  const float* b_read = b_shared + thread_column;
  auto read_b = [&](int buffer, int step) {
    const float* from = b_read + step * k_b_pitch;
    #pragma unroll
    for (int i = 0; i < 2; ++i) ek_load<4>(b_fragment[buffer][i], from + i * 32);
  };
  auto multiply = [&](int buffer) {
    #pragma unroll
    for (int column = 0; column < k_thread_n; ++column) {
      #pragma unroll
      for (int i = 0; i < k_thread_m; ++i) {
        const int row = column % 2 == 0 ? i : k_thread_m - 1 - i;  // back and forth
        float& sum = accumulator[row * k_thread_n + column];
        sum = ek_multiply_add(a_fragment[buffer][row / 4].element[row % 4], b_fragment[buffer][column / 4].element[column % 4], sum);
      }
    }
  };

  // Fill all stages but one.
  #pragma unroll
  for (int stage = 0; stage < k_stages - 1; ++stage) {
    const int tile = stage;
    if (tile < end_tile) {
      load_a(tile);
      load_b(tile);
      store_a(tile, stage);
      store_b(tile, stage);
    }
  }
  __syncthreads();
  int read_stage = 0, write_stage = k_stages - 1;
  read_a(0, 0);
  read_b(0, 0);

  for (int tile = 0; tile < end_tile; ++tile) {
    const int ahead = tile + k_stages - 1;
    const int next = min(ahead, end_tile - 1);
    #pragma unroll
    for (int step = 0; step < k_block_k; ++step) {
      if (step == k_block_k - 1) {
        // the next tile has come in, and the oldest stage is free
        __syncthreads();
        read_stage = read_stage == k_stages - 1 ? 0 : read_stage + 1;
        write_stage = write_stage == k_stages - 1 ? 0 : write_stage + 1;
        a_read = a_shared + read_stage * k_a_stage + thread_row;
        b_read = b_shared + read_stage * k_b_stage + thread_column;
      }
      read_a((step + 1) % 2, (step + 1) % k_block_k);
      read_b((step + 1) % 2, (step + 1) % k_block_k);
      if (step == 0) {
        if (ahead < end_tile) {
          load_a(next);
          load_b(next);
          __syncwarp();  // keeps the branch, and the loads in it
        }
      }
      if (step == k_block_k - 2) {
        store_a(next, write_stage);
        store_b(next, write_stage);
      }
      multiply(step % 2);
    }
  }

  // Results.
  #pragma unroll
  for (int i = 0; i < k_thread_m * k_thread_n; ++i) accumulator[i] = ek_detached(accumulator[i]);
  const int first_row = first_m + thread_row;
  const int first_column = first_n + thread_column;
  #pragma unroll
  for (int i_row_step = 0; i_row_step < 4; ++i_row_step) {
    #pragma unroll
    for (int i_row_step_2 = 0; i_row_step_2 < 4; ++i_row_step_2) {
      const int i_row = first_row + i_row_step * 16 + i_row_step_2 * 1;
      if (i_row < d_M) {
        #pragma unroll
        for (int i_column_step = 0; i_column_step < 2; ++i_column_step) {
          const int i_column = first_column + i_column_step * 32;
          if (i_column + 4 <= d_N) {
            ek_vector<float, 4> w_y;
            #pragma unroll
            for (int i_element = 0; i_element < 4; ++i_element) {
              w_y.element[i_element] = accumulator[i_row_step * 32 + i_row_step_2 * 8 + i_column_step * 4 + i_element];
            }
            ek_store<4>(t_y + i_row * d_N + i_column, w_y);
          } else {
            #pragma unroll
            for (int i_element = 0; i_element < 4; ++i_element) {
              if (i_column + i_element < d_N) {
                t_y[i_row * d_N + (i_column + i_element)] = accumulator[i_row_step * 32 + i_row_step_2 * 8 + i_column_step * 4 + i_element];
              }
            }
          }
        }
      }
    }
  }
}
