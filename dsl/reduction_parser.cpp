// The part of ExpressionParser that reads names: values, calls, casts and reductions.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/expression_parser.h"
#include "dsl/limits.h"

namespace einkern::dsl {

using ast::ExpressionPointer;

namespace {

bool is_reduction(std::string_view name) {
  const auto names = ast::reduction_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether an expression reads one of the variables, those not counted that an inner reduction shadows.
bool uses_any(const ast::Expression& expression, const std::vector<std::string_view>& variables) {
  if (const auto* name = expression.as<ast::Name>())
    return std::find(variables.begin(), variables.end(), name->text) != variables.end();
  std::vector<std::string_view> visible = variables;
  const auto* reduction = expression.as<ast::Reduction>();
  if (reduction)
    for (const ast::ReductionVariable& variable : reduction->variables)
      std::erase(visible, variable.name.text);
  for (const ast::Expression* child : ast::children(expression)) {
    const bool inside = reduction && child == reduction->body.get();
    if (uses_any(*child, inside ? visible : variables)) return true;
  }
  return false;
}

}  // namespace

/// What stands between the parentheses after a name, before it is known whether that is a call or a
/// reduction.
struct ExpressionParser::ArgumentList {
  std::vector<ast::ReductionVariable> variables;  ///< every argument that can be one
  std::vector<ExpressionPointer> arguments;
  ExpressionPointer nth;
  bool has_bounds = false;
  SourceRange range;  ///< with the parentheses

