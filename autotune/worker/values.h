// What the worker writes into tensors before a kernel runs.
#pragma once

#include <vector>

#include "autotune/messages.h"

namespace einkern::autotune::worker {

/// Every byte of what a kernel must not look at, or must write: NaN in every float type, and never 0.
inline constexpr unsigned char poison = 0xFF;

enum class Filling {
  small_integers,  // ±1 to ±3, whose sums are exact in any order: for checking
  uniform,         // floats in [-1, 1), since the power that a product draws depends on its bits: for timing
};

/// The bits from which elements are drawn by a random word, `value_table_size` of them: encoding a float of 8
/// or 16 bits takes longer than a load.
std::vector<std::uint64_t> value_table(const ProblemTensor& tensor, Filling filling);

/// Writes every element; `first` is element 0. Which value depends on the place in memory alone. Tensors of
/// indices get indices either way.
void fill_elements(const ProblemTensor& tensor, Filling filling, char* first);

}  // namespace einkern::autotune::worker
