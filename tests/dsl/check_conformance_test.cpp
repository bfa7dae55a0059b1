// The conformance operations check, and their canonical text parses back to the same function.
#include <gtest/gtest.h>

#include "tests/dsl/checked.h"

namespace einkern {
namespace {

using testing::Compiled;

TEST(CheckConformance, EveryOperationChecksAndItsCanonicalTextParsesBack) {
  const Compiled operations(testing::read_file(EINKERN_TEST_DIR "/conformance/ops.ein"));
  ASSERT_TRUE(operations.program) << operations.messages();
  EXPECT_TRUE(operations.diagnostics.empty()) << operations.messages();
  EXPECT_EQ(operations.program->signatures().size(), 67u);
  for (const dsl::Signature& signature : operations.program->signatures()) {
    const std::size_t choices = signature.generics.empty() ? 1 : signature.generics.front().second.size();
    for (std::size_t i = 0; i < choices; ++i) {
      dsl::TypeBinding types;
      for (const auto& [name, allowed] : signature.generics) types[name] = allowed[i];
      const auto function = operations.program->instantiate(signature.name, types);
      ASSERT_TRUE(function.ok()) << function.error().message;
      const Compiled again((*function)->canonical_text);
      ASSERT_TRUE(again.program) << (*function)->canonical_text << again.messages();
      EXPECT_EQ(again.first()->canonical_text, (*function)->canonical_text);
    }
  }
}

}  // namespace
}  // namespace einkern
