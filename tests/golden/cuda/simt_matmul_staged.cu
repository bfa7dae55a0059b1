extern "C" __global__ void __launch_bounds__(128, 2) ek_product(
    ek_divisor by_size,
    int d_tiles_m,
    int d_tiles_k,
    int d_K,
    int d_M,
    int d_N,
    const unsigned short* __restrict__ t_x,
    const unsigned short* __restrict__ t_w,
    const float* __restrict__ t_b,
    unsigned short* __restrict__ t_y) {
  constexpr int k_block_m = 128;
  constexpr int k_block_n = 64;
  constexpr int k_block_k = 16;
  constexpr int k_thread_m = 8;
  constexpr int k_thread_n = 8;
  constexpr int k_stages = 2;
  constexpr int k_band = 8;
  constexpr int k_a_pitch = 132;
  constexpr int k_a_stage = 2112;
  constexpr int k_b_pitch = 68;
  constexpr int k_b_stage = 1088;
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

  // A: neighbours lie along the sum; a tile is stored transposed, [step][row]
  const int a_row = thread % 32 / 2 + 16 * (thread / 32);
  const int a_step = thread % 2 * 8;
  ek_vector<unsigned short, 8> w_x[2];
  auto load_a = [&](int tile) {
    #pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const int i_row = first_m + a_row + slot * 64;
      const int i_step = tile * k_block_k + a_step;
      if (i_row < d_M && i_step < d_K) {
        ek_load<8>(w_x[slot], t_x + i_row * d_K + i_step);
      }
    }
  };
  auto store_a = [&](int tile, int stage) {
    #pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const int i_row = first_m + a_row + slot * 64;
      const int i_step = tile * k_block_k + a_step;
      ek_vector<float, 8> values = {};  // zeros past the edges
      if (i_row < d_M && i_step < d_K) {
        #pragma unroll
        for (int i_element = 0; i_element < 8; ++i_element) {
          values.element[i_element] = ek_f16_to_f32(w_x[slot].element[i_element]);
        }
      }
      #pragma unroll
      for (int i = 0; i < 8; ++i) (a_shared + stage * k_a_stage + a_step * k_a_pitch + a_row + slot * 64)[i * k_a_pitch] = values.element[i];
    }
  };

  // B: neighbours lie along the sum; a tile is stored transposed, [step][row]
  const int b_row = thread % 32 / 2 + 16 * (thread / 32);
  const int b_step = thread % 2 * 8;
  ek_vector<unsigned short, 8> w_w;
  auto load_b = [&](int tile) {
    const int i_row = first_n + b_row;
    const int i_step = tile * k_block_k + b_step;
    if (i_row < d_N && i_step < d_K) {
      ek_load<8>(w_w, t_w + i_row * d_K + i_step);
    }
  };
  auto store_b = [&](int tile, int stage) {
    const int i_row = first_n + b_row;
    const int i_step = tile * k_block_k + b_step;
    ek_vector<float, 8> values = {};  // zeros past the edges
    if (i_row < d_N && i_step < d_K) {
      #pragma unroll
      for (int i_element = 0; i_element < 8; ++i_element) {
        values.element[i_element] = ek_f16_to_f32(w_w.element[i_element]);
      }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) (b_shared + stage * k_b_stage + b_step * k_b_pitch + b_row)[i * k_b_pitch] = values.element[i];
  };

  // Registers: a block of the result, and two sets of operand fragments, one being read while the other is used.
  const int thread_row = thread % 2 * 4 + thread / 16 % 2 * 8 + thread / 32 * 32;
  const int thread_column = thread / 2 % 8 * 4;
  float accumulator[k_thread_m * k_thread_n] = {};
  ek_vector<float, 4> a_fragment[2][2];
  const float* a_read = a_shared + thread_row;
  auto read_a = [&](int buffer, int step) {
    const float* from = a_read + step * k_a_pitch;
    #pragma unroll
    for (int i = 0; i < 2; ++i) ek_load<4>(a_fragment[buffer][i], from + i * 16);
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
    for (int row = 0; row < k_thread_m; ++row) {
      #pragma unroll
      for (int i = 0; i < k_thread_n; ++i) {
        const int column = row % 2 == 0 ? i : k_thread_n - 1 - i;  // back and forth
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
  for (int i_row_step = 0; i_row_step < 2; ++i_row_step) {
    #pragma unroll
    for (int i_row_step_2 = 0; i_row_step_2 < 4; ++i_row_step_2) {
      const int i_row = first_row + i_row_step * 16 + i_row_step_2 * 1;
      if (i_row < d_M) {
        #pragma unroll
        for (int i_column_step = 0; i_column_step < 2; ++i_column_step) {
          const int i_column = first_column + i_column_step * 32;
          if (i_column + 4 <= d_N) {
            ek_vector<float, 4> w_b;
            ek_load<4>(w_b, t_b + i_column);
            ek_vector<unsigned short, 4> w_y;
            #pragma unroll
            for (int i_element = 0; i_element < 4; ++i_element) {
              const float v_add = accumulator[i_row_step * 32 + i_row_step_2 * 8 + i_column_step * 4 + i_element] + w_b.element[i_element];
              w_y.element[i_element] = ek_f32_to_f16(ek_max_f32(v_add, 0.0f));
            }
            ek_store<4>(t_y + i_row * d_N + i_column, w_y);
          } else {
            #pragma unroll
            for (int i_element = 0; i_element < 4; ++i_element) {
              if (i_column + i_element < d_N) {
                ek_vector<float, 1> w_b;
                ek_load<1>(w_b, t_b + i_column + i_element);
                const float v_add = accumulator[i_row_step * 32 + i_row_step_2 * 8 + i_column_step * 4 + i_element] + w_b.element[0];
                t_y[i_row * d_N + (i_column + i_element)] = ek_f32_to_f16(ek_max_f32(v_add, 0.0f));
              }
            }
          }
        }
      }
    }
  }
}
