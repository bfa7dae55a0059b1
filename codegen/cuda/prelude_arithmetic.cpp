// The language's operations where C++ or the device say otherwise: docs/semantics.md.
#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

#define EK_DEVICE "static __device__ __forceinline__ "

// Bits of equal operands differ only in the sign of zero: "and" gives +0, "or" gives -0.
constexpr std::string_view max_f32 = EK_DEVICE R"(float ek_max_f32(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
  return a > b ? a : b;
}
)";
constexpr std::string_view min_f32 = EK_DEVICE R"(float ek_min_f32(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
  return a < b ? a : b;
}
)";
constexpr std::string_view max_f32_80 = EK_DEVICE R"(float ek_max_f32(float a, float b) {
  float value;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}
)";
constexpr std::string_view min_f32_80 = EK_DEVICE R"(float ek_min_f32(float a, float b) {
  float value;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}
)";
constexpr std::string_view max_f64 = EK_DEVICE R"(double ek_max_f64(double a, double b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a > b ? a : b;
}
)";
constexpr std::string_view min_f64 = EK_DEVICE R"(double ek_min_f64(double a, double b) {
  if (a != a || b != b) return a + b;
  if (a == b) return __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a < b ? a : b;
}
)";
constexpr std::string_view sign_f32 = EK_DEVICE R"(float ek_sign_f32(float x) {
  return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
}
)";
constexpr std::string_view sign_f64 = EK_DEVICE R"(double ek_sign_f64(double x) {
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}
)";
constexpr std::string_view modulo_f32 = EK_DEVICE R"(float ek_modulo_f32(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}
)";
constexpr std::string_view modulo_f64 = EK_DEVICE R"(double ek_modulo_f64(double a, double b) {
  const double rest = fmod(a, b);
  return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
)";

constexpr std::string_view wrap =
    R"(// Signed arithmetic that wraps: C++ defines it for unsigned operands alone.
)" EK_DEVICE R"(int ek_add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
)" EK_DEVICE R"(int ek_subtract(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
)" EK_DEVICE R"(int ek_negate(int a) { return (int)(0u - (unsigned)a); }
)" EK_DEVICE R"(int ek_multiply(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
)" EK_DEVICE R"(long long ek_negate(long long a) { return (long long)(0ull - (unsigned long long)a); }
)" EK_DEVICE R"(long long ek_add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
)" EK_DEVICE R"(long long ek_subtract(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
)" EK_DEVICE R"(long long ek_multiply(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
)";

constexpr std::string_view divide_i32 = EK_DEVICE R"(int ek_divide_i32(int a, int b) {
  if (b == 0) return 0;
  if (b == -1) return (int)(0u - (unsigned)a);
  const int quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
)";
constexpr std::string_view modulo_i32 = EK_DEVICE R"(int ek_modulo_i32(int a, int b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  const int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)";
constexpr std::string_view divide_i64 = EK_DEVICE R"(long long ek_divide_i64(long long a, long long b) {
  if (b == 0) return 0;
  if (b == -1) return (long long)(0ull - (unsigned long long)a);
  const long long quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
)";
constexpr std::string_view modulo_i64 = EK_DEVICE R"(long long ek_modulo_i64(long long a, long long b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  const long long rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)";
constexpr std::string_view divide_u32 =
    EK_DEVICE R"(unsigned ek_divide_u32(unsigned a, unsigned b) { return b == 0u ? 0u : a / b; }
)";
constexpr std::string_view modulo_u32 =
    EK_DEVICE R"(unsigned ek_modulo_u32(unsigned a, unsigned b) { return b == 0u ? a : a % b; }
)";
constexpr std::string_view divide_u64 =
    EK_DEVICE R"(unsigned long long ek_divide_u64(unsigned long long a, unsigned long long b) {
  return b == 0ull ? 0ull : a / b;
}
)";
constexpr std::string_view modulo_u64 =
    EK_DEVICE R"(unsigned long long ek_modulo_u64(unsigned long long a, unsigned long long b) {
  return b == 0ull ? a : a % b;
}
)";
constexpr std::string_view abs_i32 =
    EK_DEVICE R"(int ek_abs_i32(int x) { return x < 0 ? (int)(0u - (unsigned)x) : x; }
)";
constexpr std::string_view abs_i64 = EK_DEVICE R"(long long ek_abs_i64(long long x) {
  return x < 0 ? (long long)(0ull - (unsigned long long)x) : x;
}
)";
constexpr std::string_view sign_i32 = EK_DEVICE R"(int ek_sign_i32(int x) { return (x > 0) - (x < 0); }
)";
constexpr std::string_view sign_i64 =
    EK_DEVICE R"(long long ek_sign_i64(long long x) { return (x > 0) - (x < 0); }
)";

