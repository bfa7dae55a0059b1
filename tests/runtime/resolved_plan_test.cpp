#include "runtime/resolved_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace einkern::runtime {
namespace {

using namespace core;
using testing::ElementsAre;
using testing::HasSubstr;

SizeExpression dim(const char* name) { return SizeExpression::symbol(name); }

TEST(ResolvedPlan, GivesACpuLoopOneWordAnArgument) {
  LaunchPlan plan;
  plan.buffers = {{"x", BufferKind::input, DType::f32, 0, 16, false},
                  {"t", BufferKind::scratch, DType::f32, 100, 64, false}};
  plan.scalars = {{"a", DType::f32}};
  plan.steps = {CpuStep{"loop",
                        dim("M"),
                        0,
                        4096,
                        {DivisorArgument{dim("M")}, PointerArgument{0, 8}, ScalarArgument{0},
                         SizeArgument{dim("M"), 4}, PointerArgument{1, 0}}},
                CpuStep{"empty", 0, 1, 0, {DivisorArgument{0}}}};
  const auto resolved = resolve(plan, {{"M", 21}});
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  ASSERT_EQ(resolved->steps.size(), 1u);
  const auto& loop = std::get<ResolvedCpuLoop>(resolved->steps[0]);
  EXPECT_EQ(loop.tasks, 21);
  EXPECT_EQ(loop.grain, 1);
  EXPECT_EQ(loop.scratch_bytes, 4096);
  EXPECT_THAT(loop.arguments.starts, ElementsAre(0, 1, 2, 3, 4));
  const Address buffers[] = {1000, 0};
  const std::uint64_t scalars[] = {77};
  std::uint64_t words[5];
  resolved->patch(loop.arguments, {buffers, scalars, {}}, 512, words);
  EXPECT_THAT(words, ElementsAre(21, 1008, 77, 21, 512));
}

TEST(ResolvedPlan, LaysOutTheWorkspaceZeroedBuffersFirst) {
  LaunchPlan plan;
  plan.buffers = {{"a", BufferKind::scratch, DType::f32, 1, 1, false},
                  {"x", BufferKind::input, DType::f32, 0, 16, false},
                  {"n", BufferKind::counter, DType::u32, 300, 4, true},
                  {"c", BufferKind::constant, DType::f32, 64, 16, false},
                  {"b", BufferKind::scratch, DType::f32, 257, 256, true},
                  {"e", BufferKind::scratch, DType::f32, 0, 16, false}};
  const auto resolved = resolve(plan, {});
  ASSERT_TRUE(resolved.ok());
  EXPECT_THAT(resolved->workspace_offsets, ElementsAre(1024, -1, 0, -1, 512, 1280));
  EXPECT_EQ(resolved->zeroed_bytes, 1024);
  EXPECT_EQ(resolved->workspace_bytes, 1280);
}

TEST(ResolvedPlan, RefusesWorkspacesThatCannotBe) {
  LaunchPlan plan;
  plan.buffers = {
      {"a", BufferKind::scratch, DType::f32, std::numeric_limits<std::int64_t>::max(), 16, false}};
  EXPECT_THAT(resolve(plan, {}).error().message, HasSubstr("do not fit 64 bits"));
  plan.buffers[0].bytes = dim("N") * -1;
  EXPECT_THAT(resolve(plan, {{"N", 1}}).error().message, HasSubstr("negative"));
  plan.buffers[0].bytes = 16;
  plan.buffers[0].alignment = 512;
  EXPECT_THAT(resolve(plan, {}).error().message, HasSubstr("'a' asks for an alignment of 512"));
}

}  // namespace
}  // namespace einkern::runtime
