// Every block of code in the documents does what they say: `ein` compiles; `ein error` gives the error that
// its comment
// `# error: …` states; `cpp` stands, word for word, in an example that the tests build and run.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dsl/diagnostic.h"
#include "dsl/program.h"
#include "tests/docs/markdown.h"

namespace einkern::tests {
namespace {

/// Diagnostics of a block, as a terminal shows them; "" if there are none.
std::string diagnose(const CodeBlock& block, bool& compiled) {
  dsl::SourceSet sources;
  sources.add(block.file + " (block at line " + std::to_string(block.line) + ")", block.text);
  dsl::DiagnosticBag diagnostics;
  compiled = dsl::Program::compile(sources, diagnostics).has_value();
  return dsl::render_text(sources, diagnostics);
}

TEST(Documents, ExamplesOfTheLanguageCompileWithoutWarnings) {
  int count = 0;
  for (const CodeBlock& block : documented_blocks()) {
    if (block.language != "ein" || block.mode == "error") continue;
    ++count;
    EXPECT_TRUE(block.mode.empty()) << block.file << ":" << block.line << ": what does `" << block.mode
                                    << "` mean?";
    bool compiled = false;
    const std::string text = diagnose(block, compiled);
    EXPECT_TRUE(compiled && text.empty()) << text;
  }
  EXPECT_GE(count, 10) << "no blocks found: are the documents where they were?";
}

TEST(Documents, ExamplesOfErrorsGiveTheErrorStated) {
  for (const CodeBlock& block : documented_blocks()) {
    if (block.language != "ein" || block.mode != "error") continue;
    bool compiled = true;
    const std::string text = diagnose(block, compiled);
    EXPECT_FALSE(compiled) << block.file << ":" << block.line << ": this compiles\n" << block.text;
    const std::size_t stated = block.text.find("# error: ");
    ASSERT_NE(stated, std::string::npos)
        << block.file << ":" << block.line << ": say which error, as `# error: …`";
    const std::size_t start = stated + std::string_view("# ").size();
    EXPECT_THAT(text, testing::HasSubstr(block.text.substr(start, block.text.find('\n', start) - start)))
        << block.file << ":" << block.line;
  }
}

TEST(Documents, TheLanguagesReferenceNamesEveryOperation) {
  const std::string reference = read_source_file("docs/language.md");
  for (const std::string spelling : {
#define EINKERN_OP(id, spelling, arity, rule, cost, documentation) spelling,
#include "dsl/ops.def"
       }) {
    const bool named = reference.find("`" + spelling + "`") != std::string::npos ||
                       reference.find("`" + spelling + "(") != std::string::npos;
    EXPECT_TRUE(named || spelling == "|" || spelling.find_first_of("=<>!") != std::string::npos)
        << "docs/language.md does not name " << spelling;  // comparisons stand there as one
  }
}

TEST(Documents, ExamplesInCppStandInAnExample) {
  std::string examples;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(EINKERN_TEST_DIR).parent_path() / "examples"))
    if (entry.path().extension() == ".cpp")
      examples += read_source_file("examples/" + entry.path().filename().string());
  int count = 0;
  for (const CodeBlock& block : documented_blocks()) {
    if (block.language != "cpp") continue;
    ++count;
    EXPECT_NE(examples.find(block.text), std::string::npos)
        << block.file << ":" << block.line << ": no example has these lines\n"
        << block.text;
  }
  EXPECT_GE(count, 1);
}

/// tests/CASES.md says which test holds off which fault; each must be there, and each case of the shared
/// table too.
TEST(Documents, EveryFaultsTestIsThere) {
  std::string sources;
  const std::filesystem::path tests(EINKERN_TEST_DIR);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests))
    if (entry.path().extension() == ".cpp")
      sources += read_source_file("tests/" + entry.path().lexically_relative(tests).string());
  const std::string table = read_source_file("tests/CASES.md");
  int count = 0;
  for (std::size_t begin = table.find("| 1 |"); (begin = table.find('`', begin)) != std::string::npos;
       ++begin) {
    const std::size_t end = table.find('`', begin + 1);
    const std::string name = table.substr(begin + 1, end - begin - 1);
    begin = end;
    const std::size_t dot = name.find('.');
    ++count;
    if (dot == std::string::npos) {  // a case, whose name may go on
      EXPECT_NE(sources.find('"' + name.substr(0, name.find("\u2026"))), std::string::npos) << name;
      continue;
    }
    EXPECT_NE(sources.find("(" + name.substr(0, dot) + ", " + name.substr(dot + 1) + ")"), std::string::npos)
        << name;
  }
  EXPECT_GE(count, 50);
}

}  // namespace
}  // namespace einkern::tests
