// What the worker writes into tensors before a kernel runs.
#pragma once

#include "autotune/messages.h"

namespace einkern::autotune::worker {

/// Written wherever a kernel must not look or must write: NaN in every float type, and never 0.
inline constexpr unsigned char poison = 0xFF;

enum class Filling {
  small_integers,  // ±1 to ±3, whose sums are exact in any order: for checking
  uniform,         // floats in [-1, 1), since the power that a product draws depends on its bits: for timing
};

/// Writes every element; `first` is element 0. Tensors of indices get indices either way.
void fill_elements(const ProblemTensor& tensor, Filling filling, char* first);

}  // namespace einkern::autotune::worker
