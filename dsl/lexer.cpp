#include "dsl/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "core/dtype.h"
#include "dsl/limits.h"
#include "dsl/utf8.h"

namespace einkern::dsl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

/// Longer ones first, so that the first that fits is right.
constexpr Spelling signs[] = {
    {"->", TokenKind::arrow},
    {"..", TokenKind::dots},
    {"+=", TokenKind::add_assign},
    {"<<", TokenKind::shift_left},
    {">>", TokenKind::shift_right},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal},
    {"!=", TokenKind::not_equal},
    {"(", TokenKind::left_parenthesis},
    {")", TokenKind::right_parenthesis},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},
    {",", TokenKind::comma},
    {";", TokenKind::semicolon},
    {":", TokenKind::colon},
    {"@", TokenKind::at},
    {"=", TokenKind::assign},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"*", TokenKind::star},
    {"/", TokenKind::slash},
    {"%", TokenKind::percent},
    {"&", TokenKind::ampersand},
    {"^", TokenKind::caret},
    {"|", TokenKind::bar},
    {"~", TokenKind::tilde},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
};

/// What other languages write, with what is meant here.
struct ForeignSign {
  std::string_view text;
  TokenKind meant;
  std::string_view message;
  std::string_view fix;  ///< replaces the sign, if not empty
};

constexpr ForeignSign foreign_signs[] = {
    {"...", TokenKind::dots, "there is no `...`; a range is written a..b", ""},
    {"&&", TokenKind::kw_and, "logical and is written `and`", "and"},
    {"||", TokenKind::kw_or, "logical or is written `or`", "or"},
    {"**", TokenKind::star, "there is no `**`; a power is written pow(x, y), a square x * x", ""},
    {"//", TokenKind::slash,
     "there is no `//`: `/` of integers rounds down already, and a comment begins with `#`", ""},
    {":=", TokenKind::assign, "a definition is written with `=`", "="},
    {"-=", TokenKind::add_assign,
     "updates are `=`, `+=`, `max=` and `min=`; subtract by adding a negative value", ""},
    {"*=", TokenKind::add_assign, "updates are `=`, `+=`, `max=` and `min=`", ""},
    {"/=", TokenKind::add_assign, "updates are `=`, `+=`, `max=` and `min=`", ""},
    {"=>", TokenKind::arrow, "results follow `->`", "->"},
    {"<>", TokenKind::not_equal, "not equal is written `!=`", "!="},
    {"!", TokenKind::kw_not, "logical not is written `not`", "not "},
};

class Lexer {
 public:
  Lexer(const SourceSet& sources, std::uint32_t file, DiagnosticBag& diagnostics)
      : text_(sources.file(file).text()), file_(file), diagnostics_(diagnostics) {}

  LexedSource run() {
    if (text_.size() > limits::source_bytes) {
      diagnostics_.error(range(0, 0),
                         fmt::format("the source has {}", limits::exceeded("bytes", limits::source_bytes)));
      text_ = {};
    }
    if (text_.starts_with("\xEF\xBB\xBF")) position_ = 3;  // the mark that some editors put before UTF-8
    while (skip_blanks() && !diagnostics_.full()) {
      if (result_.tokens.size() == limits::tokens) {
        diagnostics_.error(range(position_, position_ + 1),
                           fmt::format("the source has {}", limits::exceeded("tokens", limits::tokens)));
        result_.tokens.clear();
        break;
      }
      read_token();
    }
    newline_before_ = true;
    position_ = text_.size();
    push(TokenKind::end_of_file, position_);
    return std::move(result_);
  }

