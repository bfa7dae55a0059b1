// The worker that is installed, given kernels that do what they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "autotune/problem.h"
#include "autotune/worker_measurer.h"
#include "tests/autotune/kernels.h"

namespace einkern::autotune {
namespace {

using testing::BoundFunction;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* add = "fn add(x: f32[N], y: f32[N]) -> z: f32[N] { z[i] = x[i] + y[i] }";

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = testing::cpu_device();
    if (!device_) GTEST_SKIP() << "built without LLVM";
    function_ = std::make_unique<BoundFunction>(add, std::vector<std::vector<std::int64_t>>{{1000}, {1000}},
                                                device_->facts());
    right_ = testing::first_emission(function_->context());
  }

  /// Argument slot of a tensor in the only step.
  int slot(const std::string& tensor) const {
    const auto& step = std::get<core::CpuStep>(right_.launch.steps.at(0));
    for (std::size_t i = 0; i < step.arguments.size(); ++i)
      if (const auto* pointer = std::get_if<core::PointerArgument>(&step.arguments[i]);
          pointer && right_.launch.buffers[static_cast<std::size_t>(pointer->buffer)].name == tensor)
        return static_cast<int>(i);
    std::abort();
  }

  /// The right kernel's launch with another body; `%tensor` of the body is a pointer to that tensor.
  core::Emission with_body(const std::string& body, const std::string& tensor = "z") const {
    core::Emission emission = right_;
    emission.source = fmt::format(
        "define void @{}(ptr %arguments, i64 %begin, i64 %end, ptr %scratch) {{\n"
        "  %slot = getelementptr i64, ptr %arguments, i64 {}\n"
        "  %tensor = load ptr, ptr %slot\n{}}}\n",
        emission.entries.at(0), slot(tensor), body);
    return emission;
  }

  /// The right kernel, after which `body` runs, once a launch: `%before` counts the launches before it and
  /// `%tensor` is z; it ends in a branch to `done`.
  core::Emission counting(const std::string& body) const {
    core::Emission emission = right_;
    const std::string entry = emission.entries.at(0), real = entry + "_real";
    emission.source.replace(emission.source.find("@" + entry + "("), entry.size() + 1, "@" + real);
    emission.source += fmt::format(
        "@launches = internal global i32 0\n"
        "define void @{}(ptr %arguments, i64 %begin, i64 %end, ptr %scratch) {{\n"
        "  call void @{}(ptr %arguments, i64 %begin, i64 %end, ptr %scratch)\n"
        "  %slot = getelementptr i64, ptr %arguments, i64 {}\n"
        "  %tensor = load ptr, ptr %slot\n"
        "  %first = icmp eq i64 %begin, 0\n"
        "  br i1 %first, label %count, label %done\n"
        "count:\n"
        "  %before = atomicrmw add ptr @launches, i32 1 seq_cst\n{}"
        "done:\n  ret void\n}}\n",
        entry, real, slot("z"), body);
    return emission;
  }

  core::Result<std::unique_ptr<WorkerMeasurer>> start(const std::vector<core::Emission>& emissions,
                                                      double estimate = 1e-6) {
    std::vector<MeasuredKernel> kernels;
    for (const core::Emission& emission : emissions) {
      std::promise<runtime::BuiltKernel> promise;
      promise.set_value(testing::compiled(emission, *device_));
      kernels.push_back({promise.get_future().share(), estimate});
    }
    WorkerSetting setting{.device = "cpu"};
    setting.problem = make_problem(function_->context(), function_->placements(), 1).value();
    setting.problem.tensors.back().relative = allowed_;
    setting.reference = testing::compiled(right_, *device_);
    return WorkerMeasurer::start(std::move(setting), std::move(kernels));
  }

  std::shared_ptr<runtime::Device> device_;
  std::unique_ptr<BoundFunction> function_;
  core::Emission right_;
  double allowed_ = 0;  // relative error of z
};

TEST_F(WorkerTest, ARightKernelIsAdmittedTimedAndConfirmed) {
  const auto measurer = start({right_});
  ASSERT_TRUE(measurer.ok()) << measurer.error().message;
  const Admission admission = (*measurer)->admit(0);
  EXPECT_EQ(admission.outcome, "");
  EXPECT_EQ(admission.error, 0);
  const auto timings = (*measurer)->time({0}, 5);
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].outcome, "");
  ASSERT_EQ(timings[0].samples.size(), 5u);
  for (const double sample : timings[0].samples) EXPECT_GT(sample, 0);
  EXPECT_EQ((*measurer)->confirm(0), "");
  EXPECT_EQ((*measurer)->restarts(), 0);
}

