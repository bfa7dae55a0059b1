#include "dsl/function_parser.h"

#include <fmt/format.h>

#include "dsl/limits.h"

namespace einkern::dsl {

// module = { function }
std::vector<ast::Function> FunctionParser::parse_module() {
  std::vector<ast::Function> functions;
  while (!cursor_.at(TokenKind::end_of_file) && !cursor_.diagnostics().full()) {
    if (cursor_.at(TokenKind::kw_fn) || cursor_.at(TokenKind::at)) {
      parse_function(functions);
      continue;
    }
    if (cursor_.at(TokenKind::right_brace))
      error(cursor_.peek().range, "this `}` closes nothing");
    else if (at_definition_line())
      error(cursor_.peek().range,
            "a definition stands inside the braces of a function, which begins with `fn`");
    else
      report_stray_text();
    cursor_.take();
    recover_outside();
  }
  return functions;
}

void FunctionParser::report_stray_text() {
  const TokenCursor::Brackets newlines_do_not_count(cursor_);
  cursor_.unexpected("`fn`");
}

void FunctionParser::recover_outside() {
  while (!cursor_.at(TokenKind::end_of_file) && !cursor_.at(TokenKind::kw_fn) && !cursor_.at(TokenKind::at))
    cursor_.take();
}

// function = { attribute } signature "{" { definition } "}"
void FunctionParser::parse_function(std::vector<ast::Function>& functions) {
  const int errors_before = cursor_.diagnostics().error_count();
  const SourceRange start = cursor_.peek().range;
  ast::Function function;
  bool readable = parse_attributes(function);
  if (readable) {
    const SourceRange signature = cursor_.peek().range;
    const TokenCursor::Brackets brackets(cursor_);  // in a signature newlines do not count
    readable = parse_signature(function);
    function.signature = cursor_.since(signature);
    if (readable && !cursor_.at(TokenKind::left_brace)) {
      cursor_.unexpected(function.results.empty() ? "`->`, `where` or `{`" : "`,`, `where` or `{`");
      readable = false;
    }
  }
  while (!readable && !cursor_.at(TokenKind::left_brace) && !cursor_.at(TokenKind::right_brace) &&
         !cursor_.at(TokenKind::kw_fn) && !cursor_.at(TokenKind::at) && !cursor_.at(TokenKind::end_of_file))
    cursor_.take();
  if (cursor_.at(TokenKind::left_brace))
    parse_body(function);
  else if (cursor_.at(TokenKind::right_brace))
    cursor_.take();
  function.range = cursor_.since(start);
  function.incomplete = cursor_.diagnostics().error_count() != errors_before || cursor_.diagnostics().full();
  if (!function.name.text.empty()) functions.push_back(std::move(function));
}

// attribute = "@" name [ "(" expression { "," expression } ")" ]
bool FunctionParser::parse_attributes(ast::Function& function) {
  while (cursor_.at(TokenKind::at)) {
    const SourceRange start = cursor_.take().range;
    if (!cursor_.at(TokenKind::identifier)) {
      cursor_.unexpected("an attribute's name");
      return false;
    }
    ast::Attribute attribute;
    attribute.name = {std::string(cursor_.text(cursor_.peek())), cursor_.peek().range};
    cursor_.take();
    if (cursor_.at(TokenKind::left_parenthesis)) {
      const Token& open = cursor_.take();
      const TokenCursor::Brackets brackets(cursor_);
      const bool complete = parse_list("arguments", limits::parameters, [&] {
        attribute.arguments.push_back(expressions_.parse_expression());
        return attribute.arguments.back() != nullptr;
      });
      if (!complete || !cursor_.expect_closing(TokenKind::right_parenthesis, open)) return false;
    }
    attribute.range = cursor_.since(start);
    function.attributes.push_back(std::move(attribute));
  }
  if (cursor_.at(TokenKind::kw_fn)) return true;
  cursor_.unexpected("`fn` after the attributes");
  return false;
}

/// Whether a line begins here that defines something: a name, then perhaps brackets or more names, then an
/// assignment.
bool FunctionParser::at_definition_line() const {
  if (!cursor_.at(TokenKind::identifier) && !cursor_.at(TokenKind::type_name)) return false;
  int depth = 0;
  for (std::size_t ahead = 1;; ++ahead) {
    const Token& token = cursor_.peek(ahead);
    if (token.kind == TokenKind::end_of_file || token.newline_before) return false;
    switch (token.kind) {
      case TokenKind::left_bracket:
      case TokenKind::left_parenthesis:
        ++depth;
        break;
      case TokenKind::right_bracket:
      case TokenKind::right_parenthesis:
        --depth;
        break;
      case TokenKind::assign:
      case TokenKind::add_assign:
        if (depth == 0) return true;
        break;
      case TokenKind::semicolon:
      case TokenKind::left_brace:
      case TokenKind::right_brace:
        return false;
      default:
        break;
    }
    if (depth < 0) return false;
  }
}

/// Moves to where reading definitions can go on: a line that defines something, `fn`, `@`, `}`, or after `;`.
void FunctionParser::recover_in_body(std::size_t start) {
  if (cursor_.position() == start) cursor_.take();
  for (;; cursor_.take()) {
    switch (cursor_.peek().kind) {
      case TokenKind::end_of_file:
      case TokenKind::right_brace:
      case TokenKind::kw_fn:
      case TokenKind::at:
        return;
      default:
        break;
    }
    if (cursor_.peek().newline_before && at_definition_line()) return;
  }
}

void FunctionParser::parse_body(ast::Function& function) {
  const Token& open = cursor_.take();
  while (cursor_.accept(TokenKind::semicolon)) {
  }
  while (!cursor_.at(TokenKind::right_brace) && !cursor_.diagnostics().full()) {
    const TokenKind kind = cursor_.peek().kind;
    if (kind == TokenKind::end_of_file || kind == TokenKind::kw_fn || kind == TokenKind::at) {
      const TokenCursor::Brackets newlines_do_not_count(cursor_);
      cursor_.unexpected("`}`").note(open.range, "to close the body that begins here");
      break;
    }
    const std::size_t start = cursor_.position();
    ast::Definition definition;
    if (parse_definition(definition)) {
      function.body.push_back(std::move(definition));
      if (!expect_end_of_definition()) recover_in_body(start);
    } else {
      recover_in_body(start);
    }
    while (cursor_.accept(TokenKind::semicolon)) {
    }
  }
  cursor_.accept(TokenKind::right_brace);
  function.braces = cursor_.since(open.range);
  const LineColumn first = cursor_.sources().begin(function.braces),
                   last = cursor_.sources().end(function.braces);
  function.on_one_line = first.line == last.line;
}

// definition = target { "," target } assignment value end        end = newline | ";" | before "}"
bool FunctionParser::parse_definition(ast::Definition& definition) {
  const SourceRange start = cursor_.peek().range;
  const bool targets = parse_list("targets", limits::parameters, [&] {
    definition.targets.emplace_back();
    return parse_target(definition.targets.back());
  });
  if (!targets || !parse_assignment(definition)) return false;
  definition.value = expressions_.parse_value();
  definition.range = cursor_.since(start);
  return definition.value != nullptr;
}

// target = name [ "[" target_index { "," target_index } "]" ] [ ":" type ]
bool FunctionParser::parse_target(ast::Target& target) {
  auto name = parse_new_name("a definition's name");
  if (!name) return false;
  target.name = std::move(*name);
  const bool continues = !cursor_.at_new_line();
  if (continues && cursor_.at(TokenKind::left_parenthesis) &&
      advice_for_foreign_word(target.name.text).empty()) {
    error(cursor_.peek().range, "indices stand in brackets: y[i, j] = …").also(target.name.range);
    return false;
  }
  if (continues && cursor_.at(TokenKind::left_bracket)) {
    const Token& open = cursor_.take();
    const TokenCursor::Brackets brackets(cursor_);
    if (cursor_.at(TokenKind::right_bracket)) {
      const SourceRange both = SourceRange::joining(open.range, cursor_.take().range);
      error(both, "a tensor of rank 0 is defined by its name alone").replace(both, "");
    } else if (!parse_list("indices", limits::rank, [&] { return parse_target_index(target); }) ||
               !cursor_.expect_closing(TokenKind::right_bracket, open)) {
      return false;
    }
  }
  if (!cursor_.at_new_line() && cursor_.accept(TokenKind::colon)) {
    target.type = parse_type();
    if (!target.type) return false;
  }
  target.range = cursor_.since(target.name.range);
  return true;
}

// target_index = expression [ "in" bounds ]        with "in" the expression is a name
bool FunctionParser::parse_target_index(ast::Target& target) {
  ast::TargetIndex index;
  if (cursor_.at(TokenKind::colon)) {
    error(cursor_.peek().range,
          "a left side names its indices; to define a whole tensor write its name alone");
    return false;
  }
  index.expression = expressions_.parse_expression();
  if (!index.expression) return false;
  if (cursor_.at(TokenKind::kw_in)) {
    if (!index.expression->as<ast::Name>()) {
      error(index.expression->range, "only a variable can be given a range with `in`");
      return false;
    }
    cursor_.take();
    index.bounds = expressions_.parse_bounds();
    if (!index.bounds) return false;
  }
  target.indices.push_back(std::move(index));
  return true;
}

// assignment = "=" | "+=" | "max=" | "min="
bool FunctionParser::parse_assignment(ast::Definition& definition) {
  const Token& token = cursor_.peek();
  definition.operator_range = token.range;
  if (!cursor_.at_new_line()) {
    if (cursor_.accept(TokenKind::assign)) return true;
    if (cursor_.accept(TokenKind::add_assign)) {
      definition.assignment = ast::Assignment::add;
      return true;
    }
    const bool maximum = cursor_.at_word("max"), minimum = cursor_.at_word("min");
    if ((maximum || minimum) && cursor_.peek(1).kind == TokenKind::assign) {
      definition.assignment = maximum ? ast::Assignment::maximum : ast::Assignment::minimum;
      cursor_.take();
      definition.operator_range = cursor_.since(token.range);
      cursor_.take();
      definition.operator_range.end = cursor_.previous().range.end;
      return true;
    }
    if (cursor_.at(TokenKind::equal)) {
      error(token.range, "a definition is written with `=`; `==` compares").replace(token.range, "=");
      cursor_.take();
      return true;
    }
  }
  const ast::Target& target = definition.targets.front();
  const std::string_view advice = advice_for_foreign_word(target.name.text);
  if (advice.empty())
    cursor_.unexpected("`=` or an update (`+=`, `max=`, `min=`)");
  else
    error(target.name.range, std::string(advice));
  return false;
}

bool FunctionParser::expect_end_of_definition() {
  if (cursor_.at_new_line() || cursor_.at(TokenKind::semicolon) || cursor_.at(TokenKind::right_brace))
    return true;
  if (cursor_.at(TokenKind::end_of_file)) return true;  // the missing `}` is reported
  Diagnostic& diagnostic = cursor_.unexpected("an operator or the end of the definition");
  if (at_definition_line())
    diagnostic.note(cursor_.peek().range, "definitions on one line are separated by `;`");
  return false;
}

}  // namespace einkern::dsl
