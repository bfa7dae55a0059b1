// Tuning from end to end on the CPU, through the worker, into records.
#include "autotune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "autotune/candidates.h"
#include "runtime/child_process.h"
#include "tests/autotune/kernels.h"

namespace einkern::autotune {
namespace {

using testing::BoundFunction;
using ::testing::HasSubstr;

constexpr const char* product =
    "fn product(x: f32[M, K], y: f32[K, N]) -> z: f32[M, N] { z[i, j] = sum(k) x[i, k] * y[k, j] }";

class TunerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = testing::cpu_device();
    if (!device_) GTEST_SKIP() << "built without LLVM";
    process_records().clear();
  }
  BoundFunction bound(const std::string& source, std::vector<std::vector<std::int64_t>> shapes) const {
    return {source, std::move(shapes), device_->facts()};
  }
  core::Result<TuneOutcome> tune(const BoundFunction& function, const TuneOptions& options,
                                 const ProgressHandler& progress = nullptr) {
    return tune_kernel(function.context(), function.placements(), *device_, options, progress);
  }
  /// Quick enough for a test.
  static TuneOptions quick(int candidates = 3) { return {.seconds = 20, .candidates = candidates}; }

  std::shared_ptr<runtime::Device> device_;
};

TEST_F(TunerTest, AProductIsTunedAndItsRecordServesFromThenOn) {
  const BoundFunction function = bound(product, {{60, 33}, {33, 70}});
  std::vector<TuneProgress> told;
  const auto outcome = tune(function, quick(4), [&](const TuneProgress& now) { told.push_back(now); });
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->from_record);
  const TuningRecord& record = outcome->record;
  EXPECT_GT(record.seconds, 0);
  EXPECT_GT(record.limit_seconds, 0);
  EXPECT_NE(codegen::find_schedule(record.schedule), nullptr);
  EXPECT_EQ(record.candidates.size(), 4u);
  for (const CandidateFate& fate : record.candidates)
    EXPECT_TRUE(fate.outcome == "measured" || fate.outcome.starts_with("compile: the same code"))
        << fate.schedule << " " << fate.configuration << ": " << fate.outcome;
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().candidates, 4);
  EXPECT_EQ(told.back().measured + told.back().failed, 4);
  EXPECT_EQ(told.back().best, record.schedule + " " + record.configuration);
  EXPECT_GT(told.back().operations, 0);

  const auto found = process_records().find(record_key(function.context()));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->to_json(), record.to_json());
  const auto again = tune(function, quick());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->from_record);
  EXPECT_EQ(again->record.to_json(), record.to_json());
}

TEST_F(TunerTest, MoreGoesOnWithNewCandidatesBesideTheBest) {
  const BoundFunction function = bound(product, {{32, 32}, {32, 32}});
  const auto first = tune(function, quick(2));
  ASSERT_TRUE(first.ok()) << first.error().message;
  TuneOptions more = quick(2);
  more.more = true;
  const auto second = tune(function, more);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_FALSE(second->from_record);
  EXPECT_EQ(second->record.candidates.size(), 4u);
  std::set<std::string> names;
  for (const CandidateFate& fate : second->record.candidates)
    names.insert(fate.schedule + " " + fate.configuration);
  EXPECT_EQ(names.size(), 4u);
  for (const CandidateFate& fate : first->record.candidates)
    EXPECT_TRUE(names.contains(fate.schedule + " " + fate.configuration));
}

