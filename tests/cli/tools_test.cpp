// The commands beside run: check, fmt, emit, explain, tune, cache, devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace einkern {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;
using testing::CommandFolder;
using testing::example;
using testing::Ran;

TEST(Check, PrintsSignaturesOrDiagnostics) {
  const CommandFolder folder;
  folder.write("good.ein", "fn f(x: f32[N]) -> y: f32[N] { y[i] = 2 * x[i] }\n");
  folder.write("bad.ein", "fn f(width: f32[N]) -> y: f32[N] { y[i] = widht[i] }\n");
  Ran ran = folder.run({"check", "good.ein"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "fn f(x: f32[N]) -> y: f32[N]\n");
  ran = folder.run({"check", "bad.ein"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("bad.ein:1:43: error: `widht` is not defined here"));
  EXPECT_THAT(ran.err, Not(HasSubstr("\x1b[")));  // colours are for terminals
  ran = folder.run({"check", "bad.ein", "--json"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(Json::parse(ran.out).at("diagnostics").at(0).at("fix").at(0).at("replacement"), "width");
  EXPECT_EQ(folder.run({"check", "-"}, {.input = folder.read("good.ein")}).code, 0);
  EXPECT_EQ(folder.run({"check", "good.ein", "bad.ein"}).code, 1);
}

TEST(Fmt, FormatsInPlaceOnceAndKeepsWhatItCannotRead) {
  const CommandFolder folder;
  folder.write("a.ein", "fn f(x:f32[N])->y:f32[N]{y[i]=2*x[i]}  # why\n");
  folder.write("bad.ein", "fn f(\n");
  const Ran shown = folder.run({"fmt", "a.ein"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.out, "fn f(x: f32[N]) -> y: f32[N] { y[i] = 2 * x[i] }  # why\n");
  EXPECT_EQ(folder.run({"fmt", "--check", "a.ein"}).out, "a.ein\n");
  EXPECT_EQ(folder.run({"fmt", "--check", "a.ein"}).code, 1);
  const Json json = Json::parse(folder.run({"fmt", "a.ein", "bad.ein", "--json"}).out);
  EXPECT_EQ(json.at(0).at("changed"), true);
  EXPECT_EQ(json.at(0).at("text"), shown.out);
  EXPECT_EQ(json.at(1).at("diagnostics").size(), 1u);
  const Ran written = folder.run({"fmt", "--write", "a.ein", "bad.ein"});
  EXPECT_EQ(written.code, 1);  // of bad.ein
  EXPECT_EQ(folder.read("a.ein"), shown.out);
  EXPECT_EQ(folder.read("bad.ein"), "fn f(\n");
  EXPECT_EQ(folder.run({"fmt", "--check", "a.ein"}).code, 0);
  EXPECT_THAT(folder.names(), ElementsAre("a.ein", "bad.ein"));
}

TEST(Emit, GivesEachFormThatABackendHas) {
  const CommandFolder folder;
  const auto emitted = [&](const std::string& as) {
    return folder.run({"emit", example("matmul.ein"), "--dims", "M=128,N=128,K=128", "--as", as});
  };
  EXPECT_THAT(emitted("llvm-source").out, HasSubstr("define "));
  EXPECT_THAT(emitted("llvm").out, HasSubstr("define "));
  EXPECT_THAT(emitted("asm").out, HasSubstr(".text"));
  EXPECT_THAT(emitted("cuda").out, HasSubstr("__global__"));  // needs no GPU
  const Ran ptx = emitted("ptx");
  if (ptx.code == 0)
    EXPECT_THAT(ptx.out, HasSubstr(".target sm_"));
  else
    EXPECT_THAT(ptx.err, HasSubstr("libnvrtc"));
  const Ran wrong =
      folder.run({"emit", example("matmul.ein"), "--dims", "M=8,N=8,K=8", "--as", "asm", "--arch", "sm_90a"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("it has source, cuda, ptx and sass"));
  const Ran json =
      folder.run({"emit", example("softmax.ein"), "--dims", "R=8,C=8", "--arch", "sm_75", "--json"});
  EXPECT_EQ(Json::parse(json.out).at("architecture"), "sm_75");
  EXPECT_THAT(folder.run({"emit", example("softmax.ein"), "--dims", "R=8,C=8", "--arch", "sm_1"}).err,
              HasSubstr("sm_90a"));
}

/// Case 31: the same inputs give the same bytes, in any process.
TEST(Emit, GivesTheSameBytesInEveryProcess) {
  const CommandFolder folder;
  const std::vector<std::string> words = {"emit",   example("attention.ein"),
                                          "--dims", "B=1,H=4,HK=2,S=16,L=48,D=64",
                                          "--type", "T=bf16",
                                          "--arch", "sm_90a"};
  const std::string first = folder.run(words).out;
  EXPECT_THAT(first, HasSubstr("__global__"));
  for (int process = 0; process < 20; ++process) ASSERT_EQ(folder.run(words).out, first);
}

TEST(Emit, EndsQuietlyWhereItsReaderDoes) {
  const CommandFolder folder;
  const Ran ran = folder.shell("\"$einkern\" emit '" + example("matmul.ein") +
                               "' --dims M=512,N=512,K=512 --arch sm_90a | head -n 1");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
}

TEST(Explain, ShowsWhatADecisionNeeds) {
  const CommandFolder folder;
  const Ran ran = folder.run({"explain", example("linear_gelu.ein"), "--dims", "M=512,N=512,K=512", "--type",
                              "T=f32", "--arch", "sm_90a"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* part : {"linear_gelu_0 (contraction)", "finished before it is stored",
                           "schedule  cuda.simt_matmul [model]", "work ", "operations", "estimate ",
                           "hardware limit", "plan \"fused\" of linear_gelu", "contracted k in 0..K"})
    EXPECT_THAT(ran.out, HasSubstr(part));
  const Ran json = folder.run({"explain", example("linear_gelu.ein"), "--dims", "M=512,N=512,K=512", "--type",
                               "T=f32", "--arch", "sm_90a", "--json"});
  const Json kernel = Json::parse(json.out).at("kernels").at(0);
  EXPECT_GT(kernel.at("bytes").get<double>(), 0);
  EXPECT_GT(kernel.at("limit_seconds").get<double>(), 0);
}

/// Cases 22 and 30: what is tuned is used from then on, in fresh processes, with the same bits; empty shapes
/// leave nothing.
TEST(Tune, ItsBestServesEveryLaterProcess) {
  const CommandFolder folder;
  const testing::RunSetting own = {.environment = {{"EINKERN_CACHE_DIR", folder.path("cache")}}};
  const std::string file = example("softmax.ein");
  Ran ran = folder.run(
      {"tune", file, "--dims", "R=16,C=100", "--device", "cpu", "--seconds", "4", "--candidates", "4"}, own);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("best    cpu."));
  EXPECT_EQ(ran.err, "");  // no bar where there is no terminal
  std::vector<float> first;
  for (int process = 0; process < 2; ++process) {
    ran = folder.run({"run", file, "--dims", "R=16,C=100", "--device", "cpu", "--output", "y=y.npy"}, own);
    EXPECT_THAT(ran.out, HasSubstr("[tuned]"));
    if (process == 0) first = folder.read_npy("y.npy");
    EXPECT_EQ(folder.read_npy("y.npy"), first);
  }
  EXPECT_THAT(folder.run({"run", file, "--dims", "R=16,C=108", "--device", "cpu"}, own).out,
              HasSubstr("[tuned for near sizes]"));
  EXPECT_THAT(folder.run({"explain", file, "--dims", "R=16,C=100", "--device", "cpu"}, own).out,
              HasSubstr("measured "));
  const Ran again = folder.run({"tune", file, "--dims", "R=16,C=100", "--device", "cpu", "--json"}, own);
  EXPECT_EQ(Json::parse(again.out).at(0).at("format"), Json::parse(again.out).at(0).at("format"));
  EXPECT_GT(Json::parse(again.out).at(0).at("candidates").size(), 0u);
  const Json listed = Json::parse(folder.run({"cache", "list", "--json"}, own).out);
  const auto records = listed.at("records").size();
  EXPECT_GT(records, 0u);
  EXPECT_THAT(folder.run({"tune", file, "--dims", "R=0,C=100", "--device", "cpu"}, own).out,
              HasSubstr("nothing to measure"));
  EXPECT_EQ(Json::parse(folder.run({"cache", "list", "--json"}, own).out).at("records").size(), records);

  EXPECT_EQ(Json::parse(folder.run({"cache", "export", "mine", "--json"}, own).out).at("records"), records);
  EXPECT_GT(Json::parse(folder.run({"cache", "verify", "--json"}, own).out).at("good").get<int>(), 0);
  EXPECT_THAT(folder.run({"cache", "why", file, "--dims", "R=16,C=100", "--device", "cpu"}, own).out,
              HasSubstr("cached, "));
  const Json why = Json::parse(
      folder.run({"cache", "why", file, "--dims", "R=16,C=101", "--device", "cpu", "--json"}, own).out);
  EXPECT_EQ(why.at(0).at("cached"), false);
  EXPECT_GT(why.at(0).at("differences").size(), 0u);
  EXPECT_EQ(Json::parse(folder.run({"cache", "clear", "--json"}, own).out).at("records"), records);
  EXPECT_EQ(Json::parse(folder.run({"cache", "import", "mine", "--json"}, own).out).at("records"), records);
  EXPECT_EQ(
      Json::parse(folder.run({"cache", "path", "--json"}, own).out).at("folder"),
      folder.run({"cache", "path"}, own).out.substr(0, folder.run({"cache", "path"}, own).out.size() - 1));
}

TEST(Tune, AnInterruptionKeepsWhatWasFound) {
  const CommandFolder folder;
  const testing::RunSetting own = {.environment = {{"EINKERN_CACHE_DIR", folder.path("cache")}}};
  // Once something was measured the search is interrupted as Ctrl-C does it; the time allowed is far from
  // over.
  const Ran ran =
      folder.shell("timeout -s INT 8 \"$einkern\" tune '" + example("softmax.ein") +
                       "' --dims R=512,C=1024 --device cpu --seconds 50 --candidates 400; echo code $?",
                   own);
  EXPECT_THAT(ran.out, HasSubstr("code 124"));  // as timeout says it; einkern itself ended by its own will
  EXPECT_THAT(ran.err, HasSubstr("interrupted: what was found is kept"));
}

TEST(Devices, TellsWhatIsHereAndWhatIsMissing) {
  const CommandFolder folder;
  const Ran ran = folder.run({"devices"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("cpu  "));
  EXPECT_THAT(ran.out, HasSubstr("cuda"));
  EXPECT_EQ(Json::parse(folder.run({"devices", "--json"}).out).back().at("name"), "cpu");
}

TEST(Help, HasAnExampleForEveryCommand) {
  const CommandFolder folder;
  for (const char* command :
       {"run", "tune", "emit", "explain", "check", "fmt", "cache", "bench", "devices"}) {
    const Ran ran = folder.run({command, "--help"});
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_THAT(ran.out, HasSubstr(std::string("einkern ") + command)) << command;
    EXPECT_THAT(ran.out, HasSubstr("Example")) << command;
  }
  EXPECT_THAT(folder.run({"--help"}).out, HasSubstr("Exit codes: 0 success"));
  EXPECT_THAT(folder.run({"--version"}).out, StartsWith("0."));
}

TEST(AccessChecks, BecomeErrorsWhereTheEnvironmentAsks) {
  const CommandFolder folder;
  folder.write("f.ein", "fn f(x: f32[V], t: i32[N]) -> y: f32[N] { y[n] = x[t[n]] }\n");
  folder.write("t.npy", testing::npy_bytes("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
                                           testing::raw<std::int32_t>({1, 9})));
  const std::vector<std::string> words = {"run",     "f.ein",   "--dims",   "V=4",
                                          "--input", "t=t.npy", "--device", "cpu"};
  EXPECT_EQ(folder.run(words).code, 0);
  const Ran ran = folder.run(words, {.environment = {{"EINKERN_CHECK", "1"}}});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("x"), HasSubstr("9"), HasSubstr("4")));
}

}  // namespace
}  // namespace einkern
