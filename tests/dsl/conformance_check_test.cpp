// Every operation of the conformance suite checks, for each choice of types that it allows.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "dsl/expression_text.h"
#include "dsl/program.h"

namespace einkern::dsl {
namespace {

TEST(Conformance, EveryOperationChecks) {
  std::ifstream file(EINKERN_TEST_DIR "/conformance/ops.ein");
  std::stringstream text;
  text << file.rdbuf();
  SourceSet sources;
  sources.add("ops.ein", text.str());
  DiagnosticBag diagnostics;
  const auto program = Program::compile(sources, diagnostics);
  ASSERT_TRUE(program) << render_text(sources, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << render_text(sources, diagnostics);
  EXPECT_EQ(program->signatures().size(), 67u);
}

}  // namespace
}  // namespace einkern::dsl
