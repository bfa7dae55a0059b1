#include "codegen/reference/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace einkern::codegen::reference {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Difference of two integers as numbers; u64 values are two's complement.
double integer_distance(DType dtype, std::int64_t a, std::int64_t b) {
  const auto number = [&](std::int64_t value) {
    return dtype == DType::u64 ? static_cast<long double>(static_cast<std::uint64_t>(value))
                               : static_cast<long double>(value);
  };
  return static_cast<double>(std::fabs(number(a) - number(b)));
}

double float_distance(double reference, double actual) {
  if (reference == actual || (std::isnan(reference) && std::isnan(actual))) return 0;
  const double distance = std::fabs(reference - actual);
  return std::isnan(distance) ? infinite : distance;
}

double value_at(const HostTensor& tensor, std::size_t index) {
  if (!tensor.floats.empty()) return tensor.floats[index];
  const std::int64_t value = tensor.integers[index];
  return tensor.dtype == DType::u64 ? static_cast<double>(static_cast<std::uint64_t>(value))
                                    : static_cast<double>(value);
}

/// A NaN without its sign.
std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::vector<std::int64_t> position_of(std::int64_t offset, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> position(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    position[i] = offset % shape[i];
    offset /= shape[i];
  }
  return position;
}

}  // namespace

Tolerance Tolerance::of(DType dtype, double units) {
  if (!core::is_float(dtype)) return exact();
  const double relative = units * core::epsilon(dtype);
  return {relative, relative * 1e-3};
}

double Tolerance::allowed(double reference, std::size_t index) const {
  double error = absolute;
  if (relative != 0 && std::isfinite(reference)) error += relative * std::fabs(reference);
  if (bounds != nullptr && (*bounds)[index] != 0) error += bound_factor * (*bounds)[index];
  return error;
}

Comparison compare(const HostTensor& reference, const HostTensor& actual, const Tolerance& tolerance) {
  Comparison result;
  result.elements = reference.elements();
  if (reference.dtype != actual.dtype || reference.shape != actual.shape ||
      reference.floats.size() != actual.floats.size() ||
      reference.integers.size() != actual.integers.size()) {
    result.ok = false;
    result.wrong = result.elements;
    return result;
  }
  double worst_ratio = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.elements); ++i) {
    const double expected = value_at(reference, i), found = value_at(actual, i);
    const double error = reference.floats.empty()
                             ? integer_distance(reference.dtype, reference.integers[i], actual.integers[i])
                             : float_distance(expected, found);
    const double allowed = tolerance.allowed(expected, i);
    if (allowed == infinite) ++result.undecided;
    if (error == 0 || allowed == infinite) continue;
    if (error < infinite) result.largest_error = std::max(result.largest_error, error);
    if (error > allowed) ++result.wrong;
    const double ratio = allowed > 0 ? error / allowed : infinite;
    if (result.worst >= 0 && ratio <= worst_ratio) continue;
    worst_ratio = ratio;
    result.worst = static_cast<std::int64_t>(i);
    result.expected = expected;
    result.actual = found;
    result.error = error;
    result.allowed = allowed;
  }
  result.ok = result.wrong == 0;
  if (result.worst >= 0) result.index = position_of(result.worst, reference.shape);
  return result;
}

std::string Comparison::text(const std::string& name) const {
  if (worst < 0) {
    return ok ? fmt::format("{} agrees in all {} elements", name, elements)
              : fmt::format("{} has another dtype or shape than the reference", name);
  }
  const std::string element = index.empty() ? name : fmt::format("{}[{}]", name, fmt::join(index, ", "));
  return fmt::format("{} is {}, the reference {}: error {:.3g}, allowed {:.3g} ({} of {} elements are wrong)",
                     element, number_text(actual), number_text(expected), error, allowed, wrong, elements);
}

}  // namespace einkern::codegen::reference
