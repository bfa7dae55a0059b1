#include "codegen/reference/random_tensor.h"

#include "dsl/scalar_operations.h"

namespace einkern::codegen::reference {
namespace {

/// Fills a tensor from one random word an element.
template <typename Number>
HostTensor fill(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed, const Number& number) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < tensor.floats.size(); ++i) {
    tensor.floats[i] = core::round_to(dtype, static_cast<double>(number(dsl::philox(seed, i))));
  }
  for (std::size_t i = 0; i < tensor.integers.size(); ++i) {
    tensor.integers[i] = static_cast<std::int64_t>(number(dsl::philox(seed, i)));
  }
  return tensor;
}

}  // namespace

HostTensor random_small_integers(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
  const bool negative = core::is_float(dtype) || core::is_signed(dtype);
  return fill(dtype, std::move(shape), seed, [=](std::uint32_t word) {
    const std::int64_t magnitude = 1 + word % 3;
    if (dtype == DType::boolean) return static_cast<std::int64_t>(word >> 31);
    return negative && (word >> 31) != 0 ? -magnitude : magnitude;
  });
}

HostTensor random_uniform(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
  if (!core::is_float(dtype)) return random_small_integers(dtype, std::move(shape), seed);
  return fill(dtype, std::move(shape), seed,
              [](std::uint32_t word) { return static_cast<double>(word >> 8) * 0x1p-23 - 1; });
}

HostTensor random_indices(DType dtype, std::vector<std::int64_t> shape, std::int64_t low, std::int64_t high,
                          std::uint64_t seed) {
  const std::uint64_t count = high > low ? static_cast<std::uint64_t>(high - low) : 1;
  return fill(dtype, std::move(shape), seed,
              [=](std::uint32_t word) { return low + static_cast<std::int64_t>(word % count); });
}

}  // namespace einkern::codegen::reference
