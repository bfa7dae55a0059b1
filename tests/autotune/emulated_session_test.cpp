// The worker's session on an emulated GPU: candidates checked whole and by sample, views, and short kernels
// timed as graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autotune/check_kernels.h"
#include "autotune/problem.h"
#include "autotune/worker/session.h"
#include "codegen/cuda/schedules.h"
#include "codegen/plan/access.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/autotune/kernels.h"
#include "tests/cuda/emulation.h"

namespace einkern::autotune::worker {
namespace {

using testing::BoundFunction;
using testing::EmulatedGpu;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int reference_number = -1;
constexpr const char* product =
    "fn f(x: f32[M, K], w: f32[N, K]) -> y: f32[M, N] { y[i, j] = sum(k) x[i, k] * w[j, k] }";

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, from.size(), to);
}

class EmulatedSession : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::can_emulate()) GTEST_SKIP() << "no compiler to emulate with";
    gpu_ = std::make_shared<EmulatedGpu>();
    session_ = std::make_unique<Session>(
        [this](const std::string&) -> core::Result<std::shared_ptr<runtime::Device>> { return {gpu_}; });
    expect_good(OpenDevice{"emulated", build_identity()});
    expect_good(UseChecks{gpu_->compile(check_emission()).value()});
  }

  void expect_good(const Request& request) {
    const Reply reply = session_->answer(request);
    EXPECT_EQ(reply.failure, "");
  }

  core::Emission emit(const BoundFunction& function, const codegen::Schedule& schedule) {
    const auto context = function.context();
    return schedule.emit(context, codegen::ranked_configurations(schedule, context, 1).front()).value();
  }

  Load load_of(int number, const core::Emission& emission) {
    return {number, emission.launch, gpu_->compile(emission).value()};
  }

  /// Sets the problem and runs its reference.
  void begin(const BoundFunction& function, bool sampled = false) {
    problem_ = make_problem(function.context(), function.placements(), 1).value();
    if (sampled) {
      problem_.sampling = {.name = codegen::cuda::sample_name(function.context().kernel), .seed = 4};
      for (const dsl::AxisId axis : codegen::cuda::sampled_axes(function.context().kernel))
        problem_.sampling.extents.push_back(
            codegen::extent_of(*function.context().plan.graph, axis, function.context().binding));
    }
    expect_good(SetProblem{problem_});
    expect_good(load_of(reference_number, emit(function, sampled ? codegen::cuda::sampled_reference_schedule()
                                                                 : codegen::cuda::reference_schedule())));
    expect_good(RunReference{reference_number});
  }

  /// What the session says of the generic kernel with its text changed.
  std::string verdict(const BoundFunction& function, const std::string& from = "",
                      const std::string& to = "") {
    core::Emission emission = emit(function, *codegen::find_schedule("cuda.generic"));
    if (!from.empty()) replace(emission.source, from, to);
    expect_good(load_of(0, emission));
    return session_->answer(Check{0, 2}).failure;
  }

  std::shared_ptr<EmulatedGpu> gpu_;
  std::unique_ptr<Session> session_;
  Problem problem_;
};

TEST_F(EmulatedSession, RightAndWrongProductsAreToldApart) {
  const BoundFunction function(product, {{9, 33}, {14, 33}}, gpu_->facts());
  begin(function);
  EXPECT_EQ(verdict(function), "");
  EXPECT_THAT(verdict(function, "if (", "if (threadIdx.x != 77 && "),
              AllOf(StartsWith("wrong: y["), HasSubstr("1 of 126 elements are wrong"),
                    HasSubstr("1 by a NaN"), HasSubstr("1 not written")));
  EXPECT_EQ(verdict(function, "if (", "if (false && "), "wrong: the kernel writes nothing to y");
}

TEST_F(EmulatedSession, ASampleFindsWhatTheWholeWould) {
  const BoundFunction function(product, {{90, 5}, {120, 5}}, gpu_->facts());
  begin(function, true);
  EXPECT_EQ(verdict(function), "");
  // Thread 0 of every block: points all over.
  EXPECT_THAT(verdict(function, "if (", "if (threadIdx.x != 0 && "), HasSubstr("elements are wrong"));
}

