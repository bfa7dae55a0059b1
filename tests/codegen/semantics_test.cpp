#include "tests/support/semantics.h"

#include <gtest/gtest.h>

namespace einkern {
namespace {

TEST(Semantics, EveryRowOfTheDocumentHoldsOnTheReference) {
  ASSERT_GT(testing::semantics_rows().size(), 100u);
  for (const testing::SemanticsRow& row : testing::semantics_rows()) {
    EXPECT_EQ(testing::check_semantics(row, testing::run_on_reference), "")
        << "docs/semantics.md:" << row.line;
  }
}

TEST(Semantics, EveryRowHoldsWithArithmeticAsTyped) {
  const auto run = [](const testing::Call& call) {
    return codegen::reference::evaluate(*call.function, call.binding, call.arguments,
                                        codegen::reference::Arithmetic::as_typed);
  };
  for (const testing::SemanticsRow& row : testing::semantics_rows()) {
    EXPECT_EQ(testing::check_semantics(row, run), "") << "docs/semantics.md:" << row.line;
  }
}

}  // namespace
}  // namespace einkern
