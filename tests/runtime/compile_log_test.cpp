#include "runtime/cuda/compile_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkern::runtime::cuda {
namespace {

using testing::HasSubstr;

// As NVRTC 13.0 writes it; the second entry calls a function that was not inlined.
constexpr const char* resource_log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
ptxas         .     16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 72 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compile time = 16.190 ms
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers)";

TEST(CompileLog, ReadsResources) {
  const auto entries = parse_resources(resource_log);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries.at("first").registers, 72);
  EXPECT_EQ(entries.at("first").stack_bytes, 16);
  EXPECT_EQ(entries.at("first").spill_store_bytes, 24);
  EXPECT_EQ(entries.at("first").spill_load_bytes, 32);
  EXPECT_EQ(entries.at("first").shared_bytes, 1024);
  EXPECT_EQ(entries.at("second").registers, 12);
  EXPECT_EQ(entries.at("second").spill_store_bytes, 0);
  EXPECT_EQ(entries.at("second").shared_bytes, 0);
  EXPECT_TRUE(parse_resources("").empty());
}

TEST(CompileLog, FindsPerformanceWarnings) {
  const auto found = performance_warnings(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due "
      "to ...\n"
      "ptxas info    : Used 12 registers\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register "
      "requirements.");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], HasSubstr("C7510"));
  EXPECT_TRUE(performance_warnings(resource_log).empty());
}

TEST(CompileLog, ShowsErrorsWithTheirLines) {
  const std::string source = "line one\n  y[0] = undefined_name + 1;\nline three";
  const std::string log =
      "kernel.cu(2): error: identifier \"undefined_name\" is undefined\n    y[0] = undefined_name + 1;\n     "
      "      ^\n\n"
      "kernel.cu(1): warning #177-D: variable \"unused\" was declared but never referenced\n"
      "kernel.cu(99): error: expected a \";\"\n\n2 errors detected in the compilation of \"kernel.cu\".";
  const auto messages = parse_messages(log, "kernel.cu");
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_TRUE(messages[0].is_error);
  EXPECT_EQ(messages[0].line, 2);
  EXPECT_FALSE(messages[1].is_error);
  EXPECT_EQ(messages[1].text, "variable \"unused\" was declared but never referenced");
  EXPECT_EQ(describe_errors(log, "kernel.cu", source),
            "kernel.cu:2: error: identifier \"undefined_name\" is undefined\n    y[0] = undefined_name + 1;\n"
            "kernel.cu:99: error: expected a \";\"\n  ");
  EXPECT_THAT(describe_errors(log, "kernel.cu", source, 1), HasSubstr("and 1 more"));
}

TEST(CompileLog, ReadsErrorsWithoutALine) {
  const auto messages =
      parse_messages("nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n", "kernel.cu");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].line, 0);
  EXPECT_EQ(messages[0].text, "failed to open libnvrtc-builtins.so.13.0.");
  EXPECT_EQ(describe_errors("something that nobody foresaw", "kernel.cu", ""),
            "something that nobody foresaw");
}

TEST(CompileLog, SurvivesAnyText) {
  for (const char* log :
       {"kernel.cu(", "kernel.cu(x): error: y", "kernel.cu(1) error", "Compiling entry function '",
        "bytes stack frame", " registers", "Function properties for ", "error", ": error: "}) {
    parse_resources(log);
    parse_messages(log, "kernel.cu");
    EXPECT_FALSE(describe_errors(log, "kernel.cu", "source").empty());
  }
}

}  // namespace
}  // namespace einkern::runtime::cuda
