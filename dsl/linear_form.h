// Sums of integer expressions: constant + Σ coefficient * term.
#pragma once

#include <cstdint>
#include <map>

#include "dsl/expression.h"

namespace einkern::dsl {

/// constant + Σ coefficient * term over distinct terms, none of coefficient 0. A term is an axis, or any
/// other i64 expression that is not itself a sum (`t % PS`, a cast read, …). Arithmetic wraps, as i64 does:
/// the form's value is the expression's, modulo 2^64.
struct LinearForm {
  std::int64_t constant = 0;
  std::map<ExpressionId, std::int64_t> terms;

  static LinearForm term(ExpressionId id) { return {0, {{id, 1}}}; }
  bool is_constant() const { return terms.empty(); }
  /// Adds factor * other; false if a coefficient or the constant wrapped.
  bool add(const LinearForm& other, std::int64_t factor = 1);
  friend bool operator==(const LinearForm&, const LinearForm&) = default;
};

}  // namespace einkern::dsl
