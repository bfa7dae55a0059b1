// The part of FunctionParser that reads what stands between `fn` and `{`.
#include <fmt/format.h>

#include "dsl/function_parser.h"

namespace einkern::dsl {

// signature = "fn" name [ "<" type_parameter { "," type_parameter } ">" ] "(" [ parameter { "," parameter } ]
// ")"
//             [ "->" result { "," result } ] [ "where" where_item { "," where_item } ]
bool FunctionParser::parse_signature(ast::Function& function) {
  cursor_.take();
  auto name = parse_new_name("a function's name");
  if (!name) return false;
  function.name = std::move(*name);
  if (cursor_.accept(TokenKind::less)) {
    if (!parse_list("type parameters", limits::parameters, [&] { return parse_type_parameter(function); }))
      return false;
    if (!cursor_.expect(TokenKind::greater)) return false;
  }
  const Token& open = cursor_.peek();
  if (!cursor_.expect(TokenKind::left_parenthesis)) return false;
  if (!cursor_.at(TokenKind::right_parenthesis) &&
      !parse_list("parameters", limits::parameters, [&] { return parse_parameter(function); }))
    return false;
  if (!cursor_.accept(TokenKind::right_parenthesis)) {
    cursor_.unexpected("`,` or `)`").note(open.range, "to close this `(`");
    return false;
  }
  function.parameter_list = cursor_.since(open.range);
  if (cursor_.accept(TokenKind::arrow) &&
      !parse_list("results", limits::parameters, [&] { return parse_result(function); }))
    return false;
  return !cursor_.accept(TokenKind::kw_where) ||
         parse_list("constraints", limits::parameters, [&] { return parse_where_item(function); });
}

// type_parameter = name ":" type { "|" type }
bool FunctionParser::parse_type_parameter(ast::Function& function) {
  auto name = parse_new_name("a type parameter's name");
  if (!name) return false;
  if (!cursor_.at(TokenKind::colon)) {
    cursor_.unexpected("`:`").note(name->range,
                                   fmt::format("say which types it may be, such as {}: float", name->text));
    return false;
  }
  cursor_.take();
  ast::TypeParameter parameter{std::move(*name), {}};
  do {
    auto choice = parse_type();
    if (!choice) return false;
    parameter.choices.push_back(std::move(*choice));
  } while (cursor_.accept(TokenKind::bar));
  function.type_parameters.push_back(std::move(parameter));
  return true;
}

// parameter = name ":" ( "dim" | [ "inout" ] type [ shape ] ) [ "=" expression ]
bool FunctionParser::parse_parameter(ast::Function& function) {
  const SourceRange start = cursor_.peek().range;
  ast::Parameter parameter;
  if (cursor_.at(TokenKind::kw_inout) && cursor_.peek(1).kind == TokenKind::identifier) {
    error(start, "`inout` stands before the type: cache: inout bf16[B, L]");
    return false;
  }
  auto name = parse_new_name("a parameter's name");
  if (!name) return false;
  parameter.name = std::move(*name);
  if (!expect_type_colon(parameter.name)) return false;
  if (cursor_.at(TokenKind::kw_dim)) {
    const Token& dim = cursor_.take();
    parameter.is_dim = true;
    parameter.type = {"dim", dim.range};
    if (cursor_.at(TokenKind::left_bracket)) {
      error(cursor_.peek().range, "a dim is one integer and has no shape").also(dim.range);
      return false;
    }
  } else {
    parameter.is_inout = cursor_.accept(TokenKind::kw_inout);
    auto type = parse_type();
    if (!type || !parse_shape(parameter.shape)) return false;
    parameter.type = std::move(*type);
  }
  if (cursor_.accept(TokenKind::assign)) {
    parameter.default_value = expressions_.parse_expression();
    if (!parameter.default_value) return false;
  }
  parameter.range = cursor_.since(start);
  function.parameters.push_back(std::move(parameter));
  return true;
}

// result = name ":" type [ shape ]
bool FunctionParser::parse_result(ast::Function& function) {
  const Token& first = cursor_.peek();
  const bool no_name =
      first.kind == TokenKind::type_name ||
      (first.kind == TokenKind::identifier && cursor_.peek(1).kind == TokenKind::left_bracket);
  if (no_name) {
    error(first.range, "a result has a name, by which the body defines it").insert_before(first.range, "y: ");
    return false;
  }
  auto name = parse_new_name("a result's name");
  if (!name || !expect_type_colon(*name)) return false;
  ast::ResultDeclaration result;
  result.name = std::move(*name);
  auto type = parse_type();
  if (!type || !parse_shape(result.shape)) return false;
  result.type = std::move(*type);
  result.range = cursor_.since(first.range);
  function.results.push_back(std::move(result));
  return true;
}

// where_item = name "=" expression | expression
bool FunctionParser::parse_where_item(ast::Function& function) {
  const SourceRange start = cursor_.peek().range;
  ast::WhereItem item;
  if (cursor_.at(TokenKind::identifier) && cursor_.peek(1).kind == TokenKind::assign) {
    item.derived = ast::Identifier{std::string(cursor_.text(cursor_.peek())), start};
    cursor_.take();
    cursor_.take();
  }
  item.expression = expressions_.parse_expression();
  if (!item.expression) return false;
  if (cursor_.at(TokenKind::assign)) {
    error(cursor_.peek().range, "a derivation has one dim on its left; a constraint is written with `==`")
        .also(item.expression->range)
        .replace(cursor_.peek().range, "==");
    return false;
  }
  item.range = cursor_.since(start);
  function.where.push_back(std::move(item));
  return true;
}

// shape = "[" expression { "," expression } "]"
bool FunctionParser::parse_shape(std::vector<ast::ExpressionPointer>& shape) {
  if (!cursor_.at(TokenKind::left_bracket)) return true;
  const Token& open = cursor_.take();
  if (cursor_.at(TokenKind::right_bracket)) {
    const SourceRange both = SourceRange::joining(open.range, cursor_.take().range);
    error(both, "rank 0 is written without brackets").replace(both, "");
    return true;
  }
  const bool complete = parse_list("dimensions", limits::rank, [&] {
    shape.push_back(expressions_.parse_expression());
    return shape.back() != nullptr;
  });
  return complete && cursor_.expect_closing(TokenKind::right_bracket, open);
}

std::optional<ast::Identifier> FunctionParser::parse_new_name(std::string_view what) {
  const Token& token = cursor_.peek();
  if (token.kind == TokenKind::identifier) {
    cursor_.take();
    return ast::Identifier{std::string(cursor_.text(token)), token.range};
  }
  if (reserved_word(cursor_.text(token)) && !cursor_.at_new_line())
    error(token.range,
          fmt::format("`{}` is a word of the language and cannot be {}", cursor_.text(token), what));
  else
    cursor_.unexpected(what);
  return std::nullopt;
}

std::optional<ast::Identifier> FunctionParser::parse_type() {
  const Token& token = cursor_.peek();
  if (token.kind != TokenKind::identifier && token.kind != TokenKind::type_name) {
    cursor_.unexpected("a type");
    return std::nullopt;
  }
  cursor_.take();
  return ast::Identifier{std::string(cursor_.text(token)), token.range};
}

/// The `:` between a name and its type; knows the order in which C and Go write the two.
bool FunctionParser::expect_type_colon(const ast::Identifier& name) {
  if (cursor_.accept(TokenKind::colon)) return true;
  const TokenKind next = cursor_.peek().kind;
  Diagnostic& diagnostic = cursor_.unexpected("`:` and a type");
  if (next == TokenKind::type_name || next == TokenKind::kw_inout || next == TokenKind::kw_dim)
    diagnostic.insert_after(name.range, ":");
  return false;
}

}  // namespace einkern::dsl
