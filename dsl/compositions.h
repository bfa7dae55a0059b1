// Built-in functions that are compositions of operations, such as gelu: one formula each, for all backends.
#pragma once

#include <string_view>
#include <vector>

#include "dsl/expression.h"

namespace einkern::dsl {

/// One function of one float. Every formula keeps NaN and has its limits at both infinities.
struct Composition {
  std::string_view name;
  std::string_view documentation;  // the formula, in the language
  bool keeps_integers = false;     // else an integer operand becomes f32 first
  ExpressionId (*build)(ExpressionArena& arena, ExpressionId x);
};

const std::vector<Composition>& all_compositions();
/// The row of a name, or null.
const Composition* find_composition(std::string_view name);

}  // namespace einkern::dsl
