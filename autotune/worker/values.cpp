#include "autotune/worker/values.h"

#include <cstring>

#include "autotune/check_kernels.h"
#include "autotune/element_rule.h"
#include "autotune/worker/elements.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {
namespace {

std::uint64_t encoded_value(DType dtype, Filling filling, std::uint64_t word) {
  if (dtype == DType::boolean) return word >> 63;
  const auto magnitude = static_cast<std::int64_t>(1 + word % 3);
  const std::int64_t integer = word >> 63 != 0 ? -magnitude : magnitude;
  if (!core::is_float(dtype)) return static_cast<std::uint64_t>(core::is_signed(dtype) ? integer : magnitude);
  const bool small = filling == Filling::small_integers;
  return core::encode_float(dtype, small ? static_cast<double>(integer)
                                         : static_cast<double>(static_cast<std::int64_t>(word)) * 0x1p-63);
}

/// Writes one element, its size known to the compiler.
template <typename Element, typename Value>
void fill_with(const ProblemTensor& tensor, char* first, const Value& value) {
  const std::uint64_t seed = tensor.seed - static_cast<std::uint64_t>(reach_of(tensor).lowest);
  visit_elements(without_repetitions(tensor), [&](std::int64_t offset) {
    const auto element = static_cast<Element>(value(random_word(seed + static_cast<std::uint64_t>(offset))));
    std::memcpy(first + offset * static_cast<std::int64_t>(sizeof element), &element, sizeof element);
  });
}

template <typename Value>
void fill_by_size(const ProblemTensor& tensor, char* first, const Value& value) {
  switch (core::size_bytes(tensor.dtype)) {
    case 1:
      return fill_with<std::uint8_t>(tensor, first, value);
    case 2:
      return fill_with<std::uint16_t>(tensor, first, value);
    case 4:
      return fill_with<std::uint32_t>(tensor, first, value);
    default:
      return fill_with<std::uint64_t>(tensor, first, value);
  }
}

}  // namespace

std::vector<std::uint64_t> value_table(const ProblemTensor& tensor, Filling filling) {
  std::vector<std::uint64_t> table(value_table_size);
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = encoded_value(tensor.dtype, filling, random_word(tensor.seed + i)) &
               poison_bits(core::size_bytes(tensor.dtype));
  return table;
}

void fill_elements(const ProblemTensor& tensor, Filling filling, char* first) {
  if (tensor.index_limit > 0) {
    const auto limit = static_cast<std::uint64_t>(tensor.index_limit);
    return fill_by_size(tensor, first, [=](std::uint64_t word) { return word % limit; });
  }
  const std::vector<std::uint64_t> table = value_table(tensor, filling);
  fill_by_size(tensor, first, [&](std::uint64_t word) { return table[word % value_table_size]; });
}

}  // namespace einkern::autotune::worker