// The count is taken modulo the width; a signed right shift is arithmetic.
constexpr std::string_view shift_left = EK_DEVICE
    R"(int ek_shift_left(int x, int n) { return (int)((unsigned)x << (n & 31)); }
)" EK_DEVICE R"(unsigned ek_shift_left(unsigned x, int n) { return x << (n & 31); }
)" EK_DEVICE
    R"(long long ek_shift_left(long long x, int n) { return (long long)((unsigned long long)x << (n & 63)); }
)" EK_DEVICE R"(unsigned long long ek_shift_left(unsigned long long x, int n) { return x << (n & 63); }
)";
constexpr std::string_view shift_right =
    EK_DEVICE R"(int ek_shift_right(int x, int n) { return x >> (n & 31); }
)" EK_DEVICE R"(unsigned ek_shift_right(unsigned x, int n) { return x >> (n & 31); }
)" EK_DEVICE R"(long long ek_shift_right(long long x, int n) { return x >> (n & 63); }
)" EK_DEVICE R"(unsigned long long ek_shift_right(unsigned long long x, int n) { return x >> (n & 63); }
)";
constexpr std::string_view popcount = EK_DEVICE R"(int ek_popcount(int x) { return __popc((unsigned)x); }
)" EK_DEVICE R"(int ek_popcount(unsigned x) { return __popc(x); }
)" EK_DEVICE R"(int ek_popcount(long long x) { return __popcll((unsigned long long)x); }
)" EK_DEVICE R"(int ek_popcount(unsigned long long x) { return __popcll(x); }
)";
constexpr std::string_view clz = EK_DEVICE R"(int ek_clz(int x) { return __clz(x); }
)" EK_DEVICE R"(int ek_clz(unsigned x) { return __clz((int)x); }
)" EK_DEVICE R"(int ek_clz(long long x) { return __clzll(x); }
)" EK_DEVICE R"(int ek_clz(unsigned long long x) { return __clzll((long long)x); }
)";

// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): ten rounds, key =
// seed.
constexpr std::string_view random = R"(// Philox4x32-10: word 0 of the block of counter i under the key seed.
)" EK_DEVICE R"(unsigned ek_random(unsigned long long seed, unsigned long long i) {
  unsigned key_0 = (unsigned)seed, key_1 = (unsigned)(seed >> 32);
  unsigned word_0 = (unsigned)i, word_1 = (unsigned)(i >> 32), word_2 = 0u, word_3 = 0u;
  for (int round = 0; round < 10; ++round) {
    const unsigned high_0 = __umulhi(0xd2511f53u, word_0), low_0 = 0xd2511f53u * word_0;
    const unsigned high_1 = __umulhi(0xcd9e8d57u, word_2), low_1 = 0xcd9e8d57u * word_2;
    word_0 = high_1 ^ word_1 ^ key_0;
    word_1 = low_1;
    word_2 = high_0 ^ word_3 ^ key_1;
    word_3 = low_0;
    key_0 += 0x9e3779b9u;
    key_1 += 0xbb67ae85u;
  }
  return word_0;
}
)";

}  // namespace

std::vector<PreludePiece> prelude_arithmetic() {
  return {
      {"ek_max_f32", {}, 0, max_f32},
      {"ek_max_f32", {}, 80, max_f32_80},
      {"ek_min_f32", {}, 0, min_f32},
      {"ek_min_f32", {}, 80, min_f32_80},
      {"ek_max_f64", {}, 0, max_f64},
      {"ek_min_f64", {}, 0, min_f64},
      {"ek_sign_f32", {}, 0, sign_f32},
      {"ek_sign_f64", {}, 0, sign_f64},
      {"ek_modulo_f32", {}, 0, modulo_f32},
      {"ek_modulo_f64", {}, 0, modulo_f64},
      {"ek_wrap", {}, 0, wrap},
      {"ek_add", {"ek_wrap"}, 0, ""},
      {"ek_subtract", {"ek_wrap"}, 0, ""},
      {"ek_multiply", {"ek_wrap"}, 0, ""},
      {"ek_negate", {"ek_wrap"}, 0, ""},
      {"ek_divide_i32", {}, 0, divide_i32},
      {"ek_modulo_i32", {}, 0, modulo_i32},
      {"ek_divide_i64", {}, 0, divide_i64},
      {"ek_modulo_i64", {}, 0, modulo_i64},
      {"ek_divide_u32", {}, 0, divide_u32},
      {"ek_modulo_u32", {}, 0, modulo_u32},
      {"ek_divide_u64", {}, 0, divide_u64},
      {"ek_modulo_u64", {}, 0, modulo_u64},
      {"ek_abs_i32", {}, 0, abs_i32},
      {"ek_abs_i64", {}, 0, abs_i64},
      {"ek_sign_i32", {}, 0, sign_i32},
      {"ek_sign_i64", {}, 0, sign_i64},
      {"ek_shift_left", {}, 0, shift_left},
      {"ek_shift_right", {}, 0, shift_right},
      {"ek_popcount", {}, 0, popcount},
      {"ek_clz", {}, 0, clz},
      {"ek_random", {}, 0, random},
  };
}

#undef EK_DEVICE

}  // namespace einkern::codegen::cuda
