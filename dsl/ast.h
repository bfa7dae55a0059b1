// The syntax tree: what was written, nothing resolved. It covers the whole grammar, and holds comments and
// blank lines as far as the printer needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dsl/source.h"

namespace einkern::dsl::ast {

/// A name where it stands. Where a type stands, the names of built-in and of generic types are identifiers
/// too.
struct Identifier {
  std::string text;
  SourceRange range;
};

struct Expression;
using ExpressionPointer = std::unique_ptr<Expression>;

/// `42`, `1e-5`. An integer fits 64 unsigned bits; `real` is the value of either kind.
struct Number {
  std::string text;
  bool is_float = false;
  std::uint64_t integer = 0;
  double real = 0;
};

enum class Constant { infinity, not_a_number, true_value, false_value };

/// `x` with neither call nor index: a scalar, dim, index variable, rank-0 tensor, or a whole tensor as an
/// argument.
struct Name {
  std::string text;
};

/// A built-in type where a value could stand: the first argument of `largest(bf16)` or `bitcast(u32, x)`.
struct TypeName {
  std::string text;
};

enum class UnaryOperator { negate, complement, logical_not };
struct Unary {
  UnaryOperator operation;
  ExpressionPointer operand;
};

enum class BinaryOperator {
  multiply,
  divide,
  modulo,
  add,
  subtract,
  shift_left,
  shift_right,  //
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or
};
struct Binary {
  BinaryOperator operation;
  SourceRange operator_range;
  ExpressionPointer left;
  ExpressionPointer right;
};

enum class Comparator { less, less_equal, greater, greater_equal, equal, not_equal };
/// `a < b`, `0 <= s - t < W`: one operand more than comparators, all in one direction.
struct Comparison {
  std::vector<Comparator> comparators;
  std::vector<ExpressionPointer> operands;
};

/// `x[i - 1] else 0`: `guarded` is always an Index; `otherwise` may be an Else.
struct Else {
  ExpressionPointer guarded;
  ExpressionPointer otherwise;
};

/// `f(a, b)`: a built-in or the user's function, or a cast, the callee then being a built-in or generic
/// type's name.
struct Call {
  Identifier callee;
  std::vector<ExpressionPointer> arguments;
};

/// One position between the brackets of a read: an expression, or `:` (null).
struct Subscript {
  SourceRange range;
  ExpressionPointer expression;
};

/// `x[i, j]`, `x[b, :, :]` (a slice), `softmax(x)[r, c]`: `base` is a Name or a Call.
struct Index {
  ExpressionPointer base;
  std::vector<Subscript> subscripts;
};

/// `a..b`, half open.
struct Bounds {
  SourceRange range;
  ExpressionPointer begin;
  ExpressionPointer end;
};

/// `k` or `k in 0..N`.
struct ReductionVariable {
  Identifier name;
  std::optional<Bounds> bounds;
};

/// The names that reduce: sum, prod, mean, max, min, any, all, argmax, argmin.
std::span<const std::string_view> reduction_names();

/// `sum(k) body`, `argmax(e, nth = j) body`. `operation` is one of reduction_names().
struct Reduction {
  Identifier operation;
  std::vector<ReductionVariable> variables;
  ExpressionPointer nth;  ///< null without `nth =`
  ExpressionPointer body;
};

/// One expression. A tree has at most limits::expression_height levels, so recursion over it is safe.
struct Expression {
  using Node =
      std::variant<Number, Constant, Name, TypeName, Unary, Binary, Comparison, Else, Call, Index, Reduction>;

