// What the checker says about mistakes: programs with their exact diagnostics, in
// tests/golden/check_errors.txt. EINKERN_UPDATE_GOLDEN=1 writes the diagnostics anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "tests/dsl/checked.h"

namespace einkern {
namespace {

using testing::Compiled;

const char* const golden = EINKERN_TEST_DIR "/golden/check_errors.txt";

struct Case {
  std::string program, diagnostics;
};

/// The file is a list of cases: a program, a line `====`, its diagnostics, a line `----`.
std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::istringstream file(testing::read_file(golden));
  Case current;
  bool in_program = true;
  for (std::string line; std::getline(file, line);) {
    if (line == "====") {
      in_program = false;
    } else if (line == "----") {
      cases.push_back(std::exchange(current, {}));
      in_program = true;
    } else {
      (in_program ? current.program : current.diagnostics) += line + "\n";
    }
  }
  return cases;
}

std::string place(const dsl::SourceSet& sources, dsl::SourceRange range) {
  const dsl::LineColumn begin = sources.begin(range);
  return std::to_string(begin.line) + ":" + std::to_string(begin.column);
}

/// The program with one diagnostic's fix made.
std::string repaired(const Compiled& compiled, const dsl::Diagnostic& diagnostic) {
  std::string text = compiled.sources.file(0).text();
  for (auto edit = diagnostic.fix.rbegin(); edit != diagnostic.fix.rend(); ++edit)
    text.replace(edit->range.begin, edit->range.end - edit->range.begin, edit->replacement);
  return text;
}

/// Diagnostics, notes and fixes, a line each: "1:39: error: …", "  1:6: note: …", "  fix: the changed line".
std::string describe(const Compiled& compiled) {
  std::string text;
  for (const dsl::Diagnostic& diagnostic : compiled.diagnostics.all()) {
    const bool is_error = diagnostic.severity == dsl::Severity::error;
    text += place(compiled.sources, diagnostic.range) + (is_error ? ": error: " : ": warning: ") +
            diagnostic.message + "\n";
    for (const dsl::Note& note : diagnostic.notes)
      text += "  " + place(compiled.sources, note.range) + ": note: " + note.message + "\n";
    if (diagnostic.fix.empty()) continue;
    const dsl::SourceFile fixed("", repaired(compiled, diagnostic));
    text +=
        "  fix: " + std::string(fixed.line(compiled.sources.begin(diagnostic.fix.front().range).line)) + "\n";
  }
  return text;
}

TEST(CheckErrors, EveryProgramHasItsExactDiagnostics) {
  std::string updated;
  for (const Case& entry : read_cases()) {
    const Compiled compiled(entry.program);
    const std::string found = describe(compiled);
    updated += entry.program + "====\n" + found + "----\n";
    if (!std::getenv("EINKERN_UPDATE_GOLDEN")) {
      EXPECT_EQ(found, entry.diagnostics) << entry.program;
    }
    EXPECT_FALSE(found.empty()) << entry.program;
  }
  if (std::getenv("EINKERN_UPDATE_GOLDEN")) std::ofstream(golden) << updated;
}

TEST(CheckErrors, EveryFixRemovesItsError) {
  for (const Case& entry : read_cases()) {
    const Compiled compiled(entry.program);
    for (const dsl::Diagnostic& diagnostic : compiled.diagnostics.all()) {
      if (diagnostic.fix.empty()) continue;
      const Compiled again(repaired(compiled, diagnostic));
      const auto same = [&](const dsl::Diagnostic& other) { return other.message == diagnostic.message; };
      const auto before =
          std::count_if(compiled.diagnostics.all().begin(), compiled.diagnostics.all().end(), same);
      const auto after = std::count_if(again.diagnostics.all().begin(), again.diagnostics.all().end(), same);
      EXPECT_LT(after, before) << repaired(compiled, diagnostic) << again.messages();
    }
  }
}

TEST(CheckErrors, StopAtTwenty) {
  std::string text = "fn f(x: f32[N]) -> y: f32[N] {\n";
  for (int i = 0; i < 30; ++i) text += "  a" + std::to_string(i) + "[i in 0..N] = nothing + x[i]\n";
  const Compiled compiled(text + "  y[i] = x[i]\n}\n");
  EXPECT_EQ(compiled.diagnostics.error_count(), 20);
  EXPECT_TRUE(compiled.diagnostics.full());
}

}  // namespace
}  // namespace einkern