  bool holds_only_variables() const { return arguments.size() <= variables.size() && !variables.empty(); }
  bool must_reduce() const { return has_bounds || nth; }
};

// named = name | type | ( name | type | "where" ) "(" arguments ")" [ body ]
ExpressionPointer ExpressionParser::parse_named() {
  const Token& token = cursor_.take();
  ast::Identifier name{std::string(cursor_.text(token)), token.range};
  if (cursor_.at(TokenKind::left_parenthesis) && !cursor_.at_new_line()) {
    ArgumentList list;
    if (!parse_arguments(list)) return nullptr;
    return parse_after_arguments(std::move(name), std::move(list));
  }
  if (token.kind == TokenKind::type_name) return make(token.range, ast::TypeName{name.text});
  return make(token.range, ast::Name{name.text});
}

// arguments = [ argument { "," argument } ]
bool ExpressionParser::parse_arguments(ArgumentList& list) {
  const Nesting nesting(*this);
  if (!nesting) return false;
  const Token& open = cursor_.take();
  const TokenCursor::Brackets brackets(cursor_);
  if (!cursor_.at(TokenKind::right_parenthesis)) {
    std::size_t count = 0;
    do {
      if (count++ == limits::parameters) {
        error(cursor_.peek().range,
              fmt::format("this call has {}", limits::exceeded("arguments", limits::parameters)));
        return false;
      }
      if (!parse_argument(list)) return false;
    } while (cursor_.accept(TokenKind::comma));
  }
  if (!cursor_.expect_closing(TokenKind::right_parenthesis, open)) return false;
  list.range = cursor_.since(open.range);
  return true;
}

// argument = value | variable "in" bounds | "nth" "=" value
bool ExpressionParser::parse_argument(ArgumentList& list) {
  const Token& first = cursor_.peek();
  if (first.kind == TokenKind::identifier && cursor_.peek(1).kind == TokenKind::kw_in) {
    ast::Identifier name{std::string(cursor_.text(cursor_.take())), first.range};
    cursor_.take();
    auto bounds = parse_bounds();
    if (!bounds) return false;
    list.variables.push_back({std::move(name), std::move(bounds)});
    list.has_bounds = true;
    return true;
  }
  if (cursor_.at_word("nth") && cursor_.peek(1).kind == TokenKind::assign) {
    cursor_.take();
    cursor_.take();
    if (list.nth) error(first.range, "`nth =` stands twice here");
    list.nth = parse_value();
    return list.nth != nullptr;
  }
  auto value = parse_value();
  if (!value) return false;
  if (const auto* name = value->as<ast::Name>(); name && !value->parenthesised)
    list.variables.push_back({{name->text, value->range}, std::nullopt});
  list.arguments.push_back(std::move(value));
  return true;
}

/// A body begins with a name, a number or `(`, on the line where the list of variables ended.
bool ExpressionParser::at_body() const {
  if (cursor_.peek().newline_before) return false;
  switch (cursor_.peek().kind) {
    case TokenKind::identifier:
    case TokenKind::type_name:
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::left_parenthesis:
    case TokenKind::kw_true:
    case TokenKind::kw_false:
    case TokenKind::kw_inf:
    case TokenKind::kw_nan:
      return true;
    case TokenKind::kw_where:
      return cursor_.peek(1).kind == TokenKind::left_parenthesis;
    default:
      return false;
  }
}

/// Whether `name(list)` can be nothing but a reduction: max and min are functions too, and a user's function
/// goes first.
bool ExpressionParser::only_reduces(std::string_view name, const ArgumentList& list) const {
  if (list.must_reduce()) return true;
  if (!is_reduction(name) || functions_.contains(name)) return false;
  return (name != "max" && name != "min") || list.arguments.size() == 1;
}

ExpressionPointer ExpressionParser::parse_after_arguments(ast::Identifier name, ArgumentList list) {
  const bool reduces = list.must_reduce() || (list.holds_only_variables() && at_body());
  if (is_reduction(name.text) && (reduces || only_reduces(name.text, list)))
    return parse_reduction(std::move(name), std::move(list));
  if (reduces) {
    const std::string_view meant = nearest_name(name.text, ast::reduction_names());
    if (!meant.empty() || list.must_reduce()) {
      Diagnostic& diagnostic = error(name.range, fmt::format("`{}` is no reduction; there are {}", name.text,
                                                             fmt::join(ast::reduction_names(), ", ")));
      if (!meant.empty()) diagnostic.replace(name.range, std::string(meant));
      return nullptr;
    }
  }
  const SourceRange whole = SourceRange::joining(name.range, list.range);
  return make(whole, ast::Call{std::move(name), std::move(list.arguments)});
}

// reduction = name "(" variable { "," variable } [ "," "nth" "=" value ] ")" body
// variable = name [ "in" bounds ]
ExpressionPointer ExpressionParser::parse_reduction(ast::Identifier name, ArgumentList list) {
  const SourceRange head = SourceRange::joining(name.range, list.range);
  const auto plain =
      static_cast<std::size_t>(std::count_if(list.variables.begin(), list.variables.end(),
                                             [](const ast::ReductionVariable& v) { return !v.bounds; }));
  if (list.variables.empty() || plain != list.arguments.size()) {
    error(list.range,
          fmt::format("`{0}` reduces over index variables, listed by name: {0}(k) x[k]", name.text))
        .also(name.range);
    return nullptr;
  }
  if (list.variables.size() > limits::rank) {
    error(list.range, fmt::format("this reduction has {}", limits::exceeded("variables", limits::rank)));
    return nullptr;
  }
  auto body = parse_reduction_body(name, head);
  if (!body) return nullptr;
  const SourceRange whole = SourceRange::joining(name.range, body->range);
  ast::Reduction reduction{std::move(name), std::move(list.variables), std::move(list.nth), std::move(body)};
  warn_about_trailing_quotient(reduction, whole);
  return make(whole, std::move(reduction));
}

// body = unary { ( "*" | "/" | "%" ) unary }        its first token a name, a number or "("
ExpressionPointer ExpressionParser::parse_reduction_body(const ast::Identifier& name, SourceRange head) {
  constexpr int product_level = 5;
  const Nesting nesting(*this);
  if (!nesting) return nullptr;
  if (at_body()) return parse_binary(product_level);
  const TokenKind next = cursor_.peek().kind;
  const bool prefix = next == TokenKind::minus || next == TokenKind::tilde || next == TokenKind::kw_not;
  if (prefix && !cursor_.peek().newline_before) {
    const SourceRange sign = cursor_.peek().range;
    auto body = next == TokenKind::kw_not ? parse_negation() : parse_binary(product_level);
    if (!body) return nullptr;
    error(sign, fmt::format("the body of `{}` begins with a name, a number or `(`", name.text))
        .also(head)
        .parenthesise(body->range);
    return body;
  }
  if (cursor_.peek().newline_before && !cursor_.at(TokenKind::right_brace) &&
      !cursor_.at(TokenKind::end_of_file))
    error(head.after(), fmt::format("the body of `{}` must begin on this line", name.text)).also(head);
  else
    error(head, fmt::format("`{0}` needs a body, the values that it reduces: {0}(k) x[k]", name.text));
  return nullptr;
}

/// `sum(k) a[k] / N` divides every term, which people seldom mean and integers do not forgive.
void ExpressionParser::warn_about_trailing_quotient(const ast::Reduction& reduction, SourceRange whole) {
  const auto* last = reduction.body->as<ast::Binary>();
  if (!last || reduction.body->parenthesised) return;
  if (last->operation != ast::BinaryOperator::divide && last->operation != ast::BinaryOperator::modulo)
    return;
  std::vector<std::string_view> variables;
  for (const ast::ReductionVariable& variable : reduction.variables) variables.push_back(variable.name.text);
  if (uses_any(*last->right, variables)) return;
  cursor_.diagnostics()
      .warning(last->operator_range,
               fmt::format("this `{}` belongs to the body of `{}`, though its right side uses none of "
                           "the reduced variables",
                           spelling(last->operation), reduction.operation.text))
      .also(last->right->range)
      .note(reduction.body->range, "parentheses around the body say that this is meant")
      .insert_before(whole, "(")
      .insert_after(last->left->range, ")");
}

}  // namespace einkern::dsl