  SourceRange range;           ///< with the parentheses around it, if any
  bool parenthesised = false;  ///< parentheses stood around it; they mean nothing beyond the tree's shape
  std::uint32_t height = 1;    ///< 1 for a leaf, else 1 more than the highest child
  Node node;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

/// Makes an expression and works out its height.
ExpressionPointer make_expression(SourceRange range, Expression::Node node);
ExpressionPointer clone(const Expression& expression);
/// The direct children in source order (for an Index its base first).
std::vector<const Expression*> children(const Expression& expression);

/// A comment, from its `#` to the end of its line, trailing blanks cut.
struct Comment {
  std::string text;
  SourceRange range;
  bool blank_line_before = false;
};

/// What stands around an item without being part of the program.
struct Trivia {
  bool blank_line_before = false;  ///< between the leading comments, if any, and the item
  std::vector<Comment> leading;    ///< on lines of their own above the item
  std::vector<Comment> trailing;   ///< on the item's last line, after it
};

/// `T: f16 | bf16` or `T: float`: the choices are type names, or one of the sets float, int, any.
struct TypeParameter {
  Identifier name;
  std::vector<Identifier> choices;
};

/// `x: T[M, K]`, `cache: inout bf16[L]`, `scale: f32 = 1.0 / sqrt(D)`, `C: dim`.
struct Parameter {
  Identifier name;
  bool is_inout = false;
  bool is_dim = false;                   ///< then `type` is the word `dim`
  Identifier type;                       ///< a built-in or generic type's name
  std::vector<ExpressionPointer> shape;  ///< empty for a scalar
  ExpressionPointer default_value;       ///< null without one
  SourceRange range;
  Trivia trivia;
};

/// `y: f32[M, N]`, or `loss: f32` of rank 0.
struct ResultDeclaration {
  Identifier name;
  Identifier type;
  std::vector<ExpressionPointer> shape;
  SourceRange range;
};

/// An item after `where`: a derivation `G = H / HK` (`derived` is the G) or a constraint `H % HK == 0`.
struct WhereItem {
  std::optional<Identifier> derived;
  ExpressionPointer expression;
  SourceRange range;
};

/// `@precision(bf16)`. In the arguments, words such as `exact`, `error` and `tf32` are Names.
struct Attribute {
  Identifier name;
  std::vector<ExpressionPointer> arguments;
  SourceRange range;
};

/// A position on the left side: an expression (a bare Name in a definition), or a variable with its bounds.
struct TargetIndex {
  ExpressionPointer expression;
  std::optional<Bounds> bounds;  ///< `v in a..b`; then `expression` is the Name `v`
};

/// `y[i, j in 0..N]`, `loss`; with an optional type of a local tensor: `h[i, j]: bf16`.
struct Target {
  Identifier name;
  std::vector<TargetIndex> indices;  ///< empty for rank 0 and for a whole tensor (`y = softmax(h)`)
  std::optional<Identifier> type;
  SourceRange range;
};

enum class Assignment { define, add, maximum, minimum };  ///< `=`, `+=`, `max=`, `min=`

/// `y[i] = …`, `q, s = quantise(x)`, `y[t[n]] += …`. Whether `=` defines or updates is the checker's to see.
struct Definition {
  std::vector<Target> targets;
  Assignment assignment = Assignment::define;
  SourceRange operator_range;
  ExpressionPointer value;
  SourceRange range;
  Trivia trivia;
};

/// One function. Its trivia holds the comments above it, documentation included.
struct Function {
  std::vector<Attribute> attributes;
  Identifier name;
  std::vector<TypeParameter> type_parameters;
  std::vector<Parameter> parameters;
  std::vector<ResultDeclaration> results;  ///< empty: the function works through `inout`
  std::vector<WhereItem> where;
  std::vector<Definition> body;
  std::string documentation;  ///< the comment lines directly above, without their `# `
  bool incomplete = false;    ///< a part could not be read: what is missing has had its error
  bool on_one_line = false;   ///< the braces stood on one line
  Trivia trivia;
  std::vector<Comment> parameters_end;    ///< on lines of their own before the `)` of the parameters
  std::vector<Comment> after_open_brace;  ///< on the line of `{`
  std::vector<Comment> body_end;          ///< on lines of their own before `}`
  SourceRange signature;                  ///< from `fn` to before `{`
  SourceRange parameter_list;             ///< from `(` to `)`
  SourceRange braces;                     ///< from `{` to `}`
  SourceRange range;
};

/// The functions of one source, in order.
struct Module {
  std::uint32_t file = 0;
  std::vector<Function> functions;
  std::vector<Comment> end;  ///< comments below the last function
};

/// Same program: structure, names, spelling of numbers; not ranges, comments, parentheses or line breaks.
bool equal(const Expression& left, const Expression& right);
bool equal(const Function& left, const Function& right);
bool equal(const Module& left, const Module& right);

/// How operators are written: "*", "and", "<=", "max=", "inf".
const char* spelling(UnaryOperator operation);
const char* spelling(BinaryOperator operation);
const char* spelling(Comparator comparator);
const char* spelling(Assignment assignment);
const char* spelling(Constant constant);

}  // namespace einkern::dsl::ast
