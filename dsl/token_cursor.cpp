#include "dsl/token_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace einkern::dsl {
namespace {

constexpr std::pair<std::string_view, std::string_view> foreign_words[] = {
    {"if", "there is no `if`; a choice is written where(condition, a, b)"},
    {"elif", "there is no `elif`; a choice is written where(condition, a, b)"},
    {"for",
     "there is no `for`: a definition runs over all its indices, a reduction such as sum(k) over its "
     "variables"},
    {"while", "there is no `while`: a definition runs over all its indices, a reduction over its variables"},
    {"return", "there is no `return`: a result is defined by its name"},
    {"let", "a definition needs no `let`"},
    {"var", "a definition needs no `var`"},
    {"const", "a definition needs no `const`"},
    {"auto", "a definition needs no `auto`"},
    {"import", "there are no imports: a compile takes several sources"},
    {"from", "there are no imports: a compile takes several sources"},
    {"include", "there are no imports: a compile takes several sources"},
    {"lambda", "there are no lambdas; write a function"},
    {"def", "a function begins with `fn`"},
    {"func", "a function begins with `fn`"},
    {"function", "a function begins with `fn`"},
    {"kernel", "a function begins with `fn`"},
    {"void", "a function begins with `fn`; one without results just has no `->`"},
};

}  // namespace

std::string_view advice_for_foreign_word(std::string_view word) {
  for (const auto& [foreign, advice] : foreign_words)
    if (foreign == word) return advice;
  return {};
}

const Token& TokenCursor::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& TokenCursor::previous() const { return tokens_[position_ == 0 ? 0 : position_ - 1]; }

const Token& TokenCursor::take() {
  const Token& token = peek();
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool TokenCursor::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

bool TokenCursor::line_goes_on() const {
  const TokenKind last = previous().kind;
  return is_binary_operator(last) || last == TokenKind::comma || last == TokenKind::assign ||
         last == TokenKind::add_assign;
}

Diagnostic& TokenCursor::unexpected(std::string_view expected) {
  const Token& token = peek();
  const bool line_ended = token.newline_before && position_ > 0;
  if (line_ended && (at_new_line() || at(TokenKind::end_of_file))) {
    const std::string_view where = at(TokenKind::end_of_file) ? "the end of the file" : "the end of the line";
    return diagnostics_.error(previous().range.after(),
                              fmt::format("expected {}, found {}", expected, where));
  }
  const bool is_word = token.kind == TokenKind::identifier || token.kind == TokenKind::type_name ||
                       token.kind == TokenKind::integer || token.kind == TokenKind::real;
  const std::string found = is_word ? fmt::format("`{}`", text(token)) : std::string(describe(token.kind));
  Diagnostic& diagnostic =
      diagnostics_.error(token.range, fmt::format("expected {}, found {}", expected, found));
  if (const auto advice = advice_for_foreign_word(text(token)); !advice.empty())
    diagnostic.note(token.range, std::string(advice));
  return diagnostic;
}

bool TokenCursor::expect(TokenKind kind) {
  if (accept(kind)) return true;
  unexpected(describe(kind));
  return false;
}

bool TokenCursor::expect_closing(TokenKind kind, const Token& open) {
  if (accept(kind)) return true;
  if (at(TokenKind::assign)) {
    const SourceRange sign = peek().range;
    diagnostics_.error(sign, "a definition cannot stand inside an expression; equality is written `==`")
        .replace(sign, "==");
    return false;
  }
  const SourceRange opening = open.range;
  unexpected(fmt::format("{} or an operator", describe(kind)))
      .note(opening, fmt::format("to close this {}", describe(open.kind)));
  return false;
}

}  // namespace einkern::dsl
