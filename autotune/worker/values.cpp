#include "autotune/worker/values.h"

#include <array>
#include <cstring>

#include "autotune/worker/elements.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {
namespace {

/// Drawn from by a random index, since encoding a float of 8 or 16 bits takes longer than a load.
constexpr std::size_t table_size = 4096;

/// splitmix64 (Steele, Lea and Flood 2014): one random word for each state.
std::uint64_t random_word(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

std::uint64_t encoded_value(DType dtype, Filling filling, std::uint64_t word) {
  if (dtype == DType::boolean) return word >> 63;
  const auto magnitude = static_cast<std::int64_t>(1 + word % 3);
  const std::int64_t integer = word >> 63 != 0 ? -magnitude : magnitude;
  if (!core::is_float(dtype)) return static_cast<std::uint64_t>(core::is_signed(dtype) ? integer : magnitude);
  const bool small = filling == Filling::small_integers;
  return core::encode_float(dtype, small ? static_cast<double>(integer)
                                         : static_cast<double>(static_cast<std::int64_t>(word)) * 0x1p-63);
}

/// Copies one element, its size known to the compiler.
template <typename Element, typename Value>
void fill_with(const ProblemTensor& tensor, char* first, const Value& value) {
  std::uint64_t state = tensor.seed;
  visit_elements(tensor, [&](std::int64_t offset) {
    const auto element = static_cast<Element>(value(random_word(state++)));
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

void fill_elements(const ProblemTensor& tensor, Filling filling, char* first) {
  if (tensor.index_limit > 0) {
    const auto limit = static_cast<std::uint64_t>(tensor.index_limit);
    return fill_by_size(tensor, first, [=](std::uint64_t word) { return word % limit; });
  }
  std::array<std::uint64_t, table_size> table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = encoded_value(tensor.dtype, filling, random_word(tensor.seed + i));
  fill_by_size(tensor, first, [&](std::uint64_t word) { return table[word % table_size]; });
}

}  // namespace einkern::autotune::worker
