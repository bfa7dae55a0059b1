// The shapes that products are compared on: y[M, N] = x[M, K] · w[N, K]ᵀ, the linear layer's layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace einkern::bench {

struct GemmShape {
  std::string name;
  std::int64_t m, n, k;
};

/// Squares, the layers of 8- and 70-billion-parameter transformers, decoding, and sizes that are multiples of
/// nothing.
const std::vector<GemmShape>& gemm_suite();
/// Squares from 256 to 2048, for CPUs.
const std::vector<GemmShape>& cpu_gemm_suite();

}  // namespace einkern::bench
