// How tightly operators bind, for whoever writes expressions as text.
#pragma once

#include "dsl/expression.h"

namespace einkern::dsl {

/// The language's precedences, loosest first: what stands in a context that asks for more gets parentheses.
enum Strength {
  loosest,
  else_strength,
  disjunction,
  conjunction,
  negation,
  comparison,
  bits_or,
  bits_xor,
  bits_and,
  shift,
  sum,
  product,
  unary,
  atom
};

/// Of an operation of ops.def; `atom` for those that are written as calls.
int strength_of(Op op);

}  // namespace einkern::dsl
