// A place in a row of tokens, with the rule of which newlines count and the errors that every parser function
// needs.
#pragma once

#include <string>
#include <string_view>

#include "dsl/diagnostic.h"
#include "dsl/lexer.h"

namespace einkern::dsl {

class TokenCursor {
 public:
  TokenCursor(const SourceSet& sources, const std::vector<Token>& tokens, DiagnosticBag& diagnostics)
      : sources_(sources), tokens_(tokens), diagnostics_(diagnostics) {}

  /// A token ahead of the cursor; past the end it is end_of_file.
  const Token& peek(std::size_t ahead = 0) const;
  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool at_word(std::string_view word) const { return at(TokenKind::identifier) && text(peek()) == word; }
  std::string_view text(const Token& token) const { return sources_.text(token.range); }
  const Token& previous() const;
  /// Steps over a token and returns it; never past the end.
  const Token& take();
  bool accept(TokenKind kind);
  std::size_t position() const { return position_; }
  /// From the start of `first` to the end of the token before the cursor.
  SourceRange since(SourceRange first) const { return SourceRange::joining(first, previous().range); }

  /// The next token begins a line, outside brackets: unless it is an operator, the definition ended before
  /// it.
  bool at_new_line() const { return depth_ == 0 && peek().newline_before; }
  /// The line before the cursor asks for more: it ends in a binary operator, `=` or `,`.
  bool line_goes_on() const;

  /// While one lives, newlines do not count.
  class Brackets {
   public:
    explicit Brackets(TokenCursor& cursor) : cursor_(cursor) { ++cursor_.depth_; }
    ~Brackets() { --cursor_.depth_; }
    Brackets(const Brackets&) = delete;
    Brackets& operator=(const Brackets&) = delete;

   private:
    TokenCursor& cursor_;
  };

  /// "expected …, found …" at the next token, or just after the last one where a line ended too early.
  Diagnostic& unexpected(std::string_view expected);
  /// Takes a token of this kind, or reports it missing.
  bool expect(TokenKind kind);
  /// Takes the bracket that closes `open`, or reports it missing with a note at `open`.
  bool expect_closing(TokenKind kind, const Token& open);

  DiagnosticBag& diagnostics() { return diagnostics_; }
  const SourceSet& sources() const { return sources_; }

 private:
  const SourceSet& sources_;
  const std::vector<Token>& tokens_;
  DiagnosticBag& diagnostics_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

/// What to write instead of a word that other languages have and this one has not (`if`, `for`, `return`, …),
/// or "".
std::string_view advice_for_foreign_word(std::string_view word);

}  // namespace einkern::dsl
