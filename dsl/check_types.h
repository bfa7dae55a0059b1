// The type rules of operators: joins of operands, literals taking types, and what may turn into what.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "dsl/check_value.h"
#include "dsl/diagnostic.h"

namespace einkern::dsl {

/// The type in which two compute types meet; nothing where a cast is needed.
std::optional<DType> join_types(DType left, DType right);

/// A value with the place where it stands, for messages.
struct Operand {
  Value value;
  SourceRange range;
};

/// Applies the type rules and builds nodes. What cannot be gets a diagnostic and the unknown value.
class Typing {
 public:
  /// `diagnostics` is a reference to the pointer, since inlined calls check into a bag of their own.
  Typing(ExpressionArena& arena, DiagnosticBag*& diagnostics) : arena_(arena), diagnostics_(diagnostics) {}

  Value unary(ast::UnaryOperator operation, const Operand& operand, SourceRange where);
  Value binary(const ast::Binary& binary, const Operand& left, const Operand& right,
               const ast::Expression& whole);
  Value comparison(const ast::Comparison& comparison, std::span<const Operand> operands);
  /// An operation of ops.def by its row's rule; the number of operands is right.
  Value apply(Op op, std::span<const Operand> operands, SourceRange where);
  /// A cast as the language writes it, `f32(e)`, to any type.
  Value cast(DType target, const Operand& operand);

  /// The common type of operands; nothing after an error, which names `what` needs it.
  std::optional<DType> unify(std::span<const Operand> operands, SourceRange where);
  /// The node of a value in a compute type, converted as an operand is: widening, or integer to float.
  /// Nothing after an error.
  std::optional<ExpressionId> convert(const Operand& operand, DType type);
  /// The node of a value as it is stored in an element of `target`; its type is target's compute type.
  std::optional<ExpressionId> convert_for_store(const Operand& operand, DType target, std::string_view name);
  /// An integer as i64: indices, bounds and sizes. `what` names it, such as "an index".
  std::optional<ExpressionId> convert_to_index(const Operand& operand, std::string_view what);
  /// A condition; an error if it is not bool.
  std::optional<ExpressionId> condition(const Operand& operand, std::string_view what);
  /// A value with its literal, if it is one, in its default type.
  Value settled(const Value& value);
  /// The node of a literal in a compute type it fits.
  ExpressionId constant(const Literal& literal, DType type);

 private:
  Value arithmetic(Op op, const Operand& left, const Operand& right, SourceRange where);
  Value shift(Op op, const Operand& left, const Operand& right);
  Value bits(Op op, const Operand& left, const Operand& right, SourceRange where);
  Value logical(Op op, std::initializer_list<Operand> operands);
  std::optional<ExpressionId> compare(ast::Comparator comparator, const Operand& left, const Operand& right);
  Value apply_unified(Op op, std::span<const Operand> operands, DType type, DType result);
  Value apply_where(std::span<const Operand> operands, SourceRange where);
  Value apply_random(Op op, std::span<const Operand> operands);
  bool require_number(const Operand& operand, std::string_view what);
  bool require_integer(const Operand& operand, std::string_view what);
  void refuse_quotient(const Operand& operand, DType type);
  void refuse_mix(DType left, DType right, SourceRange where, SourceRange left_range,
                  SourceRange right_range);

  ExpressionArena& arena_;
  DiagnosticBag*& diagnostics_;
};

}  // namespace einkern::dsl
