extern "C" __global__ void __launch_bounds__(256, 2) ek_product(
    ek_divisor by_size,
    ek_divisor by_size_2,
    int d_tiles_m,
    int d_tiles_k,
    int d_tiles_of_part,
    int d_K,
    int d_M,
    int d_N,
    const double* __restrict__ t_a,
    const double* __restrict__ t_b,
    double* __restrict__ t_parts,
    int d_B) {
  constexpr int k_block_m = 64;
  constexpr int k_block_n = 64;
  constexpr int k_block_k = 8;
  constexpr int k_thread_m = 4;
  constexpr int k_thread_n = 4;
  constexpr int k_stages = 4;
  constexpr int k_splits = 4;
  constexpr int k_band = 4;
  constexpr int k_a_pitch = 66;
  constexpr int k_a_stage = 528;
  constexpr int k_b_pitch = 64;
  constexpr int k_b_stage = 512;
  const int tile_number = ek_remainder(blockIdx.x, by_size);
  const int part_number = ek_quotient(blockIdx.x, by_size);
  const int split = part_number % k_splits;
  const int batch = part_number / k_splits;
  // Blocks go through bands of k_band tile rows, so that those in flight share operands in the L2 cache.
  const int band = ek_quotient(tile_number, by_size_2);
  const int in_band = ek_remainder(tile_number, by_size_2);
  const int band_row = band * k_band;
  const int height = min((int)k_band, d_tiles_m - band_row);
  const int first_m = (band_row + in_band % height) * k_block_m;
  const int first_n = in_band / height * k_block_n;
  // The part of the sum, in tiles of k_block_k steps.
  const int first_tile = min(d_tiles_k, split * d_tiles_of_part);
  const int end_tile = min(d_tiles_k, first_tile + d_tiles_of_part);

  extern __shared__ __align__(16) unsigned char shared[];
  double* const a_shared = reinterpret_cast<double*>(shared);
  double* const b_shared = a_shared + k_stages * k_a_stage;
  const int thread = threadIdx.x;

  // A: neighbours lie along the sum; a tile is stored transposed, [step][row]
  const int a_row = thread % 32 / 8 + 4 * (thread / 32);
  const int a_step = thread % 8;
  const double* a_from = t_a + ((batch * d_M) * d_K + (first_m + a_row) * d_K + first_tile * k_block_k + a_step);
  const int a_rows = d_M - first_m - a_row;
  const long long a_advance = (long long)d_K * 32;
  auto copy_a = [&](int tile, int stage) {
    // how far the operand goes on from here; zeros stand in for what lies past its edges
    const int left = d_K - tile * k_block_k - a_step > 0 ? a_rows : 0;
    double* to = a_shared + stage * k_a_stage + a_step * k_a_pitch + a_row;
    const double* from = a_from;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      ek_copy_async<1>(to + i * 32, from, i * 32 < left);
      from += a_advance;
    }
    a_from += k_block_k;
  };

  // B: neighbours lie along the rows; a tile is [step][row]
  const int b_row = thread % 64;
  const int b_step = thread / 64;
  const double* b_from = t_b + ((batch * d_K) * d_N + first_n + b_row + (first_tile * k_block_k + b_step) * d_N);
  const int b_rows = d_N - first_n - b_row;
  const long long b_advance = (long long)d_N * 4;
  const long long b_tile_advance = (long long)d_N * k_block_k;
  auto copy_b = [&](int tile, int stage) {
    // how far the operand goes on from here; zeros stand in for what lies past its edges
    const int left = b_rows > 0 ? d_K - tile * k_block_k - b_step : 0;
    double* to = b_shared + stage * k_b_stage + b_step * k_b_pitch + b_row;
    const double* from = b_from;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      ek_copy_async<1>(to + i * k_b_pitch * 4, from, i * 4 < left);
      from += b_advance;
    }
    b_from += b_tile_advance;
  };

  // Registers: a block of the result, and two sets of operand fragments, one being read while the other is used.
  const int thread_row = thread % 2 * 2 + thread / 16 % 2 * 4 + thread / 32 % 4 * 16;
  const int thread_column = thread / 2 % 8 * 2 + thread / 128 * 32;
  double accumulator[k_thread_m * k_thread_n] = {};
  ek_vector<double, 2> a_fragment[2][2];
  const double* a_read = a_shared + thread_row;
  auto read_a = [&](int buffer, int step) {
    const double* from = a_read + step * k_a_pitch;
    #pragma unroll
    for (int i = 0; i < 2; ++i) ek_load<2>(a_fragment[buffer][i], from + i * 8);
  };
  ek_vector<double, 2> b_fragment[2][2];
  const double* b_read = b_shared + thread_column;
  auto read_b = [&](int buffer, int step) {
    const double* from = b_read + step * k_b_pitch;
    #pragma unroll
    for (int i = 0; i < 2; ++i) ek_load<2>(b_fragment[buffer][i], from + i * 16);
  };
  auto multiply = [&](int buffer) {
    #pragma unroll
    for (int row = 0; row < k_thread_m; ++row) {
      #pragma unroll
      for (int i = 0; i < k_thread_n; ++i) {
        const int column = row % 2 == 0 ? i : k_thread_n - 1 - i;  // back and forth
        double& sum = accumulator[row * k_thread_n + column];
        sum = ek_multiply_add(a_fragment[buffer][row / 2].element[row % 2], b_fragment[buffer][column / 2].element[column % 2], sum);
      }
    }
  };

  // Fill all stages but one.
  #pragma unroll
  for (int stage = 0; stage < k_stages - 1; ++stage) {
    const int tile = first_tile + stage;
    if (tile < end_tile) {
      copy_a(tile, stage);
      copy_b(tile, stage);
    }
    ek_commit_copies();
  }
  ek_wait_copies<k_stages - 2>();
  __syncthreads();
  int read_stage = 0, write_stage = k_stages - 1;
  read_a(0, 0);
  read_b(0, 0);

  for (int tile = first_tile; tile < end_tile; ++tile) {
    const int ahead = tile + k_stages - 1;
    #pragma unroll
    for (int step = 0; step < k_block_k; ++step) {
      if (step == k_block_k - 1) {
        // the next tile has come in, and the oldest stage is free
        ek_wait_copies<k_stages - 2>();
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
          copy_a(ahead, write_stage);
          copy_b(ahead, write_stage);
        }
        ek_commit_copies();
      }
      multiply(step % 2);
    }
  }

  // Partial sums: [split][batch][m][n].
  #pragma unroll
  for (int i = 0; i < k_thread_m; ++i) {
    const int row = first_m + thread_row + i / 2 * 8 + i % 2;
    #pragma unroll
    for (int j = 0; j < k_thread_n; ++j) {
      const int column = first_n + thread_column + j / 2 * 16 + j % 2;
      if (row < d_M && column < d_N) t_parts[((long long)(split * d_B + batch) * d_M + row) * d_N + column] = accumulator[i * k_thread_n + j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) ek_product_sum(
    int d_elements,
    const double* __restrict__ t_parts,
    ek_divisor by_N,
    ek_divisor by_M,
    int d_M,
    int d_N,
    double* __restrict__ t_y) {
  constexpr int k_threads = 256;
  constexpr int k_splits = 4;
  const int element = (int)(blockIdx.x * k_threads + threadIdx.x);
  if ((unsigned)element < d_elements) {
    double sum = t_parts[element];
    #pragma unroll
    for (int split = 1; split < k_splits; ++split) sum = sum + t_parts[(long long)split * d_elements + element];
    const int i_j = ek_remainder(element, by_N);
    const int i_outer = ek_quotient(element, by_N);
    const int i_i = ek_remainder(i_outer, by_M);
    const int i_s = ek_quotient(i_outer, by_M);
    t_y[(i_s * d_M + i_i) * d_N + i_j] = sum;
  }
}