TEST_F(EmulatedSession, ASampledReferenceFollowsEveryLayoutOfItsAxes) {
  const std::string batched =
      "fn f(x: bf16[B, M, K], w: bf16[B, K, N], c: bf16[N]) -> y: bf16[N, B, M] "
      "{ y[j, b, i] = max((sum(k) x[b, i, k] * w[b, k, j]) + c[j], 0.0) }";
  const BoundFunction function(batched, {{3, 20, 7}, {3, 7, 30}, {30}}, gpu_->facts(), {});
  begin(function, true);
  EXPECT_EQ(verdict(function), "");
}

TEST_F(EmulatedSession, ViewsAreCheckedAsTheyLie) {
  const std::string source =
      "fn f(x: f32[A, B], b: f32[A, B], c: f32[A, B]) -> y: f32[A, B] { y[i, j] = x[i, j] * b[i, j] + c[i, "
      "j] }";
  const BoundFunction function(source, {{7, 20}, {7, 20}, {7, 20}}, gpu_->facts(),
                               {{.strides = {-20, 1}, .address_modulo_16 = 4},
                                {.strides = {0, 1}},
                                {.strides = {1, 24}, .address_modulo_16 = 8},
                                {.strides = {32, 1}}});
  begin(function);
  EXPECT_EQ(verdict(function), "");
}

TEST_F(EmulatedSession, UpdatesStartFromTheSameData) {
  const std::string source = "fn f(y: inout f32[N], x: f32[N]) { y[i] = y[i] + x[i] }";
  const BoundFunction function(source, {{50}, {50}}, gpu_->facts());
  begin(function);
  EXPECT_EQ(verdict(function), "");
}

TEST_F(EmulatedSession, ShortKernelsAreTimedAsGraphsOfRotatedCopies) {
  const BoundFunction function("fn f(x: f32[N]) -> y: f32[N] { y[i] = 2.0 * x[i] }", {{64}}, gpu_->facts());
  begin(function);
  ASSERT_EQ(verdict(function), "");
  gpu_->launch_seconds = 5e-6;
  const int graphs = gpu_->graph_launches;
  const Reply reply = session_->answer(Time{{0}, 4, 1});
  ASSERT_EQ(reply.failure, "");
  EXPECT_EQ(gpu_->graph_launches - graphs, 5);  // one to warm up
  ASSERT_EQ(reply.samples.at(0).size(), 4u);
  for (const double sample : reply.samples[0]) EXPECT_NEAR(sample, 5e-6, 1e-9);
  // The last graph's launches: every tensor of every launch in a place of its own.
  std::set<runtime::Address> places;
  for (std::size_t i = gpu_->addresses.size() - graph_launches; i < gpu_->addresses.size(); ++i)
    places.insert(gpu_->addresses[i].begin(), gpu_->addresses[i].end());
  EXPECT_EQ(places.size(), 2u * graph_launches);
}

TEST_F(EmulatedSession, LongKernelsAreTimedAlone) {
  const BoundFunction function("fn f(x: f32[N]) -> y: f32[N] { y[i] = 2.0 * x[i] }", {{64}}, gpu_->facts());
  begin(function);
  ASSERT_EQ(verdict(function), "");
  gpu_->launch_seconds = 40e-6;
  const Reply reply = session_->answer(Time{{0}, 4, 1});
  EXPECT_EQ(gpu_->graph_launches, 0);
  for (const double sample : reply.samples.at(0)) EXPECT_NEAR(sample, 40e-6, 1e-9);
  // A rival that is short puts both on one footing.
  gpu_->launch_seconds = 15e-6;
  EXPECT_EQ(session_->answer(Time{{0}, 1, 1}).failure, "");
  gpu_->launch_seconds = 40e-6;
  const int graphs = gpu_->graph_launches;
  EXPECT_EQ(session_->answer(Time{{0}, 1, 1}).failure, "");
  EXPECT_GT(gpu_->graph_launches, graphs);
}

}  // namespace
}  // namespace einkern::autotune::worker
