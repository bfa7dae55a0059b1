// einkern run: data in and out, and what it says of wrong arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace einkern {
namespace {

using testing::CommandFolder;
using ::testing::ElementsAre;
using testing::example;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::npy_bytes;
using testing::Ran;
using testing::raw;

constexpr const char* twice =
    "fn twice(x: f32[R, C], a: f32 = 2) -> y: f32[R, C] { y[r, c] = a * x[r, c] }\n";

/// A folder with twice.ein, and x.npy of [2, 3] holding 1 to 6.
class Run : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("twice.ein", twice);
    folder.write_npy("x.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  }

  Ran run(std::vector<std::string> words, const testing::RunSetting& setting = {}) {
    words.insert(words.begin(), {"run", "twice.ein", "--device", "cpu", "--repeat", "1"});
    return folder.run(words, setting);
  }

  CommandFolder folder;
};

TEST_F(Run, ComputesChecksAndTimes) {
  const Ran ran = run({"--input", "x=x.npy", "--output", "y=y.npy"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  for (const char* part : {"twice on ", "x: f32[2, 3]", "kernel  cpu.", "time ", "limit ",
                           "all 6 elements agree with the reference"})
    EXPECT_THAT(ran.out, HasSubstr(part));
  EXPECT_THAT(folder.read_npy("y.npy"), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(Run, TheReferenceGivesTheSameAnswer) {
  const Ran ran =
      folder.run({"run", "twice.ein", "--input", "x=x.npy", "--output", "y=y.npy", "--device", "reference"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(folder.read_npy("y.npy"), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(Run, ReadsFortranOrderAndOtherByteOrders) {
  folder.write("f.npy", npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                                  raw<float>({1, 4, 2, 5, 3, 6})));
  std::string big = raw<float>({1, 2, 3, 4, 5, 6});
  for (std::size_t i = 0; i < big.size(); i += 4) std::reverse(big.begin() + i, big.begin() + i + 4);
  folder.write("b.npy", npy_bytes("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", big, 2));
  for (const char* file : {"x=f.npy", "x=b.npy"}) {
    EXPECT_EQ(run({"--input", file, "--output", "y=y.npy"}).code, 0) << file;
    EXPECT_THAT(folder.read_npy("y.npy"), ElementsAre(2, 4, 6, 8, 10, 12)) << file;
  }
}

TEST_F(Run, ConvertsNumbersWithOneLineAndRefusesWhatLosesMore) {
  folder.write("d.npy", npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n",
                                  raw<double>({1, 0.1})));
  Ran ran = run({"--input", "x=d.npy", "--output", "y=y.npy"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "einkern: x is rounded from f64 to f32\n");
  EXPECT_THAT(folder.read_npy("y.npy"), ElementsAre(2, 0.2f));

  folder.write("gather.ein", "fn gather(t: i32[N], x: f32[V]) -> y: f32[N] { y[n] = x[t[n]] }\n");
  const auto gather = [&](const std::string& file) {
    return folder.run({"run", "gather.ein", "--device", "cpu", "--dims", "V=4", "--input", "t=" + file});
  };
  folder.write("l.npy", npy_bytes("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n",
                                  raw<std::int64_t>({1, 3})));
  ran = gather("l.npy");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "einkern: t is converted from i64 to i32\n");
  folder.write("l.npy", npy_bytes("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n",
                                  raw<std::int64_t>({1, 1LL << 40})));
  ran = gather("l.npy");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("t holds i32, and its file has integers of i64 that do not fit"));
  ran = gather("x.npy");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("t has 1 dimensions, its file 2: [2, 3]"));
  folder.write_npy("f.npy", {2}, {1, 2});
  ran = gather("f.npy");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("t holds i32, and its file f32: convert it first"));
}

TEST_F(Run, SizesOfFilesAndOptionsMustAgree) {
  const Ran ran = run({"--input", "x=x.npy", "--dims", "R=5"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("R is 5, and dimension 0 of x in its file is 2"));
}

TEST_F(Run, FilesThatAreNoArraysSaySo) {
  const auto header = [](const std::string& type, const std::string& shape) {
    return npy_bytes("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n",
                     std::string(20, '\0'));
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"not an array at all", "x.bad: is no .npy file"},
      {header("<c8", "2, 3"), "x.bad: holds elements of type '<c8'"},
      {header("|O", "2, 3"), "x.bad: holds elements of type '|O'"},
      {header("<f4", "2, 3"), "x.bad: is cut off: its shape (2, 3) needs 24 bytes of data, 20 are there"},
      {header("<f4", "1099511627776, 1099511627776"), "x.bad: has a shape too large for any file"},
      {header("<f4", "-2, 3"), "x.bad: has a malformed header"},
      {header("<f4", "2, 3").substr(0, 40), "x.bad: is cut off in its header"},
      {npy_bytes("", "", 9), "x.bad: has .npy version 9"}};
  for (const auto& [bytes, message] : cases) {
    folder.write("x.bad", bytes);
    const Ran ran = run({"--input", "x=x.bad"});
    EXPECT_EQ(ran.code, 2) << message;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
  EXPECT_THAT(run({"--input", "x=none.npy"}).err, HasSubstr("none.npy: cannot be read: does it exist?"));
  EXPECT_THAT(run({"--input", "x=."}).err, HasSubstr(".: is a folder"));
  EXPECT_THAT(run({"--input", "x=/dev/zero"}, {.seconds = 20}).err, HasSubstr("/dev/zero: is no .npy file"));
}

TEST_F(Run, AFileMayBeInputAndOutput) {
  EXPECT_EQ(run({"--input", "x=x.npy", "--output", "y=x.npy"}).code, 0);
  EXPECT_THAT(folder.read_npy("x.npy"), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(Run, ResultsThatCannotBeWrittenSaySoAndLeaveNothing) {
  const auto before = folder.names();
  for (const char* place : {"y=none/y.npy", "y=.", "y=/dev/full"}) {
    const Ran ran = run({"--input", "x=x.npy", "--output", place});
    EXPECT_EQ(ran.code, 2) << place;
    EXPECT_THAT(ran.err, HasSubstr("cannot be written")) << place;
  }
  EXPECT_EQ(folder.names(), before);
  EXPECT_EQ(folder.shell("test -c /dev/full").code, 0);  // a rename would have put a file there
}

TEST_F(Run, AResultOnStandardOutputIsAloneThere) {
  const Ran ran = run({"--input", "x=x.npy", "--output", "y=-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("all 6 elements agree"));
  folder.write("y.npy", ran.out);
  EXPECT_THAT(folder.read_npy("y.npy"), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(Run, WhatChangesInPlaceIsAResultToo) {
  folder.write("add.ein", "fn add(s: inout f32[R, C], d: f32) { s[r, c] += d }\n");
  for (const char* device : {"cpu", "reference"}) {
    const Ran ran = folder.run({"run", "add.ein", "--input", "s=x.npy", "--set", "d=0.5", "--output",
                                "s=s.npy", "--device", device});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(folder.read_npy("s.npy"), ElementsAre(1.5, 2.5, 3.5, 4.5, 5.5, 6.5)) << device;
  }
}

TEST_F(Run, ScalarsAreReadInTheirTypes) {
  EXPECT_EQ(run({"--input", "x=x.npy", "--set", "a=1e1", "--output", "y=y.npy"}).code, 0);
  EXPECT_THAT(folder.read_npy("y.npy"), ElementsAre(10, 20, 30, 40, 50, 60));
  folder.write("scalars.ein",
               "fn scalars(a: i32, b: u64, c: bool, x: f32[N]) -> y: u64[N] { y[i] = where(c, b, 0) + u64(a) "
               "+ u64(x[i]) }\n");
  const auto with = [&](const std::string& values) {
    return folder.run(
        {"run", "scalars.ein", "--dims", "N=3", "--device", "cpu", "--set", values, "--output", "y=y.npy"});
  };
  EXPECT_EQ(with("a=1,b=18446744073709551614,c=true").code, 0);
  EXPECT_THAT(with("a=3000000000,b=1,c=true").err,
              HasSubstr("a=3000000000: a is i32, and this does not fit it"));
  EXPECT_THAT(with("a=1.5,b=1,c=true").err, HasSubstr("a=1.5: a is i32, so a whole number"));
  EXPECT_THAT(with("a=1,b=-1,c=true").err, HasSubstr("b=-1: b is u64, and this does not fit it"));
  EXPECT_THAT(with("a=1,b=1,c=2").err, HasSubstr("c=2: c is bool, so true or false"));
  EXPECT_EQ(with("a=1,b=1,c=2").code, 2);
}

TEST_F(Run, WrongWordsProposeTheRightOnes) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--dims", "R=2"}, "C has no value: say --dims C=1024"},
      {{"--dims", "R=2,C=x"}, "C=x: a dim is an integer of 0 or more"},
      {{"--dims", "R=2,C=99999999999999999999"}, "a dim is an integer of 0 or more, of 64 bits"},
      {{"--dims", "R=2,R=3"}, "R is given twice, as 2 and as 3"},
      {{"--dims", "R"}, "--dims takes name=value, not \"R\""},
      {{"--dims", "R=2,C=2", "--set", "b=1"}, "twice has neither a dim nor a scalar called `b`"},
      {{"--input", "z=x.npy"}, "twice has no tensor `z`"},
      {{"--dims", "R=2,C=2", "--output", "z=z.npy"}, "no result is called `z`; there are: y"},
      {{"--dims", "R=2,C=2", "--function", "twise"}, "no function is called `twise`; did you mean `twice`?"},
      {{"--dims", "R=2,C=2", "--type", "T=f32"}, "has no type parameter T"},
      {{"--dims", "R=2,C=2", "--plan", "no"}, "no plan is called no; there are: fused"},
      {{"--dims", "R=2,C=2", "--schedule", "cpu.point"},
       "no schedule is called cpu.point; did you mean `cpu.points`?"},
      {{"--dims", "R=2,C=2", "--config", "lanes"}, "'lanes' in a configuration has no '='"},
      {{"--dims", "R=2,C=2", "--check", "maybe"}, "--check: maybe not in {"},
      {{"--dim", "R=2,C=2"}, "`run` has no option `--dim`; did you mean `--dims`?"}};
  for (const auto& [words, message] : cases) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << message << "\n" << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
  EXPECT_THAT(folder.run({"rnu", "twice.ein"}).err,
              HasSubstr("no command is called `rnu`; did you mean `run`?"));
  EXPECT_THAT(folder.run({}).err, HasSubstr("name a command"));
}

TEST_F(Run, ExitCodesSayWhatKindOfErrorItIs) {
  folder.write("bad.ein", "fn f(x: f32[N]) -> y: f32[N] { y[i] = z[i] }\n");
  EXPECT_EQ(folder.run({"run", "bad.ein", "--dims", "N=3"}).code, 1);
  EXPECT_EQ(folder.run({"run", "none.ein"}).code, 2);
  EXPECT_EQ(folder.run({"check", "none.ein"}).code, 2);
  EXPECT_EQ(folder.run({"run", ".", "--dims", "N=3"}).code, 2);
  EXPECT_EQ(run({"--dims", "R=1099511627776,C=1099511627776"}).code, 1);  // a shape past the limit
  EXPECT_EQ(folder.run({"run", "twice.ein", "--dims", "R=2,C=2", "--device", "tpu"}).code, 3);
}

TEST_F(Run, TensorsThatNoMemoryHoldsAreErrorsOfTheDevice) {
  for (const char* device : {"cpu", "reference"}) {
    const Ran ran = folder.run({"run", "twice.ein", "--dims", "R=1048576,C=1048576", "--device", device},
                               {.seconds = 30});
    EXPECT_EQ(ran.code, device == std::string("cpu") ? 3 : 3) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("memory"));
    EXPECT_THAT(ran.err, Not(HasSubstr("internal")));
  }
}

TEST_F(Run, EveryErrorIsJsonWhereJsonIsAskedFor) {
  folder.write("bad.ein", "fn f(x: f32[N]) -> y: f32[N] { y[i] = z[i] }\n");
  const std::vector<std::string> dims = {"--dims", "R=2"};
  for (const char* command : {"run", "tune", "emit", "explain"}) {
    Ran ran = folder.run({command, "twice.ein", "--dims", "R=2", "--device", "cpu", "--json"});
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_EQ(nlohmann::json::parse(ran.out).at("error").at("kind"), "usage") << command;
    ran = folder.run({command, "bad.ein", "--dims", "N=2", "--json"});
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_EQ(nlohmann::json::parse(ran.out).at("errors"), 1) << command;
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"check", "none.ein"},
                                                {"fmt", "none.ein"},
                                                {"cache", "why", "none.ein"},
                                                {"cache", "import", "none"},
                                                {"bench", "--type", "i8"},
                                                {"bench", "--nonsense"},
                                                {"devices", "more"}}) {
    std::vector<std::string> all = words;
    all.push_back("--json");
    const Ran ran = folder.run(all);
    EXPECT_EQ(ran.code, 2) << words[0] << "\n" << ran.err;
    EXPECT_TRUE(nlohmann::json::parse(ran.out).contains("error")) << words[0];
  }
}

TEST_F(Run, JsonHoldsWhatTheReportSays) {
  const Ran ran = run({"--input", "x=x.npy", "--json"});
  const auto report = nlohmann::json::parse(ran.out);
  EXPECT_EQ(report.at("ok"), true);
  EXPECT_EQ(report.at("dims").at("C"), 3);
  EXPECT_EQ(report.at("kernels").at(0).at("source"), "model");
  EXPECT_GT(report.at("seconds").get<double>(), 0);
}

}  // namespace
}  // namespace einkern