 private:
  SourceRange range(std::size_t begin, std::size_t end) const {
    return {file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  void push(TokenKind kind, std::size_t end) {
    result_.tokens.push_back({kind, newline_before_, range(position_, end)});
    newline_before_ = false;
    position_ = end;
  }

  /// Moves to the next byte that is neither blank nor comment; false at the end.
  bool skip_blanks() {
    std::size_t line_ends = 0;
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '\n') {
        ++line_ends;
        newline_before_ = true;
      } else if (c == '#') {
        read_comment(line_ends > 1);
        line_ends = 0;
        --position_;  // the comment's line end is still to be counted
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    return false;
  }

  void read_comment(bool blank_line_before) {
    std::size_t end = std::min(text_.find('\n', position_), text_.size());
    const std::size_t next = end;
    while (end > position_ && (text_[end - 1] == ' ' || text_[end - 1] == '\t' || text_[end - 1] == '\r'))
      --end;
    const std::string_view comment = text_.substr(position_, end - position_);
    if (const auto invalid = first_invalid_utf8(comment))
      diagnostics_.error(
          range(position_ + *invalid, position_ + *invalid + 1),
          fmt::format("byte 0x{:02X} is not UTF-8 text", static_cast<unsigned char>(comment[*invalid])));
    else if (const auto zero = comment.find('\0'); zero != std::string_view::npos)
      diagnostics_.error(range(position_ + zero, position_ + zero + 1),
                         "a NUL byte cannot stand in a source");
    result_.comments.push_back({std::string(comment), range(position_, end), blank_line_before});
    position_ = next;
  }

  void read_token() {
    const char c = text_[position_];
    if (is_word_start(c)) return read_word();
    if (is_digit(c) || (c == '.' && is_digit(at(position_ + 1)))) return read_number();
    const std::string_view rest = text_.substr(position_);
    for (const ForeignSign& sign : foreign_signs)
      if (rest.starts_with(sign.text) && !rest.starts_with("!=")) return read_foreign(sign);
    for (const Spelling& sign : signs)
      if (rest.starts_with(sign.text)) return push(sign.kind, position_ + sign.text.size());
    report_stray_bytes();
  }

  void read_foreign(const ForeignSign& sign) {
    const std::size_t end = position_ + sign.text.size();
    Diagnostic& diagnostic = diagnostics_.error(range(position_, end), std::string(sign.message));
    if (!sign.fix.empty()) diagnostic.replace(range(position_, end), std::string(sign.fix));
    if (sign.text == "//" && newline_before_)
      position_ = std::min(text_.find('\n', position_), text_.size());  // a comment, as C++ has it
    else
      push(sign.meant, end);
  }

  void read_word() {
    std::size_t end = position_;
    while (is_word(at(end))) ++end;
    const std::string_view word = text_.substr(position_, end - position_);
    if (word.size() > limits::identifier_length)
      diagnostics_.error(
          range(position_, end),
          fmt::format("this name has {}", limits::exceeded("characters", limits::identifier_length)));
    push(reserved_word(word).value_or(TokenKind::identifier), end);
  }

  // number = digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ]
  void read_number() {
    std::size_t end = position_;
    bool is_real = false;
    const auto skip_digits = [&] {
      while (is_digit(at(end))) ++end;
    };
    skip_digits();
    if (at(end) == '.' && is_digit(at(end + 1))) {
      is_real = true;
      ++end;
      skip_digits();
    }
    if (at(end) == 'e' || at(end) == 'E') {
      const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      if (is_digit(at(end + 1 + sign))) {
        is_real = true;
        end += 1 + sign;
        skip_digits();
      }
    }
    end = report_malformed_number(end, is_real);
    push(is_real ? TokenKind::real : TokenKind::integer, end);
  }

  /// Reports a number that `[position_, end)` only begins; returns the end of all that belongs to it.
  std::size_t report_malformed_number(std::size_t end, bool& is_real) {
    const std::string number(text_.substr(position_, end - position_));
    if (number.front() == '.') {
      diagnostics_.error(range(position_, end), "a number begins with a digit")
          .insert_before(range(position_, end), "0");
      return end;
    }
    if (at(end) == '.' && at(end + 1) != '.' && !is_real) {
      diagnostics_.error(range(position_, end + 1), "a digit must follow the decimal point")
          .replace(range(position_, end + 1), number + ".0");
      is_real = true;
      return end + 1;
    }
    if (!is_word(at(end))) return end;
    std::size_t word_end = end;
    while (is_word(at(word_end))) ++word_end;
    const SourceRange whole = range(position_, word_end);
    const std::string word(text_.substr(end, word_end - end));
    unsigned long long hexadecimal = 0;
    const char* const word_text_end = word.data() + word.size();
    if (number == "0" && (word[0] == 'x' || word[0] == 'X') &&
        std::from_chars(word.data() + 1, word_text_end, hexadecimal, 16).ptr == word_text_end &&
        word.size() > 1)
      diagnostics_.error(whole, "numbers are written in decimal")
          .replace(whole, fmt::format("{}", hexadecimal));
    else if (word == "f" || word == "F" || word == "u" || word == "L")
      diagnostics_.error(whole, "literals have no suffix: a number takes the type of what stands beside it")
          .replace(whole, number);
    else
      diagnostics_.error(
          whole, fmt::format("`{}{}` is neither a number nor a name; a product is written `{} * {}`", number,
                             word, number, word));
    return word_end;
  }

  void report_stray_bytes() {
    const auto byte = static_cast<unsigned char>(text_[position_]);
    std::size_t end = position_ + 1;
    if (byte >= 0x80) {
      while (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x80) ++end;
      if (const auto invalid = first_invalid_utf8(text_.substr(position_, end - position_)))
        diagnostics_.error(range(position_ + *invalid, position_ + *invalid + 1),
                           fmt::format("byte 0x{:02X} is not UTF-8 text",
                                       static_cast<unsigned char>(text_[position_ + *invalid])));
      else
        diagnostics_.error(range(position_, end), "characters outside ASCII may stand in comments only");
    } else if (byte == 0) {
      while (at(end) == '\0' && end < text_.size()) ++end;
      diagnostics_.error(range(position_, end), "a NUL byte cannot stand in a source");
    } else if (byte == '"' || byte == '\'') {
      const std::size_t line_end = std::min(text_.find('\n', position_), text_.size());
      const std::size_t quote = text_.find(static_cast<char>(byte), position_ + 1);
      end = quote < line_end ? quote + 1 : line_end;
      diagnostics_.error(range(position_, end), "there are no strings; a comment begins with `#`");
    } else if (byte == '?') {
      diagnostics_.error(range(position_, end),
                         "there is no `?:`; a choice is written where(condition, a, b)");
    } else if (byte == '.') {
      diagnostics_.error(range(position_, end), "a `.` stands only inside a number; a range is written a..b");
    } else if (byte > ' ' && byte < 0x7F) {
      diagnostics_.error(range(position_, end), fmt::format("`{}` means nothing here", text_[position_]));
    } else {
      diagnostics_.error(range(position_, end),
                         fmt::format("a control character, 0x{:02X}, cannot stand in a source", byte));
    }
    position_ = end;
  }

  std::string_view text_;
  std::uint32_t file_;
  DiagnosticBag& diagnostics_;
  LexedSource result_;
  std::size_t position_ = 0;
  bool newline_before_ = true;
};

}  // namespace

LexedSource lex(const SourceSet& sources, std::uint32_t file, DiagnosticBag& diagnostics) {
  return Lexer(sources, file, diagnostics).run();
}

}  // namespace einkern::dsl
