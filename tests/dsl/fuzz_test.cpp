// Damaged sources: the front end never crashes, every diagnostic lies inside its source, and what still
// parses formats.
#include <gtest/gtest.h>

#include <random>

#include "dsl/lexer.h"
#include "dsl/printer.h"
#include "syntax_testing.h"

namespace einkern::dsl {
namespace {

void expect_inside(const SourceSet& sources, SourceRange range) {
  ASSERT_LT(range.file, sources.size());
  ASSERT_LE(range.begin, range.end);
  ASSERT_LE(range.end, sources.file(range.file).text().size());
}

void check(const std::string& text) {
  const auto parsed = testing::parse_text(text);
  for (const Diagnostic& diagnostic : parsed->diagnostics.all()) {
    ASSERT_FALSE(diagnostic.message.empty());
    expect_inside(parsed->sources, diagnostic.range);
    for (SourceRange range : diagnostic.further_ranges) expect_inside(parsed->sources, range);
    for (const Note& note : diagnostic.notes) expect_inside(parsed->sources, note.range);
    for (const Edit& edit : diagnostic.fix) expect_inside(parsed->sources, edit.range);
  }
  ASSERT_FALSE(parsed->text().empty() && parsed->diagnostics.has_errors());
  if (parsed->diagnostics.has_errors()) {
    format(parsed->module());
    return;
  }
  const std::string once = format(parsed->module());
  const auto again = testing::parse_text(once);
  ASSERT_FALSE(again->diagnostics.has_errors()) << again->text() << "\nof\n" << text;
  ASSERT_TRUE(ast::equal(parsed->module(), again->module())) << text;
  ASSERT_EQ(format(again->module()), once);
}

/// A few functions of the conformance file, so that one round is short.
std::string excerpt(std::mt19937& random, const std::string& whole) {
  const std::size_t begin = whole.rfind("\nfn ", random() % whole.size());
  const std::size_t start = begin == std::string::npos ? 0 : begin + 1;
  return whole.substr(start, 200 + random() % 600);
}

TEST(Fuzz, DamagedBytes) {
  const std::string whole = testing::read_test_file("conformance/ops.ein");
  for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::string text = excerpt(random, whole);
    for (std::uint32_t changes = 1 + random() % 8; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else if (random() % 2 == 0)
        text.insert(at, 1, static_cast<char>(random() % 256));
      else
        text[at] = static_cast<char>(random() % 2 == 0 ? 32 + random() % 95 : random() % 256);
      if (text.empty()) text = " ";
    }
    check(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Fuzz, ShuffledTokens) {
  SourceSet sources;
  sources.add("ops.ein", testing::read_test_file("conformance/ops.ein"));
  DiagnosticBag diagnostics;
  const std::vector<Token> tokens = lex(sources, 0, diagnostics).tokens;
  for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::string text;
    std::size_t at = random() % tokens.size();
    for (std::uint32_t left = 20 + random() % 150; left > 0; --left) {
      if (random() % 12 == 0) at = random() % tokens.size();
      const Token& token = tokens[at++ % tokens.size()];
      if (token.newline_before && random() % 8 != 0) text += '\n';
      text += sources.text(token.range);
      text += ' ';
    }
    check(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Fuzz, Noise) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::string text(random() % 300, ' ');
    for (char& c : text) c = static_cast<char>(random() % 256);
    check(text);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace einkern::dsl