TEST_F(TunerTest, EveryKindOfKernelIsTuned) {
  const std::vector<std::pair<std::string, std::vector<std::vector<std::int64_t>>>> cases = {
      {"fn scale(x: bf16[R, C], a: f32 = 0.5) -> y: bf16[R, C] { y[r, c] = a * x[r, c] }", {{7, 33}}},
      {"fn softmax(x: f32[R, C]) -> y: f32[R, C] { m[r] = max(c) x[r, c]\n e[r, c] = exp(x[r, c] - m[r])\n "
       "y[r, c] = e[r, c] / sum(c) e[r, c] }",
       {{9, 100}}},
      {"fn product(x: bf16[M, K], y: bf16[N, K]) -> z: bf16[M, N] { z[i, j] = sum(k) x[i, k] * y[j, k] }",
       {{17, 40}, {9, 40}}},
      {"fn chain(x: f32[M, K], y: f32[K, K]) -> z: f32[M, K] { t[i, j] = sum(k) x[i, k] * y[k, j]\n "
       "z[i, j] = sum(k) t[i, k] * y[k, j] }",
       {{12, 20}, {20, 20}}},
      {"fn count(x: i32[N]) -> n: i64 { n = sum(i) i64(x[i]) }", {{1000}}},
      {"fn embed(t: i32[S], w: f16[V, D]) -> e: f16[S, D] { e[s, d] = w[t[s], d] }", {{20}, {50, 8}}},
      {"fn cumsum(x: f32[R, N]) -> y: f32[R, N] { y[r, i] = sum(j in 0..i + 1) x[r, j] }", {{3, 50}}},
      {"fn add_rows(y: inout f32[V, D], t: i32[S], x: f32[S, D]) { y[t[s], d] += x[s, d] }",
       {{10, 4}, {30}, {30, 4}}},
  };
  for (const auto& [source, shapes] : cases) {
    const BoundFunction function = bound(source, shapes);
    for (std::size_t kernel = 0; kernel < function.kernel_count(); ++kernel) {
      const auto outcome =
          tune_kernel(function.context(kernel), function.placements(), *device_, quick(1), nullptr);
      ASSERT_TRUE(outcome.ok()) << source << "\n" << outcome.error().message;
      EXPECT_EQ(outcome->record.candidates.at(0).outcome, "measured");
    }
  }
}

TEST_F(TunerTest, StridedAndMisalignedTensorsAreMeasuredAsTheyLie) {
  const std::string source = "fn scale(x: f32[R, C]) -> y: f32[R, C] { y[r, c] = 2.0 * x[r, c] }";
  const BoundFunction columns(source, {{40, 30}}, device_->facts(), {{.strides = {1, 48}}});
  const BoundFunction rows(source, {{40, 30}}, device_->facts(),
                           {{.strides = {37, 1}, .address_modulo_16 = 4}});
  for (const BoundFunction* function : {&columns, &rows}) {
    const auto outcome = tune(*function, quick(1));
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_FALSE(outcome->from_record);  // another layout, another record
  }
}

TEST_F(TunerTest, OtherSizesHaveRecordsOfTheirOwn) {
  const BoundFunction small = bound(product, {{16, 16}, {16, 16}}),
                      wide = bound(product, {{16, 16}, {16, 64}});
  ASSERT_TRUE(tune(small, quick(1)).ok());
  const auto other = tune(wide, quick(1));
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->from_record);
  EXPECT_EQ(process_records().list().size(), 2u);
}

TEST_F(TunerTest, EmptyTensorsAreNeitherMeasuredNorRecorded) {
  for (const auto& [m, k, n] : {std::tuple{0, 4, 4}, std::tuple{4, 0, 4}, std::tuple{4, 4, 0}}) {
    const auto outcome = tune(bound(product, {{m, k}, {k, n}}), quick());
    ASSERT_TRUE(outcome.ok());
    EXPECT_TRUE(outcome->nothing_to_measure);
  }
  EXPECT_TRUE(process_records().list().empty());
}

TEST_F(TunerTest, AnInterruptionBeforeAnythingIsMeasuredLeavesNoRecord) {
  const std::atomic<bool> interrupted = true;
  TuneOptions options = quick();
  options.interrupted = &interrupted;
  const auto outcome = tune(bound(product, {{16, 16}, {16, 16}}), options);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_TRUE(process_records().list().empty());
}

