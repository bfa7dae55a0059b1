#include "dsl/expression_parser.h"

#include <fmt/format.h>

#include <charconv>

#include "dsl/limits.h"

namespace einkern::dsl {

using ast::BinaryOperator;
using ast::Comparator;
using ast::ExpressionPointer;
using ast::UnaryOperator;

namespace {

/// The arithmetic operators by level, loosest first; those that reduce take level 5 with all that follows.
struct LevelledOperator {
  TokenKind token;
  BinaryOperator operation;
  int level;
};
constexpr LevelledOperator arithmetic[] = {
    {TokenKind::bar, BinaryOperator::bit_or, 0},
    {TokenKind::caret, BinaryOperator::bit_xor, 1},
    {TokenKind::ampersand, BinaryOperator::bit_and, 2},
    {TokenKind::shift_left, BinaryOperator::shift_left, 3},
    {TokenKind::shift_right, BinaryOperator::shift_right, 3},
    {TokenKind::plus, BinaryOperator::add, 4},
    {TokenKind::minus, BinaryOperator::subtract, 4},
    {TokenKind::star, BinaryOperator::multiply, 5},
    {TokenKind::slash, BinaryOperator::divide, 5},
    {TokenKind::percent, BinaryOperator::modulo, 5},
};

const LevelledOperator* arithmetic_operator(TokenKind kind) {
  for (const LevelledOperator& row : arithmetic)
    if (row.token == kind) return &row;
  return nullptr;
}

std::optional<Comparator> comparator_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::less:
      return Comparator::less;
    case TokenKind::less_equal:
      return Comparator::less_equal;
    case TokenKind::greater:
      return Comparator::greater;
    case TokenKind::greater_equal:
      return Comparator::greater_equal;
    case TokenKind::equal:
      return Comparator::equal;
    case TokenKind::not_equal:
      return Comparator::not_equal;
    default:
      return std::nullopt;
  }
}

/// 1 for < and <=, -1 for > and >=, 0 for ==; `!=` chains with nothing.
int direction_of(Comparator comparator) {
  if (comparator == Comparator::less || comparator == Comparator::less_equal) return 1;
  if (comparator == Comparator::greater || comparator == Comparator::greater_equal) return -1;
  return 0;
}

/// The read that stands last in an expression, or null: what somebody who wrote `… x[i] else 0` meant to
/// guard.
const ast::Expression* last_read(const ast::Expression& expression) {
  if (expression.parenthesised) return nullptr;
  if (expression.as<ast::Index>()) return &expression;
  if (const auto* unary = expression.as<ast::Unary>()) return last_read(*unary->operand);
  if (const auto* binary = expression.as<ast::Binary>()) return last_read(*binary->right);
  if (const auto* comparison = expression.as<ast::Comparison>())
    return last_read(*comparison->operands.back());
  if (const auto* reduction = expression.as<ast::Reduction>()) return last_read(*reduction->body);
  return nullptr;
}

/// The `any` or `all` that stands open at the left of a comparison's operand, or null.
const ast::Reduction* open_any_or_all(const ast::Expression& operand) {
  const ast::Expression* leftmost = &operand;
  while (!leftmost->parenthesised && leftmost->as<ast::Binary>())
    leftmost = leftmost->as<ast::Binary>()->left.get();
  const auto* reduction = leftmost->parenthesised ? nullptr : leftmost->as<ast::Reduction>();
  const bool found = reduction && (reduction->operation.text == "any" || reduction->operation.text == "all");
  return found ? reduction : nullptr;
}

}  // namespace

ExpressionParser::Nesting::Nesting(ExpressionParser& parser) : parser_(parser) {
  fits_ = ++parser_.nesting_ <= limits::nesting;
  if (!fits_)
    parser_.error(parser_.cursor_.peek().range,
                  fmt::format("this nests {}; give a part a definition of its own",
                              limits::exceeded("levels", limits::nesting)));
}

ExpressionPointer ExpressionParser::make(SourceRange range, ast::Expression::Node node) {
  auto expression = ast::make_expression(range, std::move(node));
  if (expression->height <= limits::expression_height) return expression;
  error(range, fmt::format("this expression has {}; give parts of it definitions of their own",
                           limits::exceeded("operators in a row", limits::expression_height)));
  return nullptr;
}

