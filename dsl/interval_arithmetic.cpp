#include "dsl/interval_arithmetic.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace einkern::dsl {
namespace {

using Wide = __int128;  // holds every sum and product of two 64-bit integers

constexpr Interval empty_interval{1, 0};
constexpr Interval truth{0, 1};

Interval exactly(bool value) { return {value, value}; }

/// The interval of exact results, or the whole type where one of them would wrap.
Interval fit(DType type, std::initializer_list<Wide> corners) {
  const auto [low, high] = std::minmax(corners);
  Interval range = whole_range(type);
  if (type == DType::u64) range.low = 0;  // larger values are negative here, and not ordered as they are
  if (low < range.low || high > range.high) return whole_range(type);
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Interval multiply(DType type, Interval a, Interval b) {
  return fit(type, {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high});
}

/// For one sign of the divisor the quotient is monotone in both, so its extremes lie at the ends and at ±1; x
/// / 0 is 0.
Interval divide(DType type, Interval a, Interval b) {
  Interval result = b.low <= 0 && b.high >= 0 ? Interval{0, 0} : empty_interval;
  for (const std::int64_t divisor : {b.low, b.high, std::int64_t{-1}, std::int64_t{1}}) {
    if (divisor == 0 || divisor < b.low || divisor > b.high) continue;
    result = hull(result, fit(type, {floor_quotient(a.low, divisor), floor_quotient(a.high, divisor)}));
  }
  return result;
}

Interval modulo(Interval a, Interval b) {
  Interval result = b.low <= 0 && b.high >= 0 ? a : empty_interval;  // x % 0 is x
  if (b.high > 0) {
    const std::int64_t least = std::max<std::int64_t>(b.low, 1);
    const bool one_period = least == b.high && floor_quotient(a.low, least) == floor_quotient(a.high, least);
    if (a.low >= 0 && a.high < least) {
      result = hull(result, a);
    } else if (one_period) {
      const auto start = static_cast<std::int64_t>(floor_quotient(a.low, least) * least);
      result = hull(result, {a.low - start, a.high - start});
    } else {
      result = hull(result, {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1});
    }
  }
  if (b.low < 0) result = hull(result, {b.low + 1, 0});
  return result;
}

Interval shift(Op op, DType type, Interval a, Interval count) {
  if (!count.inside(0, core::size_bytes(type) * 8 - 1)) return whole_range(type);
  if (op == Op::shift_left) {
    const Wide least = Wide{1} << count.low, most = Wide{1} << count.high;
    return fit(type, {a.low * least, a.low * most, a.high * least, a.high * most});
  }
  return fit(type, {a.low >> count.low, a.low >> count.high, a.high >> count.low, a.high >> count.high});
}

/// All numbers of as many bits as the larger operand has; both operands are not negative.
Interval covering_bits(Interval a, Interval b) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(std::max(a.high, b.high)));
  return {0, static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1)};
}

Interval bitwise(Op op, DType type, Interval a, Interval b) {
  const bool a_positive = a.low >= 0, b_positive = b.low >= 0;
  if (op == Op::bit_and && (a_positive || b_positive)) {
    return {0, std::min(a_positive ? a.high : INT64_MAX, b_positive ? b.high : INT64_MAX)};
  }
  if (!a_positive || !b_positive) return whole_range(type);
  Interval result = covering_bits(a, b);
  if (op == Op::bit_or) result.low = std::max(a.low, b.low);
  return result;
}

Interval absolute(DType type, Interval a) {
  if (a.low >= 0) return a;
  const Wide low = a.low, high = a.high;
  return fit(type, {high >= 0 ? Wide{0} : -high, std::max(-low, high)});
}

Interval compare(Op op, Interval a, Interval b) {
  const bool apart = a.high < b.low || b.high < a.low, same_point = a.low == a.high && b == a;
  switch (op) {
    case Op::equal:
      return apart ? exactly(false) : same_point ? exactly(true) : truth;
    case Op::not_equal:
      return apart ? exactly(true) : same_point ? exactly(false) : truth;
    case Op::less:
      return a.high < b.low ? exactly(true) : a.low >= b.high ? exactly(false) : truth;
    default:
      return a.high <= b.low ? exactly(true) : a.low > b.high ? exactly(false) : truth;
  }
}

Interval logical(Op op, const std::vector<Interval>& operands) {
  const Interval a = operands[0];
  if (op == Op::logical_not) return {1 - a.high, 1 - a.low};
  const Interval b = operands[1];
  if (op == Op::logical_and) return {std::min(a.low, b.low), std::min(a.high, b.high)};
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

std::int64_t sign_of(std::int64_t value) { return (value > 0) - (value < 0); }

Interval unary(Op op, DType type, Interval a) {
  switch (op) {
    case Op::negate:
      return fit(type, {-Wide{a.low}, -Wide{a.high}});
    case Op::bit_not:
      return core::is_signed(type) ? Interval{-1 - a.high, -1 - a.low} : whole_range(type);
    case Op::absolute:
      return absolute(type, a);
    default:
      return {sign_of(a.low), sign_of(a.high)};
  }
}

Interval binary(Op op, DType type, Interval a, Interval b) {
  switch (op) {
    case Op::add:
      return fit(type, {Wide{a.low} + b.low, Wide{a.high} + b.high});
    case Op::subtract:
      return fit(type, {Wide{a.low} - b.high, Wide{a.high} - b.low});
    case Op::multiply:
      return multiply(type, a, b);
    case Op::divide:
      return divide(type, a, b);
    case Op::modulo:
      return modulo(a, b);
    case Op::maximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::minimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::shift_left:
    case Op::shift_right:
      return shift(op, type, a, b);
    default:
      return bitwise(op, type, a, b);
  }
}

bool is_comparison(Op op) {
  return op == Op::equal || op == Op::not_equal || op == Op::less || op == Op::less_equal;
}
bool is_logical(Op op) { return op == Op::logical_not || op == Op::logical_and || op == Op::logical_or; }

}  // namespace

Interval whole_range(DType type) {
  if (type == DType::boolean) return truth;
  const int bits = core::size_bytes(type) * 8;
  if (bits == 64 || core::is_float(type)) return {};
  if (core::is_signed(type)) return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, (std::int64_t{1} << bits) - 1};
}

Interval hull(Interval a, Interval b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval apply_interval(Op op, DType type, const std::vector<Interval>& operands) {
  if (op == Op::where) {
    const Interval condition = operands[0];
    if (condition.empty()) return empty_interval;
    const Interval chosen = condition.high == 0 ? empty_interval : operands[1];
    return condition.low == 1 ? chosen : hull(chosen, operands[2]);
  }
  for (const Interval& operand : operands) {
    if (operand.empty()) return empty_interval;
  }
  if (op == Op::popcount || op == Op::clz) return {0, core::size_bytes(type) * 8};
  if (op == Op::random) return whole_range(DType::u32);
  if (is_logical(op)) return logical(op, operands);
  const bool beyond_order = type == DType::u64 && std::any_of(operands.begin(), operands.end(),
                                                              [](const Interval& o) { return o.low < 0; });
  if (is_comparison(op)) return beyond_order ? truth : compare(op, operands[0], operands[1]);
  if (beyond_order) return whole_range(type);
  return operands.size() == 1 ? unary(op, type, operands[0]) : binary(op, type, operands[0], operands[1]);
}

}  // namespace einkern::dsl