TEST_F(TunerTest, AnInterruptionKeepsTheBestSoFar) {
  std::atomic<bool> interrupted = false;
  TuneOptions options = quick(4);
  options.interrupted = &interrupted;
  const BoundFunction function = bound(product, {{16, 16}, {16, 16}});
  const auto outcome = tune(function, options, [&](const TuneProgress& now) {
    if (now.measured >= 1) interrupted = true;
  });
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_EQ(outcome->record.candidates.size(), 1u);
  EXPECT_TRUE(process_records().find(record_key(function.context())).has_value());
}

TEST_F(TunerTest, AScheduleThatDoesNotFitIsAnErrorWithTheReason) {
  TuneOptions options = quick();
  options.schedule = "cpu.contraction";
  const auto outcome = tune(bound("fn f(x: f32[N]) -> y: f32[N] { y[i] = x[i] }", {{8}}), options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("cpu.contraction: it is no contraction"));
  EXPECT_TRUE(process_records().list().empty());
  options.schedule = "cpu.magic";
  const auto unknown = tune(bound("fn f(x: f32[N]) -> y: f32[N] { y[i] = x[i] }", {{8}}), options);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("no schedule of this device is called cpu.magic"));
}

/// The CPU, with a compiler that takes the kernels of one schedule alone.
class PickyCompiler final : public runtime::Device {
 public:
  PickyCompiler(std::shared_ptr<runtime::Device> device, std::string taken)
      : device_(std::move(device)), taken_(std::move(taken)) {}
  core::Result<core::Artifact> compile(const core::Emission& emission) const override {
    if (emission.source.find(taken_) != std::string::npos) return device_->compile(emission);
    return core::Error{core::ErrorKind::compile, "the register allocator is on strike"};
  }
  std::string compiler_version() const override { return device_->compiler_version() + " picky"; }

  const core::DeviceFacts& facts() const override { return device_->facts(); }
  core::Result<runtime::Address> allocate(std::int64_t bytes) override { return device_->allocate(bytes); }
  void free(runtime::Address address) override { device_->free(address); }
  core::Result<runtime::Address> allocate_in_order(std::int64_t bytes, runtime::Stream stream) override {
    return device_->allocate_in_order(bytes, stream);
  }
  void free_in_order(runtime::Address address, runtime::Stream stream) override {
    device_->free_in_order(address, stream);
  }
  core::Result<std::int64_t> free_memory() override { return device_->free_memory(); }
  core::Result<void> copy_to_device(runtime::Address to, const void* from, std::int64_t bytes,
                                    runtime::Stream stream) override {
    return device_->copy_to_device(to, from, bytes, stream);
  }
  core::Result<void> copy_to_host(void* to, runtime::Address from, std::int64_t bytes,
                                  runtime::Stream stream) override {
    return device_->copy_to_host(to, from, bytes, stream);
  }
  core::Result<void> copy(runtime::Address to, runtime::Address from, std::int64_t bytes,
                          runtime::Stream stream) override {
    return device_->copy(to, from, bytes, stream);
  }
  core::Result<void> fill(runtime::Address to, std::uint8_t byte, std::int64_t bytes,
                          runtime::Stream stream) override {
    return device_->fill(to, byte, bytes, stream);
  }
  core::Result<runtime::Stream> create_stream() override { return device_->create_stream(); }
  void destroy_stream(runtime::Stream stream) override { device_->destroy_stream(stream); }
  core::Result<void> synchronize(runtime::Stream stream) override { return device_->synchronize(stream); }
  core::Result<bool> is_capturing(runtime::Stream stream) override { return device_->is_capturing(stream); }
  core::Result<std::unique_ptr<runtime::Event>> create_event() override { return device_->create_event(); }
  core::Result<std::shared_ptr<const runtime::Module>> load(const core::Artifact& artifact) override {
    return device_->load(artifact);
  }
  core::Result<std::shared_ptr<const runtime::PreparedLaunch>> prepare(
      const core::LaunchPlan& plan, std::span<const std::shared_ptr<const runtime::Module>> modules,
      const core::SymbolValues& symbols) override {
    return device_->prepare(plan, modules, symbols);
  }