// value = disjunction [ "else" value ]        where the disjunction is a read
ExpressionPointer ExpressionParser::parse_value() {
  auto left = parse_disjunction();
  if (!left || !cursor_.at(TokenKind::kw_else)) return left;
  const Nesting nesting(*this);
  if (!nesting) return nullptr;
  const SourceRange sign = cursor_.take().range;
  auto otherwise = parse_value();
  if (!otherwise) return nullptr;
  const SourceRange whole = SourceRange::joining(left->range, otherwise->range);
  if (left->as<ast::Index>()) return make(whole, ast::Else{std::move(left), std::move(otherwise)});
  Diagnostic& diagnostic = error(sign, "`else` guards a read, and nothing but a read may stand on its left");
  diagnostic.also(left->range);
  if (const ast::Expression* read = last_read(*left))
    diagnostic.parenthesise(SourceRange::joining(read->range, otherwise->range));
  return left;
}

ExpressionPointer ExpressionParser::parse_expression() {
  auto left = parse_disjunction();
  if (!left || !cursor_.at(TokenKind::kw_else)) return left;
  const SourceRange sign = cursor_.take().range;
  auto otherwise = parse_value();
  if (!otherwise) return nullptr;
  error(sign, "`else` may stand only as a whole right side, a whole argument, or in parentheses")
      .parenthesise(SourceRange::joining(left->range, otherwise->range));
  return left;
}

// bounds = disjunction ".." disjunction
std::optional<ast::Bounds> ExpressionParser::parse_bounds() {
  auto begin = parse_expression();
  if (!begin) return std::nullopt;
  if (!cursor_.at(TokenKind::dots)) {
    cursor_.unexpected("`..` and the end of the range")
        .note(begin->range, "a range is written a..b, without its end b");
    return std::nullopt;
  }
  cursor_.take();
  auto end = parse_expression();
  if (!end) return std::nullopt;
  const SourceRange whole = SourceRange::joining(begin->range, end->range);
  return ast::Bounds{whole, std::move(begin), std::move(end)};
}

// disjunction = conjunction { "or" conjunction }
ExpressionPointer ExpressionParser::parse_disjunction() {
  auto left = parse_conjunction();
  while (left && cursor_.at(TokenKind::kw_or)) {
    const SourceRange sign = cursor_.take().range;
    auto right = parse_conjunction();
    if (!right) return nullptr;
    const SourceRange whole = SourceRange::joining(left->range, right->range);
    left = make(whole, ast::Binary{BinaryOperator::logical_or, sign, std::move(left), std::move(right)});
  }
  return left;
}

// conjunction = negation { "and" negation }
ExpressionPointer ExpressionParser::parse_conjunction() {
  auto left = parse_negation();
  while (left && cursor_.at(TokenKind::kw_and)) {
    const SourceRange sign = cursor_.take().range;
    auto right = parse_negation();
    if (!right) return nullptr;
    const SourceRange whole = SourceRange::joining(left->range, right->range);
    left = make(whole, ast::Binary{BinaryOperator::logical_and, sign, std::move(left), std::move(right)});
  }
  return left;
}

// negation = "not" negation | comparison
ExpressionPointer ExpressionParser::parse_negation() {
  if (!cursor_.at(TokenKind::kw_not)) return parse_comparison();
  const Nesting nesting(*this);
  if (!nesting) return nullptr;
  const SourceRange sign = cursor_.take().range;
  auto operand = parse_negation();
  if (!operand) return nullptr;
  const SourceRange whole = SourceRange::joining(sign, operand->range);
  return make(whole, ast::Unary{UnaryOperator::logical_not, std::move(operand)});
}

