// The checker's limits, at the limit and one past it, and programs that are made to hurt.
#include <gtest/gtest.h>

#include <random>

#include "dsl/limits.h"
#include "tests/dsl/checked.h"

namespace einkern {
namespace {

using testing::Compiled;
namespace limits = dsl::limits;

std::string number(std::size_t value) { return std::to_string(value); }

/// `count` functions, each calling the one before.
std::string chain_of_calls(std::size_t count) {
  std::string text = "fn c0(x: f32) -> y: f32 { y = x + 1 }\n";
  for (std::size_t i = 1; i <= count; ++i)
    text += "fn c" + number(i) + "(x: f32) -> y: f32 { y = c" + number(i - 1) + "(x) + 1 }\n";
  return text;
}

TEST(CheckLimits, CallsInsideEachOther) {
  EXPECT_TRUE(Compiled(chain_of_calls(limits::call_depth)).program);
  const Compiled deep(chain_of_calls(limits::call_depth + 1));
  ASSERT_EQ(deep.diagnostics.error_count(), 1);
  EXPECT_EQ(deep.diagnostics.all()[0].message,
            "in this call of `c64`: this call nests more than 64 calls, which is the limit");
}

TEST(CheckLimits, CallsOfOneFunction) {
  const auto calls = [](std::size_t count) {
    std::string text = "fn g(x: f32) -> y: f32 { y = x * x }\nfn f(x: f32[N]) -> y: f32[N] {\n";
    for (std::size_t i = 0; i < count; ++i)
      text += "  a" + number(i) + "[i] = x[i] + g(x[i] + " + number(i) + ")\n";
    return text + "  y[i] = x[i]\n}\n";
  };
  EXPECT_TRUE(Compiled(calls(limits::calls)).program);
  const Compiled many(calls(limits::calls + 1));
  ASSERT_EQ(many.diagnostics.error_count(), 1);
  EXPECT_EQ(many.diagnostics.all()[0].message, "`f` inlines more than 500 calls, which is the limit");
}

TEST(CheckLimits, OperationsOnceCallsAreInlined) {
  const auto squares = [](std::size_t depth) {  // x, squared `depth` times: a tree of 2^depth leaves
    std::string text = "fn s0(x: f32) -> y: f32 { y = x * x }\n";
    for (std::size_t i = 1; i < depth; ++i)
      text += "fn s" + number(i) + "(x: f32) -> y: f32 { a = s" + number(i - 1) + "(x); y = a * a }\n";
    return text;
  };
  EXPECT_TRUE(Compiled(squares(17)).program);  // the last function inlines 131,071
  const Compiled large(squares(18));
  ASSERT_EQ(large.diagnostics.error_count(), 1);
  EXPECT_NE(large.messages().find("this expression has more than 200000 operations"), std::string::npos);
}

TEST(CheckLimits, LevelsOnceCallsAreInlined) {
  const auto tower = [](std::size_t terms) {  // five functions of that many levels
    std::string text = "fn t0(x: f32) -> y: f32 { y = x }\n";
    for (std::size_t i = 1; i <= 5; ++i) {
      text += "fn t" + number(i) + "(x: f32) -> y: f32 { y = t" + number(i - 1) + "(x)";
      for (std::size_t term = 0; term < terms; ++term) text += " + x";
      text += " }\n";
    }
    return text;
  };
  EXPECT_TRUE(Compiled(tower(239)).program);  // 1,196 levels
  EXPECT_NE(Compiled(tower(241)).messages().find("this expression has more than 1200 levels"),
            std::string::npos);
}

TEST(CheckLimits, ChoicesOfTypes) {
  const auto generic = [](const std::string& last) {
    return "fn f<A: int | float | bool, B: int | float | bool, C: int | float | bool, " + last +
           ">(a: A[N], b: B[N], c: C[N], d: D[N]) -> y: A[N] { y[i] = a[i] }";
  };
  EXPECT_TRUE(Compiled(generic("D: f32")).program);  // 7^3 = 343
  EXPECT_NE(Compiled(generic("D: f32 | f64"))
                .messages()
                .find("`f` has more than 512 combinations of compute types"),
            std::string::npos);
}

TEST(CheckLimits, ALongProgram) {
  std::string text = "fn f(x: f32[N]) -> y: f32[N] {\n  a0[i] = x[i]\n";
  for (std::size_t i = 1; i < 10'000; ++i)
    text += "  a" + number(i) + "[i] = a" + number(i - 1) + "[i] * 2 + sum(k) a" + number(i - 1) + "[k]\n";
  const Compiled compiled(text + "  y[i] = a9999[i]\n}\n");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  EXPECT_EQ(compiled.first()->definitions.size(), 10'001u);
}

TEST(CheckLimits, ALongChainOfFunctionsThatIsACycle) {
  std::string text;
  for (std::size_t i = 0; i < 10'000; ++i)
    text += "fn c" + number(i) + "(x: f32) -> y: f32 { y = c" + number((i + 1) % 10'000) + "(x) }\n";
  EXPECT_EQ(Compiled(text).diagnostics.error_count(), 1);
}

/// Words of real programs, some of them lost, doubled or exchanged: whatever it is, it is a value or an
/// error.
TEST(CheckFuzz, DamagedProgramsNeverCrash) {
  const std::string operations = testing::read_file(EINKERN_TEST_DIR "/conformance/ops.ein");
  std::vector<std::string> words;
  std::string word;
  for (const char c : operations) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!part && !word.empty()) words.push_back(std::exchange(word, {}));
    if (part)
      word += c;
    else
      words.emplace_back(1, c);
  }
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> damaged = words;
    for (int i = 0; i < 60; ++i) {
      std::string& here = damaged[random() % damaged.size()];
      const std::string& other = words[random() % words.size()];
      here = random() % 3 == 0 ? "" : random() % 2 == 0 ? other : here + " " + other;
    }
    std::string text;
    for (const std::string& piece : damaged) text += piece;
    const Compiled compiled(text);
    EXPECT_EQ(compiled.program.has_value(), !compiled.diagnostics.has_errors()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace einkern
