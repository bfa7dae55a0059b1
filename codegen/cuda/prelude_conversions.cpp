// Conversions between storage and compute types, exact as core/dtype.h has them: to nearest even in one step,
// f16 overflows to infinity, f8 saturates and keeps NaN. PTX instructions are those of the PTX ISA's section
// on cvt.
#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

constexpr std::string_view f16_to_f32 =
    R"(static __device__ __forceinline__ float ek_f16_to_f32(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
)";

constexpr std::string_view f32_to_f16 =
    R"(static __device__ __forceinline__ unsigned short ek_f32_to_f16(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
)";

constexpr std::string_view bf16_to_f32 =
    R"(static __device__ __forceinline__ float ek_bf16_to_f32(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
)";

constexpr std::string_view f32_to_bf16 =
    R"(static __device__ __forceinline__ unsigned short ek_f32_to_bf16(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;  // NaN
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
)";

constexpr std::string_view f32_to_bf16_80 =
    R"(static __device__ __forceinline__ unsigned short ek_f32_to_bf16(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
)";

// Multiplying by a power of two moves the exponent to f32's bias, denormals included.
constexpr std::string_view f8e4m3_to_f32 =
    R"(static __device__ __forceinline__ float ek_f8e4m3_to_f32(unsigned char bits) {
  const unsigned magnitude = bits & 0x7fu, sign = (bits & 0x80u) << 24;
  if (magnitude == 0x7fu) return __uint_as_float(0x7fffffffu);
  return __uint_as_float(__float_as_uint(__uint_as_float(magnitude << 20) * 0x1p120f) | sign);
}
)";

constexpr std::string_view f8e5m2_to_f32 =
    R"(static __device__ __forceinline__ float ek_f8e5m2_to_f32(unsigned char bits) {
  const unsigned magnitude = bits & 0x7fu, sign = (bits & 0x80u) << 24;
  if (magnitude >= 0x7cu) return __uint_as_float(0x7f800000u | (magnitude & 3u) << 21 | sign);
  return __uint_as_float(__float_as_uint(__uint_as_float(magnitude << 21) * 0x1p112f) | sign);
}
)";

// Below the least normal number, adding 2^14 (e4m3) or 2^7 (e5m2) leaves the rounded count of least steps in
// the low bits.
constexpr std::string_view f32_to_f8e4m3 =
    R"(static __device__ __forceinline__ unsigned char ek_f32_to_f8e4m3(float value) {
  const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return 0x7f;
  if (magnitude > 0x43e00000u) return (unsigned char)(sign | 0x7eu);
  if (magnitude < 0x3c800000u)
    return (unsigned char)(sign | (__float_as_uint(__uint_as_float(magnitude) + 16384.0f) & 0xffu));
  return (unsigned char)(sign | (((magnitude + 0x7ffffu + (magnitude >> 20 & 1u)) >> 20) - (120u << 3)));
}
)";

constexpr std::string_view f32_to_f8e5m2 =
    R"(static __device__ __forceinline__ unsigned char ek_f32_to_f8e5m2(float value) {
  const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return 0x7f;
  if (magnitude > 0x47600000u) return (unsigned char)(sign | 0x7bu);
  if (magnitude < 0x38800000u)
    return (unsigned char)(sign | (__float_as_uint(__uint_as_float(magnitude) + 128.0f) & 0xffu));
  return (unsigned char)(sign | (((magnitude + 0xfffffu + (magnitude >> 21 & 1u)) >> 21) - (112u << 2)));
}
)";

constexpr std::string_view f8e4m3_to_f32_89 =
    R"(static __device__ __forceinline__ float ek_f8e4m3_to_f32(unsigned char bits) {
  unsigned halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)bits));
  return ek_f16_to_f32((unsigned short)halves);
}
)";

constexpr std::string_view f8e5m2_to_f32_89 =
    R"(static __device__ __forceinline__ float ek_f8e5m2_to_f32(unsigned char bits) {
  unsigned halves;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)bits));
  return ek_f16_to_f32((unsigned short)halves);
}
)";

constexpr std::string_view f32_to_f8e4m3_89 =
    R"(static __device__ __forceinline__ unsigned char ek_f32_to_f8e4m3(float value) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return (unsigned char)pair;
}
)";

