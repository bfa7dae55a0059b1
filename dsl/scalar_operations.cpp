#include "dsl/scalar_operations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace einkern::dsl {
namespace {

std::uint64_t as_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }
int width_of(DType type) { return core::size_bytes(type) * 8; }
bool is_shift(Op op) { return op == Op::shift_left || op == Op::shift_right; }

__int128 floor_divide(__int128 a, __int128 b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The bits of the value's own width, zero-extended.
std::uint64_t own_bits(DType type, std::int64_t a) {
  const int width = width_of(type);
  return width == 64 ? as_unsigned(a) : as_unsigned(a) & ((std::uint64_t{1} << width) - 1);
}

/// The value that the bits of an operand stand for.
__int128 exact(DType type, std::int64_t bits) {
  return type == DType::u64 ? __int128{as_unsigned(bits)} : bits;
}

}  // namespace

std::optional<__int128> exact_integer(Op op, __int128 a, __int128 b, __int128 c) {
  if (is_shift(op) && (b < 0 || b > 63)) return std::nullopt;
  switch (op) {
    case Op::negate:
      return -a;
    case Op::bit_not:
      return ~a;
    case Op::multiply:
      // Operands of 64 bits: a product that wraps is above 2^127, so what it wraps to is far below -2^63.
      return static_cast<__int128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    case Op::divide:
      return floor_divide(a, b);
    case Op::modulo:
      return b == 0 ? a : a - b * floor_divide(a, b);
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::shift_left:
      return a * (__int128{1} << b);
    case Op::shift_right:
      return a >> b;
    case Op::bit_and:
      return a & b;
    case Op::bit_xor:
      return a ^ b;
    case Op::bit_or:
      return a | b;
    case Op::where:
      return a != 0 ? b : c;
    case Op::maximum:
      return std::max(a, b);
    case Op::minimum:
      return std::min(a, b);
    case Op::absolute:
      return a < 0 ? -a : a;
    case Op::sign:
      return (a > 0) - (a < 0);
    default:
      return std::nullopt;
  }
}

std::int64_t apply_integer(Op op, DType type, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (op) {
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::less:
      return exact(type, a) < exact(type, b);
    case Op::less_equal:
      return exact(type, a) <= exact(type, b);
    case Op::logical_not:
      return a == 0;
    case Op::logical_and:
      return a != 0 && b != 0;
    case Op::logical_or:
      return a != 0 || b != 0;
    case Op::popcount:
      return std::popcount(own_bits(type, a));
    case Op::clz:
      return std::countl_zero(own_bits(type, a)) - (64 - width_of(type));
    case Op::random:
      return philox(as_unsigned(a), as_unsigned(b));
    default: {
      const __int128 right =
          is_shift(op) ? as_unsigned(b) % static_cast<unsigned>(width_of(type)) : exact(type, b);
      const auto value = exact_integer(op, exact(type, a), right, exact(type, c));
      if (!value) std::abort();
      const std::int64_t bits = as_signed(static_cast<std::uint64_t>(*value));
      return type == DType::boolean ? bits : core::wrap_integer(type, bits);
    }
  }
}

double float_maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

double float_minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

namespace {

/// fmod moved to the divisor's sign, as the integers' % is; a zero takes the divisor's sign too.
double float_modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(0.0, b);
  return std::signbit(remainder) != std::signbit(b) ? remainder + b : remainder;
}

double sign_of(double a) {
  if (std::isnan(a) || a == 0) return a;
  return a < 0 ? -1 : 1;
}

}  // namespace

double apply_float(Op op, double a, double b, double c) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::modulo:
      return float_modulo(a, b);
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::where:
      return a != 0 ? b : c;
    case Op::maximum:
      return float_maximum(a, b);
    case Op::minimum:
      return float_minimum(a, b);
    case Op::absolute:
      return std::fabs(a);
    case Op::sign:
      return sign_of(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::round:
      return std::nearbyint(a);  // the default rounding mode: half to even, keeps -0
    case Op::trunc:
      return std::trunc(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::expm1:
      return std::expm1(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::log1p:
      return std::log1p(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::erf:
      return std::erf(a);
    case Op::pow:
      return std::pow(a, b);
    case Op::fma:
      return std::fma(a, b, c);
    default:
      std::abort();
  }
}

bool apply_float_test(Op op, double a, double b) {
  switch (op) {
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::is_nan:
      return std::isnan(a);
    case Op::is_infinite:
      return std::isinf(a);
    default:
      std::abort();
  }
}

ScalarBits apply_scalar(Op op, DType operand_type, DType type, ScalarBits a, ScalarBits b, ScalarBits c) {
  if (op == Op::where) return a.integer != 0 ? b : c;
  if (op == Op::uniform) return {philox_uniform(as_unsigned(a.integer), as_unsigned(b.integer)), 0};
  if (!core::is_float(operand_type))
    return {0, apply_integer(op, operand_type, a.integer, b.integer, c.integer)};
  if (type == DType::boolean) return {0, apply_float_test(op, a.floating, b.floating)};
  return {apply_float(op, a.floating, b.floating, c.floating), 0};
}

ScalarBits cast_scalar(DType from, DType to, ScalarBits value) {
  if (to == DType::f32 && core::is_integer(from)) {  // in one rounding, which double would make two
    return {from == DType::u64 ? static_cast<float>(as_unsigned(value.integer))
                               : static_cast<float>(value.integer),
            0};
  }
  if (core::is_float(to)) {
    const double number = core::is_float(from) ? value.floating
                          : from == DType::u64 ? static_cast<double>(as_unsigned(value.integer))
                                               : static_cast<double>(value.integer);
    return {core::round_to(to, number), 0};
  }
  if (to == DType::boolean) return {0, core::is_float(from) ? value.floating != 0 : value.integer != 0};
  if (core::is_float(from)) return {0, core::float_to_integer(to, value.floating)};
  return {0, core::wrap_integer(to, value.integer)};
}

ScalarBits bitcast_scalar(DType from, DType to, ScalarBits value) {
  const std::uint64_t bits =
      core::is_float(from) ? core::encode_float(from, value.floating) : own_bits(from, value.integer);
  if (core::is_float(to)) return {core::decode_float(to, bits), 0};
  return {0, core::wrap_integer(to, as_signed(bits))};
}

std::uint32_t philox(std::uint64_t seed, std::uint64_t counter) {
  constexpr std::uint64_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr std::uint32_t key_steps[2] = {0x9E3779B9, 0xBB67AE85};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  std::uint32_t words[4] = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0,
                            0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = multipliers[0] * words[0], second = multipliers[1] * words[2];
    words[0] = static_cast<std::uint32_t>(second >> 32) ^ words[1] ^ key[0];
    words[1] = static_cast<std::uint32_t>(second);
    words[2] = static_cast<std::uint32_t>(first >> 32) ^ words[3] ^ key[1];
    words[3] = static_cast<std::uint32_t>(first);
    key[0] += key_steps[0];
    key[1] += key_steps[1];
  }
  return words[0];
}

double philox_uniform(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(philox(seed, counter) >> 8) * 0x1p-24;
}

}  // namespace einkern::dsl
