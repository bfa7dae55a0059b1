// Recursive descent over expressions. docs/language.md holds the same productions.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "dsl/ast.h"
#include "dsl/token_cursor.h"

namespace einkern::dsl {

/// The names of the functions that the sources define.
using FunctionNames = std::set<std::string, std::less<>>;

/// Every function returns a complete expression, or null after it reported an error.
class ExpressionParser {
 public:
  ExpressionParser(TokenCursor& cursor, const FunctionNames& functions)
      : cursor_(cursor), functions_(functions) {}

  /// An expression where `else` may stand: a whole right side or a whole argument.
  ast::ExpressionPointer parse_value();
  /// An expression anywhere else; an `else` is reported with the parentheses that it needs.
  ast::ExpressionPointer parse_expression();
  /// `a..b` after `in`.
  std::optional<ast::Bounds> parse_bounds();

 private:
  /// Counts how deep the parser is inside brackets and prefixes, so that no input can overflow the stack.
  /// False, with an error, once it is too deep.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    explicit operator bool() const { return fits_; }

   private:
    ExpressionParser& parser_;
    bool fits_;
  };
  struct ArgumentList;

  ast::ExpressionPointer parse_disjunction();
  ast::ExpressionPointer parse_conjunction();
  ast::ExpressionPointer parse_negation();
  ast::ExpressionPointer parse_comparison();
  ast::ExpressionPointer parse_binary(int lowest_level);
  ast::ExpressionPointer parse_unary();
  ast::ExpressionPointer parse_indexed();
  ast::ExpressionPointer parse_primary();
  ast::ExpressionPointer parse_number();
  ast::ExpressionPointer parse_parenthesised();
  ast::ExpressionPointer parse_named();
  ast::ExpressionPointer parse_index(ast::ExpressionPointer base);
  std::optional<ast::Subscript> parse_subscript();

  bool parse_arguments(ArgumentList& list);
  bool parse_argument(ArgumentList& list);
  ast::ExpressionPointer parse_after_arguments(ast::Identifier name, ArgumentList list);
  ast::ExpressionPointer parse_reduction(ast::Identifier name, ArgumentList list);
  ast::ExpressionPointer parse_reduction_body(const ast::Identifier& name, SourceRange head);
  bool only_reduces(std::string_view name, const ArgumentList& list) const;
  bool at_body() const;
  void warn_about_trailing_quotient(const ast::Reduction& reduction, SourceRange whole);

  ast::ExpressionPointer make(SourceRange range, ast::Expression::Node node);
  Diagnostic& error(SourceRange range, std::string message) {
    return cursor_.diagnostics().error(range, std::move(message));
  }

  TokenCursor& cursor_;
  const FunctionNames& functions_;
  std::size_t nesting_ = 0;
};

}  // namespace einkern::dsl