constexpr std::string_view f32_to_f8e5m2_89 =
    R"(static __device__ __forceinline__ unsigned char ek_f32_to_f8e5m2(float value) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return (unsigned char)pair;
}
)";

// Rounding to odd in 24 bits and then to nearest even in fewer than 23 equals one rounding (Boldo and
// Melquiond 2008).
constexpr std::string_view odd_f32 =
    R"(// Rounded to odd, so that a second rounding to a narrower type is exact.
static __device__ __forceinline__ float ek_odd_f32(double value) {
  const float rounded = __double2float_rz(value);
  return (double)rounded == value || value != value ? rounded : __uint_as_float(__float_as_uint(rounded) | 1u);
}
static __device__ __forceinline__ float ek_odd_f32(int value) { return ek_odd_f32((double)value); }
static __device__ __forceinline__ float ek_odd_f32(unsigned value) { return ek_odd_f32((double)value); }
static __device__ __forceinline__ float ek_odd_f32(unsigned long long value) {
  const float rounded = __ull2float_rz(value);
  return (unsigned long long)rounded == value ? rounded : __uint_as_float(__float_as_uint(rounded) | 1u);
}
static __device__ __forceinline__ float ek_odd_f32(long long value) {
  const float magnitude = ek_odd_f32(value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value);
  return value < 0 ? -magnitude : magnitude;
}
)";

// The device's conversions saturate; NaN gives 0 in all of them only by asking.
constexpr std::string_view to_i32 =
    R"(static __device__ __forceinline__ int ek_to_i32(float x) { return x == x ? __float2int_rz(x) : 0; }
static __device__ __forceinline__ int ek_to_i32(double x) { return x == x ? __double2int_rz(x) : 0; }
)";
constexpr std::string_view to_u32 =
    R"(static __device__ __forceinline__ unsigned ek_to_u32(float x) { return x == x ? __float2uint_rz(x) : 0u; }
static __device__ __forceinline__ unsigned ek_to_u32(double x) { return x == x ? __double2uint_rz(x) : 0u; }
)";
constexpr std::string_view to_i64 =
    R"(static __device__ __forceinline__ long long ek_to_i64(float x) { return x == x ? __float2ll_rz(x) : 0ll; }
static __device__ __forceinline__ long long ek_to_i64(double x) { return x == x ? __double2ll_rz(x) : 0ll; }
)";
constexpr std::string_view to_u64 =
    R"(static __device__ __forceinline__ unsigned long long ek_to_u64(float x) { return x == x ? __float2ull_rz(x) : 0ull; }
static __device__ __forceinline__ unsigned long long ek_to_u64(double x) { return x == x ? __double2ull_rz(x) : 0ull; }
)";

}  // namespace

std::vector<PreludePiece> prelude_conversions() {
  return {
      {"ek_f16_to_f32", {}, 0, f16_to_f32},
      {"ek_f32_to_f16", {}, 0, f32_to_f16},
      {"ek_bf16_to_f32", {}, 0, bf16_to_f32},
      {"ek_f32_to_bf16", {}, 0, f32_to_bf16},
      {"ek_f32_to_bf16", {}, 80, f32_to_bf16_80},
      {"ek_f8e4m3_to_f32", {}, 0, f8e4m3_to_f32},
      {"ek_f8e4m3_to_f32", {"ek_f16_to_f32"}, 89, f8e4m3_to_f32_89},
      {"ek_f8e5m2_to_f32", {}, 0, f8e5m2_to_f32},
      {"ek_f8e5m2_to_f32", {"ek_f16_to_f32"}, 89, f8e5m2_to_f32_89},
      {"ek_f32_to_f8e4m3", {}, 0, f32_to_f8e4m3},
      {"ek_f32_to_f8e4m3", {}, 89, f32_to_f8e4m3_89},
      {"ek_f32_to_f8e5m2", {}, 0, f32_to_f8e5m2},
      {"ek_f32_to_f8e5m2", {}, 89, f32_to_f8e5m2_89},
      {"ek_odd_f32", {}, 0, odd_f32},
      {"ek_to_i32", {}, 0, to_i32},
      {"ek_to_u32", {}, 0, to_u32},
      {"ek_to_i64", {}, 0, to_i64},
      {"ek_to_u64", {}, 0, to_u64},
  };
}

}  // namespace einkern::codegen::cuda