 private:
  std::shared_ptr<runtime::Device> device_;
  std::string taken_;
};

TEST_F(TunerTest, AllCandidatesFailingIsAnErrorThatListsTheReasons) {
  PickyCompiler picky(device_, "cpu.points");  // the reference is taken, so that candidates alone fail
  TuneOptions options = quick(3);
  options.schedule = "cpu.contraction";
  const BoundFunction function = bound(product, {{24, 24}, {24, 24}});
  const auto outcome = tune_kernel(function.context(), function.placements(), picky, options, nullptr);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message,
              HasSubstr("3 candidates: compile: the register allocator is on strike"));
  EXPECT_TRUE(process_records().list().empty());
  options.schedule.clear();  // where some schedule works, the others' failures are its record's footnotes
  const auto rescued = tune_kernel(function.context(), function.placements(), picky, options, nullptr);
  ASSERT_TRUE(rescued.ok()) << rescued.error().message;
  EXPECT_EQ(rescued->record.schedule, "cpu.points");
}

/// Tunes, or takes the record of a process before.
TEST(TunerProcess, TunesOnceForAllProcesses) {
  const auto device = testing::cpu_device();
  if (!device) GTEST_SKIP() << "built without LLVM";
  const BoundFunction function(product, {{40, 40}, {40, 40}}, device->facts());
  const bool is_first = !process_records().find(record_key(function.context())).has_value();
  const auto outcome = tune_kernel(function.context(), function.placements(), *device,
                                   {.seconds = 20, .candidates = 2}, nullptr);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->from_record, !is_first);
  if (const char* wanted = std::getenv("EINKERN_TUNER_TEST_RECORD")) {
    EXPECT_EQ(outcome->record.schedule + " " + outcome->record.configuration, wanted);
    EXPECT_TRUE(outcome->from_record);
    return;
  }
  // The same test again, in a process of its own on this one's records.
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  setenv(testing::folder_variable, std::getenv("EINKERN_CACHE_DIR"), 1);
  setenv("EINKERN_TUNER_TEST_RECORD",
         (outcome->record.schedule + " " + outcome->record.configuration).c_str(), 1);
  auto child = runtime::ChildProcess::start(program, {"--gtest_filter=TunerProcess.*"});
  unsetenv(testing::folder_variable);
  unsetenv("EINKERN_TUNER_TEST_RECORD");
  ASSERT_TRUE(child.ok()) << child.error().message;
  const auto status = child->wait(std::chrono::seconds(60));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->text(), "exit status 0");
}

TEST_F(TunerTest, CandidatesAreDistinctAndEveryScheduleHasSome) {
  const BoundFunction function = bound(product, {{64, 64}, {64, 64}});
  const CandidateList list = list_candidates(function.context(), {.count = 20});
  std::set<std::string> sources, schedules;
  for (const Candidate& candidate : list.candidates) {
    EXPECT_TRUE(sources.insert(candidate.emission.source + candidate.emission.launch.to_json()).second);
    schedules.insert(std::string(candidate.schedule->name()));
  }
  EXPECT_EQ(list.candidates.size(), 20u);
  EXPECT_EQ(schedules.size(), 2u);
  for (std::size_t i = 1; i < list.candidates.size(); ++i)
    EXPECT_LE(list.candidates[i - 1].estimate.seconds, list.candidates[i].estimate.seconds);
  const Candidate& first = list.candidates.front();
  const CandidateName name(first.schedule->name(), first.configuration.text());
  for (const Candidate& candidate :
       list_candidates(function.context(), {.count = 20, .skip = {name}}).candidates)
    EXPECT_NE(CandidateName(candidate.schedule->name(), candidate.configuration.text()), name);
}

}  // namespace
}  // namespace einkern::autotune
