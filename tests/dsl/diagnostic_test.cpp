#include "dsl/diagnostic.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dsl/diagnostic_drawing.h"
#include "dsl/limits.h"
#include "syntax_testing.h"

namespace einkern::dsl {
namespace {

const char* const source_text =
    "fn f(x: f32[N]) -> y: f32[N] {\n"
    "  y[i] = sum(k) -x[k] * w\n"
    "}\n";

/// One error with everything that a diagnostic can have.
DiagnosticBag rich_bag() {
  DiagnosticBag bag;
  bag.error({0, 47, 48}, "no sign here")
      .also({0, 40, 46})
      .note({0, 5, 6}, "declared here")
      .insert_before({0, 47, 56}, "(")
      .insert_after({0, 47, 56}, ")")
      .replace({0, 5, 6}, "z");
  return bag;
}

const char* const rich_picture =
    "test.ein:2:17: error: no sign here\n"
    "  y[i] = sum(k) -x[k] * w\n"
    "         ~~~~~~ ^\n"
    "                (        )\n"
    "test.ein:1:6: note: declared here\n"
    "fn f(x: f32[N]) -> y: f32[N] {\n"
    "     ^\n"
    "test.ein:1:6: note: write `z`\n"
    "fn f(x: f32[N]) -> y: f32[N] {\n"
    "     ^\n";

TEST(Diagnostic, IsDrawnWithCaretsRangesNotesAndFixes) {
  SourceSet sources;
  sources.add("test.ein", source_text);
  EXPECT_EQ(render_text(sources, rich_bag(), false, paint_plainly), rich_picture);
  EXPECT_EQ(render_text(sources, rich_bag()), rich_picture);
}

TEST(Diagnostic, LooksTheSameWithAndWithoutLlvm) {
  const auto same = [](const std::string& text) {
    const auto parsed = testing::parse_text(text);
    EXPECT_FALSE(parsed->diagnostics.empty()) << text;
    EXPECT_EQ(render_text(parsed->sources, parsed->diagnostics),
              render_text(parsed->sources, parsed->diagnostics, false, paint_plainly));
  };
  same("fn f() {\n\ty[i] = sum(k)\t-x[k]\n}");
  same("fn f() {\n  y = a && b || c  # \xC3\xA9\n}");
  same("fn f() {\r\n  y = (a\r\n    + [\r\n}\r\n");
  same("fn f() {\n  y = .5 + .5 + 1. + 2.\n  z = !a || !b\n}");
  same("fn f( {");
  same("x");
}

/// Without "ESC [ … m".
std::string without_colours(std::string text) {
  for (std::size_t at; (at = text.find("\033[")) != std::string::npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

TEST(Diagnostic, UsesColoursOnlyWhenAsked) {
  SourceSet sources;
  sources.add("test.ein", source_text);
  EXPECT_EQ(render_text(sources, rich_bag(), false).find('\033'), std::string::npos);
  for (const std::string& coloured :
       {render_text(sources, rich_bag(), true), render_text(sources, rich_bag(), true, paint_plainly)}) {
    EXPECT_NE(coloured.find("\033["), std::string::npos);
    EXPECT_EQ(without_colours(coloured), rich_picture);
  }
}

TEST(Diagnostic, IsDataToo) {
  SourceSet sources;
  sources.add("bad\xFFname.ein", source_text);
  const auto json = nlohmann::json::parse(render_json(sources, rich_bag()));
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["warnings"], 0);
  EXPECT_EQ(json["truncated"], false);
  const auto& diagnostic = json["diagnostics"].at(0);
  EXPECT_EQ(diagnostic["line"], 2);
  EXPECT_EQ(diagnostic["column"], 17);
  EXPECT_EQ(diagnostic["end_line"], 2);
  EXPECT_EQ(diagnostic["end_column"], 18);
  EXPECT_EQ(diagnostic["severity"], "error");
  EXPECT_EQ(diagnostic["message"], "no sign here");
  EXPECT_EQ(diagnostic["ranges"].at(0)["column"], 10);
  EXPECT_EQ(diagnostic["notes"].at(0)["message"], "declared here");
  EXPECT_EQ(diagnostic["notes"].at(0)["line"], 1);
  EXPECT_EQ(diagnostic["fix"].at(0)["replacement"], "(");
  EXPECT_EQ(diagnostic["fix"].size(), 3u);
}

TEST(DiagnosticBag, StopsAtTheLimitsOfErrorsAndWarnings) {
  DiagnosticBag bag;
  for (int i = 0; i < limits::errors; ++i) bag.error({}, "error").note({}, "kept");
  EXPECT_FALSE(bag.full());
  EXPECT_EQ(bag.error_count(), limits::errors);
  bag.error({}, "one past").note({}, "dropped");
  EXPECT_TRUE(bag.full());
  EXPECT_EQ(bag.error_count(), limits::errors);
  for (int i = 0; i <= limits::warnings; ++i) bag.warning({}, "warning");
  EXPECT_EQ(bag.warning_count(), limits::warnings);
  EXPECT_EQ(bag.all().size(), static_cast<std::size_t>(limits::errors + limits::warnings));
  EXPECT_EQ(bag.all().front().notes.size(), 1u);
}

TEST(NearestName, FindsWhatWasProbablyMeant) {
  const std::string_view names[] = {"softmax", "sum", "sqrt", "x", "tokens"};
  EXPECT_EQ(nearest_name("sofmax", names), "softmax");
  EXPECT_EQ(nearest_name("sotfmax", names), "softmax");
  EXPECT_EQ(nearest_name("sun", names), "sum");
  EXPECT_EQ(nearest_name("token", names), "tokens");
  EXPECT_EQ(nearest_name("logits", names), "");
  EXPECT_EQ(nearest_name("y", names), "") << "a name of one letter is near to none";
  EXPECT_EQ(nearest_name("sum", names), "") << "a name is no misspelling of itself";
  EXPECT_EQ(nearest_name("", names), "");
}

}  // namespace
}  // namespace einkern::dsl
