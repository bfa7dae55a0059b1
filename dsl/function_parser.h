// Recursive descent over functions: signatures, definitions, and going on after an error.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/expression_parser.h"
#include "dsl/limits.h"
#include "dsl/token_cursor.h"

namespace einkern::dsl {

class FunctionParser {
 public:
  FunctionParser(TokenCursor& cursor, const FunctionNames& functions)
      : cursor_(cursor), expressions_(cursor, functions) {}

  std::vector<ast::Function> parse_module();

 private:
  void parse_function(std::vector<ast::Function>& functions);
  bool parse_attributes(ast::Function& function);
  bool parse_signature(ast::Function& function);
  bool parse_type_parameter(ast::Function& function);
  bool parse_parameter(ast::Function& function);
  bool parse_result(ast::Function& function);
  bool parse_where_item(ast::Function& function);
  bool parse_shape(std::vector<ast::ExpressionPointer>& shape);
  std::optional<ast::Identifier> parse_new_name(std::string_view what);
  std::optional<ast::Identifier> parse_type();
  bool expect_type_colon(const ast::Identifier& name);

  void parse_body(ast::Function& function);
  bool parse_definition(ast::Definition& definition);
  bool parse_target(ast::Target& target);
  bool parse_target_index(ast::Target& target);
  bool parse_assignment(ast::Definition& definition);
  bool expect_end_of_definition();

  bool at_definition_line() const;
  void recover_in_body(std::size_t start);
  void recover_outside();
  void report_stray_text();

  /// Items separated by commas, at most `limit` of them, each read by `parse_item`.
  template <typename ParseItem>
  bool parse_list(const char* plural, std::size_t limit, ParseItem parse_item);
  Diagnostic& error(SourceRange range, std::string message) {
    return cursor_.diagnostics().error(range, std::move(message));
  }

  TokenCursor& cursor_;
  ExpressionParser expressions_;
};

template <typename ParseItem>
bool FunctionParser::parse_list(const char* plural, std::size_t limit, ParseItem parse_item) {
  std::size_t count = 0;
  do {
    if (count++ == limit) {
      error(cursor_.peek().range, fmt::format("there are {}", limits::exceeded(plural, limit)));
      return false;
    }
    if (!parse_item()) return false;
  } while (cursor_.accept(TokenKind::comma));
  return true;
}

}  // namespace einkern::dsl