// comparison = arithmetic { ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) arithmetic }      in one direction
ExpressionPointer ExpressionParser::parse_comparison() {
  auto first = parse_binary(0);
  if (!first || !comparator_of(cursor_.peek().kind)) return first;
  const SourceRange start = first->range;
  ast::Comparison comparison;
  comparison.operands.push_back(std::move(first));
  int direction = 0;
  while (const auto comparator = comparator_of(cursor_.peek().kind)) {
    const SourceRange sign = cursor_.take().range;
    const int turn = direction_of(*comparator);
    const bool follows_not_equal =
        !comparison.comparators.empty() &&
        (comparison.comparators.back() == Comparator::not_equal || *comparator == Comparator::not_equal);
    if (direction * turn < 0 || follows_not_equal)
      error(sign, "comparisons chain in one direction only; join two with `and`");
    if (turn != 0) direction = turn;
    comparison.comparators.push_back(*comparator);
    auto operand = parse_binary(0);
    if (!operand) return nullptr;
    const ast::Expression& left = *comparison.operands.back();
    if (const ast::Reduction* reduction = open_any_or_all(left))
      error(sign, fmt::format("the body of `{}` ends before `{}`", reduction->operation.text,
                              spelling(*comparator)))
          .also(left.range)
          .parenthesise(SourceRange::joining(reduction->body->range, operand->range));
    comparison.operands.push_back(std::move(operand));
  }
  return make(cursor_.since(start), std::move(comparison));
}

// arithmetic = unary { operator unary }, the operators from loosest to tightest:  |   ^   &   << >>   + -   *
// / %
ExpressionPointer ExpressionParser::parse_binary(int lowest_level) {
  auto left = parse_unary();
  while (left) {
    const LevelledOperator* sign = arithmetic_operator(cursor_.peek().kind);
    if (!sign || sign->level < lowest_level) break;
    const SourceRange sign_range = cursor_.take().range;
    auto right = parse_binary(sign->level + 1);
    if (!right) return nullptr;
    const SourceRange whole = SourceRange::joining(left->range, right->range);
    left = make(whole, ast::Binary{sign->operation, sign_range, std::move(left), std::move(right)});
  }
  return left;
}

// unary = ( "-" | "~" ) unary | indexed
ExpressionPointer ExpressionParser::parse_unary() {
  if (!cursor_.at(TokenKind::minus) && !cursor_.at(TokenKind::tilde)) return parse_indexed();
  const Nesting nesting(*this);
  if (!nesting) return nullptr;
  const Token& sign = cursor_.take();
  auto operand = parse_unary();
  if (!operand) return nullptr;
  const auto operation = sign.kind == TokenKind::minus ? UnaryOperator::negate : UnaryOperator::complement;
  const SourceRange whole = SourceRange::joining(sign.range, operand->range);
  return make(whole, ast::Unary{operation, std::move(operand)});
}

// indexed = primary [ "[" subscript { "," subscript } "]" ]
ExpressionPointer ExpressionParser::parse_indexed() {
  auto base = parse_primary();
  while (base && cursor_.at(TokenKind::left_bracket) && !cursor_.at_new_line())
    base = parse_index(std::move(base));
  return base;
}

// primary = number | "true" | "false" | "inf" | "nan" | named | "(" value ")"
ExpressionPointer ExpressionParser::parse_primary() {
  if (cursor_.at_new_line() && !cursor_.line_goes_on()) {
    cursor_.unexpected("an expression");
    return nullptr;
  }
  const auto constant = [&](ast::Constant value) { return make(cursor_.take().range, value); };
  switch (cursor_.peek().kind) {
    case TokenKind::integer:
    case TokenKind::real:
      return parse_number();
    case TokenKind::kw_true:
      return constant(ast::Constant::true_value);
    case TokenKind::kw_false:
      return constant(ast::Constant::false_value);
    case TokenKind::kw_inf:
      return constant(ast::Constant::infinity);
    case TokenKind::kw_nan:
      return constant(ast::Constant::not_a_number);
    case TokenKind::left_parenthesis:
      return parse_parenthesised();
    case TokenKind::identifier:
    case TokenKind::type_name:
      return parse_named();
    case TokenKind::kw_where:
      if (cursor_.peek(1).kind == TokenKind::left_parenthesis) return parse_named();
      break;
    case TokenKind::kw_not:
      error(cursor_.peek().range,
            "`not` binds looser than what stands before it; put it in parentheses with its operand");
      return nullptr;
    case TokenKind::plus:
      error(cursor_.peek().range, "there is no unary `+`").replace(cursor_.peek().range, "");
      return nullptr;
    default:
      break;
  }
  Diagnostic& diagnostic = cursor_.unexpected("an expression");
  if (cursor_.at(TokenKind::assign) && !cursor_.at_new_line())
    diagnostic.note(cursor_.peek().range, "equality is written `==`");
  return nullptr;
}

