// Values while a function is checked: literals, which have no type of their own yet, and typed expressions.
#pragma once

#include <optional>

#include "dsl/ast.h"
#include "dsl/expression.h"

namespace einkern::dsl {

/// A number without a type: exact as an integer, else as an f64.
struct Literal {
  bool is_float = false;
  __int128 integer = 0;
  double real = 0;

  static Literal of(__int128 value) { return {false, value, 0}; }
  static Literal of(double value) { return {true, 0, value}; }
  double number() const { return is_float ? real : static_cast<double>(integer); }
};

/// What an operation on literals gives; nothing where it would leave 64 bits or needs a type (then the
/// operands take their default types).
std::optional<Literal> fold_literals(Op op, const Literal& left, const Literal& right);
std::optional<Literal> fold_literal(Op op, const Literal& operand);
/// A comparison of literals.
bool compare_literals(ast::Comparator comparator, const Literal& left, const Literal& right);

/// Whether a literal can be written as a value of a compute type: integers must fit, floats need a float.
bool literal_fits(const Literal& literal, DType type);
/// The type of a literal that stands alone: i32, i64 or u64 as it fits, or f32.
DType default_type(const Literal& literal);

/// A checked expression. `unknown` has had its error, and silences its consequences.
struct Value {
  enum class Kind { unknown, literal, typed } kind = Kind::unknown;
  Literal number;
  ExpressionId id;
  DType type = DType::f32;
  /// The integer quotient that this integer is or holds in a sum or product: it may not become a float.
  const ast::Expression* quotient = nullptr;

  static Value literal(Literal number) { return {Kind::literal, number, {}, default_type(number)}; }
  static Value typed(ExpressionId id, DType type) { return {Kind::typed, {}, id, type}; }
  static Value typed(const ExpressionArena& arena, ExpressionId id) { return typed(id, arena[id].type); }

  bool known() const { return kind != Kind::unknown; }
  bool is_literal() const { return kind == Kind::literal; }
  bool is_typed() const { return kind == Kind::typed; }
};

}  // namespace einkern::dsl
