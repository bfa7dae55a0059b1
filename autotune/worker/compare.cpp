#include "autotune/worker/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "autotune/worker/elements.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::uint64_t bits_at(const char* first, std::int64_t offset, int size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, first + offset * size, static_cast<std::size_t>(size));
  return bits;
}

double value_of(DType dtype, std::uint64_t bits) {
  if (core::is_float(dtype)) return core::decode_float(dtype, bits);
  if (dtype == DType::u64) return static_cast<double>(bits);
  return static_cast<double>(core::wrap_integer(dtype, static_cast<std::int64_t>(bits)));
}

/// Largest finite magnitude, 0 if there is none.
double largest_magnitude(const ProblemTensor& tensor, const char* first) {
  const int size = core::size_bytes(tensor.dtype);
  double largest = 0;
  visit_elements(tensor, [&](std::int64_t offset) {
    const double magnitude = std::fabs(value_of(tensor.dtype, bits_at(first, offset, size)));
    if (magnitude > largest && std::isfinite(magnitude)) largest = magnitude;
  });
  return largest;
}

/// "y[3, 17]" of the element with that row-major number.
std::string place(const ProblemTensor& tensor, std::int64_t number) {
  std::string text;
  for (std::size_t i = tensor.shape.size(); i-- > 0; number /= tensor.shape[i])
    text = fmt::format("{}{}{}", number % tensor.shape[i], text.empty() ? "" : ", ", text);
  return tensor.shape.empty() ? tensor.name : fmt::format("{}[{}]", tensor.name, text);
}

double float_error(double expected, double actual) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) return 0;
  const double error = std::fabs(expected - actual);
  return std::isnan(error) ? infinite : error;
}

}  // namespace

Agreement compare_elements(const ProblemTensor& tensor, const char* expected, const char* actual) {
  const int size = core::size_bytes(tensor.dtype);
  // Most candidates agree to the bit, and comparing bytes is far faster than comparing numbers.
  if (std::memcmp(expected, actual, static_cast<std::size_t>(span_bytes(tensor))) == 0) return {};
  const bool is_float = core::is_float(tensor.dtype);
  const double largest = is_float ? largest_magnitude(tensor, expected) : 0;
  double worst_ratio = 0, largest_error = 0, worst_right = 0, worst_found = 0;
  std::int64_t number = -1, worst = -1, wrong = 0;
  visit_elements(tensor, [&](std::int64_t offset) {
    ++number;
    const std::uint64_t right_bits = bits_at(expected, offset, size);
    const std::uint64_t found_bits = bits_at(actual, offset, size);
    if (right_bits == found_bits) return;
    const double right = value_of(tensor.dtype, right_bits), found = value_of(tensor.dtype, found_bits);
    const double error = is_float ? float_error(right, found) : infinite;
    const double allowed = tensor.relative * std::fabs(right) + tensor.absolute * largest;
    if (error == 0) return;
    if (error < infinite) largest_error = std::fmax(largest_error, error);
    if (error <= allowed && std::isfinite(right)) return;
    ++wrong;
    const double ratio = allowed > 0 && std::isfinite(right) ? error / allowed : infinite;
    if (worst >= 0 && ratio <= worst_ratio) return;
    worst_ratio = ratio;
    worst = number;
    worst_right = right;
    worst_found = found;
  });
  Agreement agreement{.error = largest > 0 ? largest_error / largest : largest_error};
  if (worst >= 0)
    agreement.difference =
        fmt::format("{} is {}, the reference {} ({} of {} elements are wrong)", place(tensor, worst),
                    worst_found, worst_right, wrong, element_count(tensor));
  return agreement;
}

}  // namespace einkern::autotune::worker
