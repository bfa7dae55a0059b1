// The tables of docs/semantics.md on emitted CUDA, run on the host.
#include <gtest/gtest.h>

#include "tests/cuda/run_emulated.h"
#include "tests/support/semantics.h"

namespace einkern {
namespace {

void expect_rows(const testing::EmulationOptions& options) {
  if (!testing::can_emulate()) GTEST_SKIP() << "no compiler at " << EINKERN_TEST_COMPILER;
  testing::EmulatedCalls calls;
  // First round: collect the calls, to compile them together. Second round: run them in the same order.
  const std::vector<testing::SemanticsRow>& rows = testing::semantics_rows();
  std::vector<std::optional<std::size_t>> added(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    testing::check_semantics(rows[i], [&](const testing::Call& call) -> core::Result<testing::Results> {
      const auto index = calls.add(call, options);
      EXPECT_TRUE(index.ok()) << rows[i].expression << ": " << (index.ok() ? "" : index.error().message);
      if (index.ok()) added[i] = *index;
      return core::Error{core::ErrorKind::internal, "collected"};
    });
  }
  const auto built = calls.build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!added[i]) continue;
    EXPECT_EQ(testing::check_semantics(rows[i], [&](const testing::Call&) { return calls.run(*added[i]); }), "")
        << "docs/semantics.md:" << rows[i].line << " " << rows[i].expression;
  }
}

TEST(EmulatedSemantics, HopperText) { expect_rows({}); }
TEST(EmulatedSemantics, TuringTextWithWideIndices) {
  expect_rows({.architecture = "sm_75", .index_bits = 64});
}

}  // namespace
}  // namespace einkern
