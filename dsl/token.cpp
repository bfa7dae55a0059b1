#include "dsl/token.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/dtype.h"

namespace einkern::dsl {
namespace {

constexpr std::pair<std::string_view, TokenKind> keywords[] = {
    {"fn", TokenKind::kw_fn},     {"where", TokenKind::kw_where}, {"in", TokenKind::kw_in},
    {"else", TokenKind::kw_else}, {"and", TokenKind::kw_and},     {"or", TokenKind::kw_or},
    {"not", TokenKind::kw_not},   {"inout", TokenKind::kw_inout}, {"dim", TokenKind::kw_dim},
    {"true", TokenKind::kw_true}, {"false", TokenKind::kw_false}, {"inf", TokenKind::kw_inf},
    {"nan", TokenKind::kw_nan},
};

constexpr std::pair<TokenKind, std::string_view> descriptions[] = {
    {TokenKind::end_of_file, "the end of the file"},
    {TokenKind::identifier, "a name"},
    {TokenKind::type_name, "a type"},
    {TokenKind::integer, "a number"},
    {TokenKind::real, "a number"},
    {TokenKind::kw_fn, "`fn`"},
    {TokenKind::kw_where, "`where`"},
    {TokenKind::kw_in, "`in`"},
    {TokenKind::kw_else, "`else`"},
    {TokenKind::kw_and, "`and`"},
    {TokenKind::kw_or, "`or`"},
    {TokenKind::kw_not, "`not`"},
    {TokenKind::kw_inout, "`inout`"},
    {TokenKind::kw_dim, "`dim`"},
    {TokenKind::kw_true, "`true`"},
    {TokenKind::kw_false, "`false`"},
    {TokenKind::kw_inf, "`inf`"},
    {TokenKind::kw_nan, "`nan`"},
    {TokenKind::left_parenthesis, "`(`"},
    {TokenKind::right_parenthesis, "`)`"},
    {TokenKind::left_bracket, "`[`"},
    {TokenKind::right_bracket, "`]`"},
    {TokenKind::left_brace, "`{`"},
    {TokenKind::right_brace, "`}`"},
    {TokenKind::comma, "`,`"},
    {TokenKind::semicolon, "`;`"},
    {TokenKind::colon, "`:`"},
    {TokenKind::at, "`@`"},
    {TokenKind::arrow, "`->`"},
    {TokenKind::dots, "`..`"},
    {TokenKind::assign, "`=`"},
    {TokenKind::add_assign, "`+=`"},
    {TokenKind::plus, "`+`"},
    {TokenKind::minus, "`-`"},
    {TokenKind::star, "`*`"},
    {TokenKind::slash, "`/`"},
    {TokenKind::percent, "`%`"},
    {TokenKind::shift_left, "`<<`"},
    {TokenKind::shift_right, "`>>`"},
    {TokenKind::ampersand, "`&`"},
    {TokenKind::caret, "`^`"},
    {TokenKind::bar, "`|`"},
    {TokenKind::tilde, "`~`"},
    {TokenKind::less, "`<`"},
    {TokenKind::less_equal, "`<=`"},
    {TokenKind::greater, "`>`"},
    {TokenKind::greater_equal, "`>=`"},
    {TokenKind::equal, "`==`"},
    {TokenKind::not_equal, "`!=`"},
};

}  // namespace

std::optional<TokenKind> reserved_word(std::string_view word) {
  for (const auto& [spelling, kind] : keywords)
    if (spelling == word) return kind;
  if (core::parse_dtype(word)) return TokenKind::type_name;
  return std::nullopt;
}

std::string_view describe(TokenKind kind) {
  for (const auto& [described, text] : descriptions)
    if (described == kind) return text;
  return "";
}

bool is_binary_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kw_else:
    case TokenKind::kw_and:
    case TokenKind::kw_or:
    case TokenKind::tilde:
      return kind != TokenKind::tilde;
    default:
      return kind >= TokenKind::plus;
  }
}

}  // namespace einkern::dsl
