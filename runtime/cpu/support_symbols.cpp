#include "runtime/cpu/support_symbols.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/dtype.h"

namespace einkern::runtime::cpu {
namespace {

// LLVM's names for half conversions on a CPU that lacks F16C. The half travels in an SSE register on x86-64.
#if defined(__x86_64__)
_Float16 truncate_f32_to_f16(float value) {
  std::uint16_t bits = static_cast<std::uint16_t>(core::encode_float(DType::f16, value));
  _Float16 half;
  std::memcpy(&half, &bits, sizeof half);
  return half;
}
float extend_f16_to_f32(_Float16 half) {
  std::uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return static_cast<float>(core::decode_float(DType::f16, bits));
}
#endif

template <typename Signature>
SupportSymbol symbol(const char* name, Signature* function) {
  return {name, reinterpret_cast<void*>(function)};
}

using Unary = double(double);
using UnaryFloat = float(float);
using Binary = double(double, double);
using BinaryFloat = float(float, float);

// std's overloads, picked by the signature.
#define EINKERN_UNARY(name) symbol<Unary>(#name, std::name), symbol<UnaryFloat>(#name "f", std::name)
#define EINKERN_BINARY(name) symbol<Binary>(#name, std::name), symbol<BinaryFloat>(#name "f", std::name)

}  // namespace

std::span<const SupportSymbol> support_symbols() {
  static const SupportSymbol symbols[] = {
      EINKERN_UNARY(exp),
      EINKERN_UNARY(exp2),
      EINKERN_UNARY(expm1),
      EINKERN_UNARY(log),
      EINKERN_UNARY(log2),
      EINKERN_UNARY(log1p),
      EINKERN_UNARY(sin),
      EINKERN_UNARY(cos),
      EINKERN_UNARY(tanh),
      EINKERN_UNARY(erf),
      EINKERN_UNARY(floor),
      EINKERN_UNARY(ceil),
      EINKERN_UNARY(trunc),
      EINKERN_UNARY(round),
      EINKERN_UNARY(rint),
      EINKERN_UNARY(sqrt),
      EINKERN_UNARY(nearbyint),
      symbol<double(double)>(
          "roundeven", +[](double x) { return std::nearbyint(x); }),
      symbol<float(float)>(
          "roundevenf", +[](float x) { return std::nearbyint(x); }),
      EINKERN_BINARY(pow),
      EINKERN_BINARY(fmod),
      symbol<double(double, double, double)>("fma", std::fma),
      symbol<float(float, float, float)>("fmaf", std::fma),
      symbol("memcpy", &std::memcpy),
      symbol("memset", &std::memset),
      symbol("memmove", &std::memmove),
#if defined(__x86_64__)
      symbol("__truncsfhf2", &truncate_f32_to_f16),
      symbol("__extendhfsf2", &extend_f16_to_f32),
#endif
  };
  return symbols;
}

#undef EINKERN_UNARY
#undef EINKERN_BINARY

}  // namespace einkern::runtime::cpu
