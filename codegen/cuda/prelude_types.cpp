#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

constexpr std::string_view vector_type =
    R"(// Consecutive elements, as one access of at most 16 bytes moves them.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) ek_vector {
  T element[N];
};
)";
constexpr std::string_view load =
    R"(// Fills a vector by accesses of P elements each; `from` is aligned to one.
template <int P, typename T, int N>
static __device__ __forceinline__ void ek_load(ek_vector<T, N>& to, const T* __restrict__ from) {
#pragma unroll
  for (int p = 0; p < N / P; ++p) {
    const ek_vector<T, P> piece = reinterpret_cast<const ek_vector<T, P>*>(from)[p];
#pragma unroll
    for (int i = 0; i < P; ++i) to.element[p * P + i] = piece.element[i];
  }
}
)";
constexpr std::string_view store =
    R"(// Writes a vector by accesses of P elements each; `to` is aligned to one.
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
)";

// core/fast_divisor.h has the derivation; a divisor of 0 is given so that the quotient is 0 and the remainder
// the dividend.
constexpr std::string_view divisor_type =
    R"(// A divisor that is fixed at launch, for dividends from 0 to 2^31 - 1.
struct ek_divisor {
  unsigned divisor, multiplier, shift;
};
)";
constexpr std::string_view quotient =
    R"(static __device__ __forceinline__ int ek_quotient(int n, ek_divisor by) {
  return (int)((__umulhi((unsigned)n, by.multiplier) + (unsigned)n) >> by.shift);
}
)";
constexpr std::string_view remainder =
    R"(static __device__ __forceinline__ int ek_remainder(int n, ek_divisor by) {
  return n - ek_quotient(n, by) * (int)by.divisor;
}
)";

}  // namespace

std::vector<PreludePiece> prelude_types() {
  return {
      {"ek_vector", {}, 0, vector_type},
      {"ek_load", {"ek_vector"}, 0, load},
      {"ek_store", {"ek_vector"}, 0, store},
      {"ek_divisor", {}, 0, divisor_type},
      {"ek_quotient", {"ek_divisor"}, 0, quotient},
      {"ek_remainder", {"ek_quotient"}, 0, remainder},
  };
}

}  // namespace einkern::codegen::cuda