ExpressionPointer ExpressionParser::parse_number() {
  const Token& token = cursor_.take();
  ast::Number number;
  number.text = std::string(cursor_.text(token));
  number.is_float = token.kind == TokenKind::real;
  const char* const begin = number.text.data();
  const char* const end = begin + number.text.size();
  if (!number.is_float && std::from_chars(begin, end, number.integer).ec != std::errc())
    error(token.range, "this integer does not fit 64 bits; the largest is 18446744073709551615");
  if (std::from_chars(begin, end, number.real).ec != std::errc() && number.is_float)
    error(token.range,
          "this number is outside the range of f64, about 1e-308 to 1.8e308; infinity is written `inf`");
  return make(token.range, std::move(number));
}

ExpressionPointer ExpressionParser::parse_parenthesised() {
  const Nesting nesting(*this);
  if (!nesting) return nullptr;
  const Token& open = cursor_.take();
  const TokenCursor::Brackets brackets(cursor_);
  auto inner = parse_value();
  if (!inner || !cursor_.expect_closing(TokenKind::right_parenthesis, open)) return nullptr;
  inner->range = cursor_.since(open.range);
  inner->parenthesised = true;
  return inner;
}

ExpressionPointer ExpressionParser::parse_index(ExpressionPointer base) {
  const Nesting nesting(*this);
  if (!nesting) return nullptr;
  const Token& open = cursor_.take();
  const TokenCursor::Brackets brackets(cursor_);
  if (base->parenthesised || !(base->as<ast::Name>() || base->as<ast::Call>())) {
    const auto* index = base->as<ast::Index>();
    Diagnostic& diagnostic = error(open.range, "only a tensor or a call can be indexed, and once");
    diagnostic.also(base->range);
    if (index && !base->parenthesised)
      diagnostic.replace(SourceRange{open.range.file, base->range.end - 1, open.range.end}, ", ");
    return nullptr;
  }
  if (cursor_.at(TokenKind::right_bracket)) {
    const SourceRange both = SourceRange::joining(open.range, cursor_.take().range);
    error(both, "a tensor of rank 0 is read by its name alone").replace(both, "");
    return base;
  }
  ast::Index index{std::move(base), {}};
  do {
    if (index.subscripts.size() == limits::rank) {
      error(cursor_.peek().range, fmt::format("this read has {}", limits::exceeded("indices", limits::rank)));
      return nullptr;
    }
    auto subscript = parse_subscript();
    if (!subscript) return nullptr;
    index.subscripts.push_back(std::move(*subscript));
  } while (cursor_.accept(TokenKind::comma));
  if (!cursor_.expect_closing(TokenKind::right_bracket, open)) return nullptr;
  const SourceRange whole = cursor_.since(index.base->range);
  return make(whole, std::move(index));
}

// subscript = expression | ":"
std::optional<ast::Subscript> ExpressionParser::parse_subscript() {
  if (cursor_.at(TokenKind::colon)) {
    const SourceRange colon = cursor_.take().range;
    if (cursor_.at(TokenKind::comma) || cursor_.at(TokenKind::right_bracket))
      return ast::Subscript{colon, nullptr};
    error(colon, "a slice `:` takes its whole dimension; a part is read with an index such as x[i + 2]");
    return std::nullopt;
  }
  auto expression = parse_expression();
  if (!expression) return std::nullopt;
  if (cursor_.at(TokenKind::colon)) {
    error(cursor_.peek().range,
          "a slice `:` takes its whole dimension; a part is read with an index such as x[i + 2]")
        .also(expression->range);
    return std::nullopt;
  }
  const SourceRange range = expression->range;
  return ast::Subscript{range, std::move(expression)};
}

}  // namespace einkern::dsl
