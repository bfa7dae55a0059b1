#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

constexpr std::string_view vector_type = R"(// Consecutive elements that one access moves.
template <typename T, int N>
struct alignas(sizeof(T) * N) ek_vector {
  T element[N];
};
)";

// core/fast_divisor.h has the derivation; a divisor of 0 is given so that the quotient is 0 and the remainder the dividend.
constexpr std::string_view divisor_type = R"(// A divisor that is fixed at launch, for dividends from 0 to 2^31 - 1.
struct ek_divisor {
  unsigned divisor, multiplier, shift;
};
)";
constexpr std::string_view quotient = R"(static __device__ __forceinline__ int ek_quotient(int n, ek_divisor by) {
  return (int)((__umulhi((unsigned)n, by.multiplier) + (unsigned)n) >> by.shift);
}
)";
constexpr std::string_view remainder = R"(static __device__ __forceinline__ int ek_remainder(int n, ek_divisor by) {
  return n - ek_quotient(n, by) * (int)by.divisor;
}
)";

}  // namespace

std::vector<PreludePiece> prelude_types() {
  return {
      {"ek_vector", {}, 0, vector_type},
      {"ek_divisor", {}, 0, divisor_type},
      {"ek_quotient", {"ek_divisor"}, 0, quotient},
      {"ek_remainder", {"ek_quotient"}, 0, remainder},
  };
}

}  // namespace einkern::codegen::cuda
