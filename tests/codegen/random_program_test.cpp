#include "tests/support/random_program.h"

#include <gtest/gtest.h>

namespace einkern {
namespace {

// Every random program is valid, and f32 arithmetic in the reference's own order stays within the reference's
// bounds.
TEST(RandomProgram, IsValidAndBoundedInTypedArithmetic) {
  const auto run = [](const testing::Call& call) {
    return codegen::reference::evaluate(*call.function, call.binding, call.arguments,
                                        codegen::reference::Arithmetic::as_typed);
  };
  int failures = 0;
  for (std::uint64_t seed = 0; seed < 60 && failures < 5; ++seed) {
    const std::string wrong = testing::check_random_program(seed, run);
    EXPECT_TRUE(wrong.empty()) << wrong;
    failures += wrong.empty() ? 0 : 1;
  }
}

TEST(RandomProgram, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(testing::random_program(seed).source, testing::random_program(seed).source);
  }
  EXPECT_NE(testing::random_program(1).source, testing::random_program(2).source);
}

}  // namespace
}  // namespace einkern
