// Values while a function is checked: typed nodes, and literals that have no type of their own yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dsl/ast.h"
#include "dsl/diagnostic.h"
#include "dsl/expression.h"

namespace einkern::dsl {

/// A number that takes the type of whatever stands beside it.
struct Literal {
  bool is_float = false;
  double real = 0;           // of a float
  std::int64_t integer = 0;  // of an integer, as two's complement
  double as_real() const { return is_float ? real : static_cast<double>(integer); }
};

/// The meaning of an expression. A failed value has had its error; what is made of it fails silently.
struct Value {
  DType type = DType::i32;
  ExpressionId id;
  std::optional<Literal> literal;
  const ast::Expression* quotient = nullptr;  // the integer division that it holds, for the rule on quotients
  bool failed() const { return !literal && !id.valid(); }
};

/// Typing rules on values. Errors go to the bag, at the ranges given.
class ValueRules {
 public:
  ValueRules(ExpressionArena& arena, DiagnosticBag& bag) : arena_(arena), bag_(&bag) {}

  Value integer_literal(std::int64_t value) const { return {.literal = Literal{.integer = value}}; }
  Value float_literal(double value) const {
    return {.type = DType::f32, .literal = Literal{.is_float = true, .real = value}};
  }
  Value node(ExpressionId id) const { return {.type = arena_[id].type, .id = id}; }

  /// A literal alone becomes i32 (i64 if it does not fit) or f32; other values stay.
  Value settle(const Value& value, SourceRange range);
  /// The value in a compute type by the implicit rules: literals, wider integers, integer to float (never a
  /// quotient).
  Value convert(const Value& value, DType type, SourceRange range);
  /// The common type of two values by the joins, or nothing after an error.
  std::optional<DType> join(const Value& a, const Value& b, SourceRange range);
  /// An explicit cast, to storage types too.
  Value cast(const Value& value, DType target, SourceRange range);
  /// A value stored into an element type: floats round, integers wrap or round to float; other changes need a
  /// cast.
  Value store(const Value& value, DType target, SourceRange range);
  /// The value as an i64 index or bound.
  Value index(const Value& value, SourceRange range);
  /// The value as a bool.
  Value boolean(const Value& value, SourceRange range);

  /// An operation of ops.def on operands, with its type rule; literals fold.
  Value apply(Op op, std::vector<Value> operands, SourceRange range);

  void redirect(DiagnosticBag& bag) { bag_ = &bag; }
  DiagnosticBag& bag() { return *bag_; }

 private:
  Value error(SourceRange range, std::string message);
  Value apply_number(Op op, std::vector<Value> operands, SourceRange range);
  Value apply_shift(Op op, std::vector<Value> operands, SourceRange range);
  Value apply_comparison(Op op, std::vector<Value> operands, SourceRange range);
  Value apply_floating(Op op, std::vector<Value> operands, SourceRange range, bool gives_boolean);
  Value apply_where(std::vector<Value> operands, SourceRange range);
  Value apply_random(Op op, std::vector<Value> operands, SourceRange range);

  ExpressionArena& arena_;
  DiagnosticBag* bag_;
};

/// Folds an operation on literals in f64 or i64; nothing if it does not fold.
std::optional<Literal> fold_literals(Op op, const std::vector<Value>& operands);

}  // namespace einkern::dsl