TEST_F(WorkerTest, EveryBadKernelFallsOutWithItsReasonAndTheNextIsMeasured) {
  const std::string store_one = "  store float 1.0, ptr %at\n  ret void\n";
  const BoundFunction subtraction("fn sub(x: f32[N], y: f32[N]) -> z: f32[N] { z[i] = x[i] - y[i] }",
                                  {{1000}, {1000}}, device_->facts());
  const auto measurer = start({
      with_body("  store volatile i32 1, ptr inttoptr (i64 8 to ptr)\n  ret void\n"),
      with_body("  br label %again\nagain:\n  call void asm sideeffect \"\", \"\"()\n  br label %again\n"),
      with_body("  ret void\n"),
      with_body("  %at = getelementptr float, ptr %tensor, i64 1000\n" + store_one),
      with_body("  %at = getelementptr float, ptr %tensor, i64 -1\n" + store_one),
      with_body("  %at = getelementptr float, ptr %tensor, i64 500\n" + store_one, "x"),
      with_body("  %at = getelementptr float, ptr %tensor, i64 7\n" + store_one),
      testing::first_emission(subtraction.context()),
      right_,
  });
  ASSERT_TRUE(measurer.ok()) << measurer.error().message;
  const auto outcome = [&](int candidate) { return (*measurer)->admit(candidate).outcome; };
  EXPECT_THAT(outcome(0), HasSubstr("fault: the worker ended with signal 11"));
  EXPECT_THAT(outcome(1), StartsWith("hang: no answer in"));
  EXPECT_EQ(outcome(2), "wrong: the kernel writes nothing to z");
  EXPECT_EQ(outcome(3), "wrong: the kernel writes outside z");
  EXPECT_EQ(outcome(4), "wrong: the kernel writes outside z");
  EXPECT_EQ(outcome(5), "wrong: the kernel changes the input x");
  EXPECT_THAT(outcome(6), AllOf(StartsWith("wrong: z["), HasSubstr("of 1000 elements are wrong")));
  EXPECT_THAT(outcome(7), AllOf(StartsWith("wrong: z["), HasSubstr("the reference")));
  EXPECT_EQ(outcome(8), "");
  EXPECT_EQ((*measurer)->restarts(), 2);
}

TEST_F(WorkerTest, AKernelThatFaultsWhileTimedIsTheOnlyOneToFallOut) {
  const core::Emission late = counting(R"(
  %late = icmp sge i32 %before, 2000
  br i1 %late, label %fault, label %done
fault:
  store volatile i32 1, ptr inttoptr (i64 8 to ptr)
  br label %done
)");
  const auto measurer = start({right_, late});
  ASSERT_TRUE(measurer.ok()) << measurer.error().message;
  EXPECT_EQ((*measurer)->admit(0).outcome, "");
  EXPECT_EQ((*measurer)->admit(1).outcome, "");
  const auto timings = (*measurer)->time({0, 1}, 40);
  EXPECT_EQ(timings[0].outcome, "");
  EXPECT_EQ(timings[0].samples.size(), 40u);
  EXPECT_THAT(timings[1].outcome, StartsWith("fault: the worker ended with signal 11"));
}

TEST_F(WorkerTest, AKernelWhoseBitsChangeIsNotConfirmed) {
  allowed_ = 1e-6;
  // Every other launch adds a unit in the last place to the first element, well within the tolerance.
  const auto measurer = start({counting(R"(
  %parity = and i32 %before, 1
  %odd = icmp eq i32 %parity, 1
  br i1 %odd, label %change, label %done
change:
  %value = load i32, ptr %tensor
  %next = add i32 %value, 1
  store i32 %next, ptr %tensor
  br label %done
)")});
  ASSERT_TRUE(measurer.ok()) << measurer.error().message;
  EXPECT_EQ((*measurer)->admit(0).outcome, "");
  EXPECT_EQ((*measurer)->confirm(0), "wrong: two runs give different bits in z");
}

TEST_F(WorkerTest, TheSameCodeIsMeasuredOnce) {
  const auto measurer = start({right_, right_});
  ASSERT_TRUE(measurer.ok());
  EXPECT_EQ((*measurer)->admit(0).outcome, "");
  EXPECT_EQ((*measurer)->admit(1).outcome, "compile: the same code as another candidate");
}

TEST_F(WorkerTest, AReferenceThatFaultsIsAnError) {
  right_ = with_body("  store volatile i32 1, ptr inttoptr (i64 8 to ptr)\n  ret void\n");
  const auto measurer = start({right_});
  ASSERT_FALSE(measurer.ok());
  EXPECT_THAT(measurer.error().message, HasSubstr("the reference kernel failed: fault"));
}

TEST_F(WorkerTest, AWorkerThatIsNotThereIsAnErrorThatNamesTheVariable) {
  const std::string right = std::getenv("EINKERN_WORKER");
  setenv("EINKERN_WORKER", "/nonexistent/einkern-worker", 1);
  const auto measurer = start({right_});
  setenv("EINKERN_WORKER", right.c_str(), 1);
  ASSERT_FALSE(measurer.ok());
  EXPECT_THAT(measurer.error().message,
              AllOf(HasSubstr("/nonexistent/einkern-worker"), HasSubstr("EINKERN_WORKER")));
}

}  // namespace
}  // namespace einkern::autotune
