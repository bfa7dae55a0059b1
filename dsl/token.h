// The words of the language.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dsl/source.h"

namespace einkern::dsl {

enum class TokenKind : std::uint8_t {
  end_of_file,
  identifier,
  type_name,  ///< a built-in type, bool … f64
  integer,
  real,
  // keywords
  kw_fn,
  kw_where,
  kw_in,
  kw_else,
  kw_and,
  kw_or,
  kw_not,
  kw_inout,
  kw_dim,
  kw_true,
  kw_false,
  kw_inf,
  kw_nan,
  // brackets and separators
  left_parenthesis,
  right_parenthesis,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  comma,
  semicolon,
  colon,
  at,
  arrow,
  dots,
  // assignments
  assign,
  add_assign,
  // operators
  plus,
  minus,
  star,
  slash,
  percent,
  shift_left,
  shift_right,
  ampersand,
  caret,
  bar,
  tilde,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
};

struct Token {
  TokenKind kind = TokenKind::end_of_file;
  bool newline_before = false;  ///< the first token of its line
  SourceRange range;
};

/// The keyword or type name that a word is, if it is one.
std::optional<TokenKind> reserved_word(std::string_view word);
/// How a token is called in a message: "`+=`", "a name", "the end of the file".
std::string_view describe(TokenKind kind);
/// Operators with a left and a right side: a line that ends or begins with one goes on. `else` counts as one.
bool is_binary_operator(TokenKind kind);

}  // namespace einkern::dsl
