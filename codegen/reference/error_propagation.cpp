#include "codegen/reference/error_propagation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace einkern::codegen::reference {
namespace {

using dsl::Op;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double elementary_units = 8;  // 4 units in the last place, each two unit roundoffs

/// magnitude * error, where an exact operand of infinite magnitude adds nothing.
double scaled(double magnitude, double error) { return error == 0 ? 0 : std::fabs(magnitude) * error; }

/// NaN means that an interval end left the function's domain: nothing is known then.
double known(double error) { return std::isnan(error) ? infinite : error; }

/// Largest change of a function over the operand's interval, for functions that are monotone in each operand.
double monotone_change(Op op, const Tracked& a, const Tracked& b, double result) {
  if (a.error == 0 && b.error == 0) return 0;
  double change = 0;
  for (const double x : {a.floating - a.error, a.floating + a.error}) {
    for (const double y : {b.floating - b.error, b.floating + b.error}) {
      change = std::max(change, known(std::fabs(dsl::apply_float(op, x, y) - result)));
    }
  }
  return change;
}

double quotient_error(const Tracked& a, const Tracked& b, double result) {
  const double margin = std::fabs(b.floating) - b.error;
  if (a.error == 0 && b.error == 0) return 0;
  return margin > 0 ? (a.error + scaled(result, b.error)) / margin : infinite;
}

double modulo_error(const Tracked& a, const Tracked& b, double result) {
  if (a.error == 0 && b.error == 0) return 0;
  const double quotient = (a.floating - result) / b.floating;
  const double error = a.error + scaled(quotient, b.error);
  const double distance = std::min(std::fabs(result), std::fabs(b.floating - result));  // to the next jump
  return distance > error ? error : std::max(error, std::fabs(b.floating));
}

double product_error(const Tracked& a, const Tracked& b) {
  return scaled(a.floating, b.error) + scaled(b.floating, a.error) + a.error * b.error;
}

double propagated(Op op, const Tracked& a, const Tracked& b, const Tracked& c, double result) {
  switch (op) {
    case Op::negate:
    case Op::absolute:
      return a.error;
    case Op::add:
    case Op::subtract:
      return a.error + b.error;
    case Op::multiply:
      return product_error(a, b);
    case Op::fma:
      return product_error(a, b) + c.error;
    case Op::divide:
      return quotient_error(a, b, result);
    case Op::modulo:
      return modulo_error(a, b, result);
    case Op::maximum:
    case Op::minimum:
      return std::max(a.error, b.error);
    case Op::sin:
    case Op::cos:
      return std::min(a.error, 2.0);
    default:
      return monotone_change(op, a, b, result);
  }
}

/// Unit roundoffs that the operation itself adds.
double own_units(Op op) {
  switch (op) {
    case Op::negate:
    case Op::absolute:
    case Op::maximum:
    case Op::minimum:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::uniform:
      return 0;
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::sqrt:
    case Op::fma:
      return 1;
    default:
      return elementary_units;
  }
}

bool is_comparison(Op op) {
  return op == Op::equal || op == Op::not_equal || op == Op::less || op == Op::less_equal;
}

/// Comparisons and integer operations: exact, unless an uncertain operand may change them.
double discrete_error(Op op, DType operand_type, const Tracked& a, const Tracked& b, const Tracked& c) {
  const double error = a.error + b.error + c.error;
  if (error == 0) return 0;
  if (is_comparison(op)) {
    const double distance = core::is_float(operand_type)
                                ? std::fabs(a.floating - b.floating)
                                : std::fabs(static_cast<double>(a.integer - b.integer));
    return distance <= error ? 1 : 0;  // NaN and infinities are not near anything
  }
  switch (op) {
    case Op::negate:
    case Op::absolute:
    case Op::add:
    case Op::subtract:
      return error;
    case Op::maximum:
    case Op::minimum:
      return std::max(a.error, b.error);
    case Op::logical_not:
      return a.error;
    case Op::is_nan:
    case Op::is_infinite:
      return 0;
    default:
      return infinite;
  }
}

double where_error(DType type, const Tracked& condition, const Tracked& a, const Tracked& b,
                   const dsl::ScalarBits& result) {
  const bool first = condition.integer != 0;
  const Tracked &chosen = first ? a : b, &other = first ? b : a;
  if (condition.error == 0) return chosen.error;
  const double apart = core::is_float(type) ? std::fabs(other.floating - result.floating)
                                            : std::fabs(static_cast<double>(other.integer - result.integer));
  return std::max(chosen.error, known(apart) + other.error);
}

double smallest_step(DType type) {
  return type == DType::f64 ? std::numeric_limits<double>::denorm_min()
                            : static_cast<double>(std::numeric_limits<float>::denorm_min());
}

}  // namespace

double unit_roundoff(DType type) { return core::epsilon(type) / 2; }

double operation_error(Op op, DType operand_type, DType type, const Tracked& a, const Tracked& b,
                       const Tracked& c, const dsl::ScalarBits& result) {
  if (op == Op::where) return where_error(type, a, b, c, result);
  if (op == Op::uniform) return a.error + b.error == 0 ? 0 : infinite;
  if (!core::is_float(type) || !core::is_float(operand_type))
    return discrete_error(op, operand_type, a, b, c);
  const double error = propagated(op, a, b, c, result.floating);
  if (!std::isfinite(result.floating)) return error < infinite || std::isnan(error) ? 0 : infinite;
  const double units = own_units(op);
  if (units == 0) return known(error);
  return known(error) + units * unit_roundoff(type) * std::fabs(result.floating) + smallest_step(type);
}

double cast_error(DType from, DType to, const Tracked& operand, const dsl::ScalarBits& result) {
  if (operand.error == 0) return 0;
  if (!core::is_float(from)) {
    const bool same = core::is_float(to) || core::size_bytes(to) >= core::size_bytes(from);
    return same ? operand.error : infinite;
  }
  double change = 0;
  for (const double end : {operand.floating - operand.error, operand.floating + operand.error}) {
    const dsl::ScalarBits moved = dsl::cast_scalar(from, to, {end, 0});
    change = std::max(change, core::is_float(to) ? known(std::fabs(moved.floating - result.floating))
                                                 : std::fabs(static_cast<double>(moved.integer) -
                                                             static_cast<double>(result.integer)));
  }
  if (core::is_float(to) && !std::isfinite(result.floating)) return operand.error < infinite ? 0 : infinite;
  return change;
}

double sum_error_factor(DType type, double terms) {
  return std::min(terms, 6 * std::sqrt(terms)) * unit_roundoff(type);
}

double product_error_factor(const dsl::Precision& precision) {
  using Kind = dsl::Precision::Kind;
  switch (precision.kind) {
    case Kind::exact:
      return 0;
    case Kind::bf16:
      return 2 * unit_roundoff(DType::bf16);
    case Kind::f16:
    case Kind::tf32:
      return 2 * unit_roundoff(DType::f16);  // both have 10 fraction bits
    case Kind::bounded:
      return precision.bound;
  }
  return 0;
}

}  // namespace einkern::codegen::reference
