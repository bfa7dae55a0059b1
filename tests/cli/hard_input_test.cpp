// Sources and command lines that are made to hurt: whatever they are, each command ends in time with an exit
// code of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/cli/command.h"

namespace einkern {
namespace {

using ::testing::AnyOf;
using testing::CommandFolder;
using testing::example;
using ::testing::HasSubstr;
using testing::Ran;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string function(const std::string& value, const std::string& type = "f32") {
  return "fn f(x: " + type + "[N]) -> y: " + type + "[N] { y[i] = " + value + " }\n";
}

std::string chain(int lines, const std::string& value) {
  std::string text = "fn f(x: f32[N]) -> y: f32[N] {\n  a0[i] = x[i]\n";
  for (int line = 1; line < lines; ++line) {
    std::string step = value;
    for (std::size_t at; (at = step.find('$')) != std::string::npos;)
      step.replace(at, 1, "a" + std::to_string(line - 1));
    text += "  a" + std::to_string(line) + "[i] = " + step + "\n";
  }
  return text + "  y[i] = a" + std::to_string(lines - 1) + "[i]\n}\n";
}

std::string bytes_of_a_generator() {
  std::mt19937 random(1);
  std::string text(20000, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

struct HardSource {
  const char* name;
  std::string text;
  int code;  // of check
};

std::vector<HardSource> hard_sources() {
  const std::string hundred = [] {
    std::string text = "D0";
    for (int i = 1; i < 100; ++i) text += ", D" + std::to_string(i);
    return text;
  }();
  return {
      {"lines", chain(10000, "$[i] * 1.5 + 1"), 0},
      {"parentheses", function(repeated("(", 1000) + "x[i]" + repeated(")", 1000)), 1},
      {"open_parentheses", function(repeated("(", 100000)), 1},
      {"rank_100", "fn f(x: f32[" + hundred + "]) -> y: f32 { y = 1 }\n", 1},
      {"where", function(repeated("where(x[i] > 0, x[i], ", 250) + "0" + repeated(")", 250)), 0},
      {"else", function(repeated("x[i - 1] else ", 5000) + "0"), 1},
      {"terms", function("x[i]" + repeated(" + x[i]", 20000)), 1},
      {"long_integer", function(std::string(10000, '9') + " + x[i]", "i64"), 1},
      {"long_float", function(std::string(5000, '1') + "." + std::string(5000, '1') + "e-4990 * x[i]"), 0},
      {"large_exponent", function("1e999999 * x[i]"), 1},
      {"noise", bytes_of_a_generator(), 1},
      {"nul", function(std::string("x[i]") + '\0'), 1},
      {"crlf", "# text\r\nfn f(x: f32[N]) -> y: f32[N] {\r\n  y[i] = x[i] +\r\n    1  # end\r\n}\r\n", 0},
      {"byte_order_mark", "\xef\xbb\xbf" + function("x[i]"), 0},
      {"letters_beyond_ascii",
       function("gr\xc3\xb6\xc3\x9f"
                "e[i]"),
       1},
      {"comment_beyond_ascii", "# \xe2\x88\x91\n" + function("x[i]"), 0},
      {"empty", "", 1},
      {"huge", repeated("# nothing\n", 200000), 1}};
}

class HardSources : public ::testing::TestWithParam<HardSource> {};

TEST_P(HardSources, EndInTimeInEveryCommand) {
  const CommandFolder folder;
  folder.write("hard.ein", GetParam().text);
  const Ran checked = folder.run({"check", "hard.ein"});
  EXPECT_EQ(checked.code, GetParam().code) << checked.err.substr(0, 500);
  EXPECT_EQ(checked.err.empty(), checked.code == 0) << checked.err.substr(0, 500);
  EXPECT_LT(checked.err.size(), 2000000u);  // the line at fault is shown whole
  EXPECT_EQ(nlohmann::json::parse(folder.run({"check", "hard.ein", "--json"}).out).at("errors") == 0,
            checked.code == 0);
  const Ran formatted = folder.run({"fmt", "hard.ein"});
  ASSERT_THAT(formatted.code, AnyOf(0, 1));
  if (formatted.code == 0) {
    EXPECT_EQ(folder.run({"fmt", "-"}, {.input = formatted.out}).out, formatted.out);
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"explain", "--arch", "sm_90a"},
                                                {"emit", "--as", "cuda"},
                                                {"run", "--device", "cpu"}}) {
    std::vector<std::string> all = words;
    all.insert(all.begin() + 1, {"hard.ein", "--dims", "N=100"});
    const Ran ran = folder.run(all, {.seconds = 240});
    EXPECT_EQ(ran.code, checked.code) << words[0] << ran.err.substr(0, 500);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, HardSources, ::testing::ValuesIn(hard_sources()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(HardInput, SourcesWithoutAnEndAreReadUpToTheLimit) {
  const CommandFolder folder;
  EXPECT_EQ(folder.run({"check", "/dev/zero"}, {.seconds = 30}).code, 1);
  EXPECT_EQ(folder.shell("yes | \"$einkern\" check -", {.seconds = 30}).code, 1);
}

TEST(HardInput, TwoToThe40ElementsAreAnErrorOfTheDeviceOrOnlyANumber) {
  const CommandFolder folder;
  const std::vector<std::string> dims = {"--dims", "M=1099511627776,N=1,K=1", "--device", "cpu"};
  const auto with = [&](const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {command, example("matmul.ein")};
    words.insert(words.end(), dims.begin(), dims.end());
    words.insert(words.end(), more.begin(), more.end());
    return folder.run(words, {.seconds = 60});
  };
  EXPECT_EQ(with("explain").code, 0);
  EXPECT_EQ(with("emit").code, 0);
  for (const char* command : {"run", "tune"}) {
    const Ran ran = with(command);
    EXPECT_EQ(ran.code, 3) << command << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("memory")) << command;
    EXPECT_THAT(ran.err, Not(HasSubstr("terminate"))) << command;
  }
}

/// Words that belong on a command line, and some that do not, in any order.
TEST(CommandLineFuzz, AnyWordsGiveAnExitCodeOfItsOwn) {
  const CommandFolder folder;
  folder.write("a.ein", function("2 * x[i]"));
  folder.write_npy("x.npy", {4}, {1, 2, 3, 4});
  const std::vector<std::string> commands = {"run",   "tune", "emit",  "explain",
                                             "check", "fmt",  "cache", "devices"};
  const std::vector<std::string> words = {
      "a.ein",      "--dims",     "N=4",      "N=",        "=4",       "N=4,N=5",
      "--set",      "a=1",        "--type",   "T=f32",     "--input",  "x=x.npy",
      "x=a.ein",    "--output",   "y=y.npy",  "y=/",       "--device", "cpu",
      "reference",  "gpu",        "--json",   "--seed",    "-1",       "99999999999999999999",
      "--repeat",   "0",          "--check",  "never",     "--plan",   "fused",
      "--schedule", "cpu.points", "--config", "axis=0",    "--as",     "llvm",
      "--arch",     "sm_90a",     "sm_",      "--seconds", "0.2",      "--candidates",
      "1",          "--write",    "-",        "--",        "",         " ",
      "\xff",       "--help",     "list",     "why",       "path",     std::string(5000, 'x')};
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> line = {commands[random() % commands.size()]};
    if (random() % 2 == 0) line.push_back("a.ein");
    for (std::uint32_t left = random() % 7; left > 0; --left) line.push_back(words[random() % words.size()]);
    const Ran ran = folder.run(line, {.seconds = 30});
    std::string text;
    for (const std::string& word : line) text += " '" + word.substr(0, 40) + "'";
    ASSERT_THAT(ran.code, AnyOf(0, 1, 2, 3)) << "seed " << seed << ":" << text << "\n" << ran.err;
    ASSERT_EQ(ran.code == 0 || !ran.err.empty() || !ran.out.empty(), true) << "seed " << seed << ":" << text;
  }
}

}  // namespace
}  // namespace einkern
