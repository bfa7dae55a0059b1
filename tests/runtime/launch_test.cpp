// Prepared launches on the fake driver: what reaches the kernel, byte by byte, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <thread>

#include "core/fast_divisor.h"
#include "tests/fakes/fake_gpu.h"

namespace einkern::runtime::cuda {
namespace {

using namespace core;
using testing::ElementsAre;
using testing::HasSubstr;

SizeExpression dim(const char* name) { return SizeExpression::symbol(name); }

class Launch : public testing::Test {
 protected:
  Launch() : state_(reset_fake_driver()), gpu_(open_fake_gpu()) {}

  std::shared_ptr<const Module> load(const Artifact& artifact) {
    auto module = gpu_->load(artifact);
    EXPECT_TRUE(module.ok());
    return *module;
  }
  Result<std::shared_ptr<const PreparedLaunch>> prepare(const LaunchPlan& plan,
                                                        std::shared_ptr<const Module> module,
                                                        const SymbolValues& symbols = {}) {
    const std::vector<std::shared_ptr<const Module>> modules = {std::move(module)};
    return gpu_->prepare(plan, modules, symbols);
  }

  fakes::FakeDriverState& state_;
  std::shared_ptr<GpuDevice> gpu_;
};

/// A plan with one kernel "k" and every kind of argument and buffer.
LaunchPlan full_plan() {
  LaunchPlan plan;
  plan.buffers = {{"x", BufferKind::input, DType::f32, 0, 16, false},
                  {"partial", BufferKind::scratch, DType::f32, dim("M") * 4, 256, false},
                  {"tickets", BufferKind::counter, DType::u32, 12, 4, true},
                  {"y", BufferKind::output, DType::f32, 0, 16, false}};
  plan.scalars = {{"a", DType::f32}, {"b", DType::f64}};
  KernelStep kernel;
  kernel.entry = "k";
  kernel.grid = {ceil_divide(dim("M"), 128), 2, dim("sm_count")};
  kernel.block = {128, 2, 1};
  kernel.shared_bytes = 1000;
  kernel.arguments = {PointerArgument{3, dim("M") * 4},
                      PointerArgument{0, 0},
                      PointerArgument{1, 0},
                      PointerArgument{2, 8},
                      SizeArgument{dim("M") - 1000, 4},
                      ScalarArgument{1},
                      ScalarArgument{0},
                      DivisorArgument{dim("N")},
                      SizeArgument{dim("M"), 8}};
  plan.steps = {kernel};
  return plan;
}

TEST_F(Launch, GivesTheKernelItsArguments) {
  const auto module = load(fake_artifact("k", 9));
  const auto prepared = prepare(full_plan(), module, {{"M", 300}, {"N", 7}});
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  EXPECT_EQ((*prepared)->workspace_bytes(), 256 + 1280);
  const Address workspace = gpu_->allocate(2048).value();
  const Address buffers[] = {1 << 20, 0, 0, 2 << 20};
  const std::uint64_t scalars[] = {std::bit_cast<std::uint32_t>(1.5f), std::bit_cast<std::uint64_t>(-2.5)};
  ASSERT_TRUE((*prepared)->launch({buffers, scalars, {workspace, false}}, {}).ok());

  ASSERT_EQ(state_.launches.size(), 1u);
  const fakes::FakeLaunch& launch = state_.launches[0];
  EXPECT_EQ(launch.configuration.grid_x, 3u);
  EXPECT_EQ(launch.configuration.grid_y, 2u);
  EXPECT_EQ(launch.configuration.grid_z, 132u);
  EXPECT_EQ(launch.configuration.block_y, 2u);
  EXPECT_EQ(launch.configuration.shared_bytes, 1000u);
  EXPECT_EQ(launch.configuration.attribute_count, 0u);
  const FastDivisor seven = make_fast_divisor(7);
  const std::uint64_t divisor = seven.divisor | static_cast<std::uint64_t>(seven.multiplier) << 32;
  EXPECT_THAT(launch.parameters,
              ElementsAre((2 << 20) + 1200, 1 << 20, workspace + 256, workspace + 8,
                          static_cast<std::uint64_t>(-700), scalars[1], scalars[0], divisor, 300));
}

TEST_F(Launch, ZeroesWhatIsZeroOnCreation) {
  const auto prepared = prepare(full_plan(), load(fake_artifact("k", 9)), {{"M", 300}, {"N", 7}});
  const Address workspace = gpu_->allocate(2048).value();
  const Address buffers[] = {256, 0, 0, 256};
  const std::uint64_t scalars[] = {0, 0};
  ASSERT_TRUE((*prepared)->launch({buffers, scalars, {workspace, false}}, {}).ok());
  EXPECT_EQ(state_.fills, 1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(workspace);
  EXPECT_EQ(std::count(bytes, bytes + 12, 0), 12);
  EXPECT_EQ(bytes[256], 0xa5) << "scratch is left as it is";
  ASSERT_TRUE((*prepared)->launch({buffers, scalars, {workspace, true}}, {}).ok());
  EXPECT_EQ(state_.fills, 1) << "a prepared workspace is not zeroed again";
  ASSERT_TRUE((*prepared)->prepare_workspace(workspace, {}).ok());
  EXPECT_EQ(state_.fills, 2);
}

TEST_F(Launch, TakesItsWorkspaceInStreamOrderIfItIsGivenNone) {
  const auto prepared = prepare(full_plan(), load(fake_artifact("k", 9)), {{"M", 300}, {"N", 7}});
  const Address buffers[] = {256, 0, 0, 256};
  const std::uint64_t scalars[] = {0, 0};
  ASSERT_TRUE((*prepared)->launch({buffers, scalars, {}}, {}).ok());
  EXPECT_EQ(state_.order_allocations, 1);
  EXPECT_TRUE(state_.allocations.empty()) << "and gives it back";
  state_.failures["cuLaunchKernelEx"] = error_launch_out_of_resources;
  EXPECT_FALSE((*prepared)->launch({buffers, scalars, {}}, {}).ok());
  EXPECT_TRUE(state_.allocations.empty()) << "after a failure too";
}

TEST_F(Launch, AllocatesNothingWhileTheStreamIsCaptured) {
  const auto prepared = prepare(full_plan(), load(fake_artifact("k", 9)), {{"M", 300}, {"N", 7}});
  const Address workspace = gpu_->allocate(2048).value();
  const Address buffers[] = {256, 0, 0, 256};
  const std::uint64_t scalars[] = {0, 0};
  state_.capturing = true;
  const auto without = (*prepared)->launch({buffers, scalars, {}}, {});
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(without.error().message, HasSubstr("workspace made before the capture"));
  state_.calls.clear();
  ASSERT_TRUE((*prepared)->launch({buffers, scalars, {workspace, true}}, {}).ok());
  EXPECT_THAT(state_.calls, ElementsAre("cuLaunchKernelEx"));
}

TEST_F(Launch, RecordsWorkAndEndsEveryCaptureThatItBegan) {
  const Stream stream = gpu_->create_stream().value();
  bool captured = false;
  const auto graph = gpu_->record(stream, [&]() -> Result<void> {
    captured = gpu_->is_capturing(stream).value();
    return {};
  });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_TRUE(captured);
  EXPECT_FALSE(state_.capturing);
  EXPECT_TRUE((*graph)->launch(stream).ok());
  const auto failed =
      gpu_->record(stream, []() -> Result<void> { return Error{ErrorKind::device, "the work went wrong"}; });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "the work went wrong");
  EXPECT_FALSE(state_.capturing);
  state_.failures["cuGraphInstantiateWithFlags"] = error_out_of_memory;
  EXPECT_THAT(gpu_->record(stream, [] { return Result<void>(); }).error().message, HasSubstr("graph"));
  EXPECT_FALSE(state_.capturing);
}

TEST_F(Launch, SkipsEmptyGridsAndTheirDivisors) {
  const auto prepared = prepare(full_plan(), load(fake_artifact("k", 9)), {{"M", 0}, {"N", 0}});
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const Address buffers[] = {0, 0, 0, 0};
  const std::uint64_t scalars[] = {0, 0};
  EXPECT_TRUE((*prepared)->launch({buffers, scalars, {}}, {}).ok());
  EXPECT_TRUE(state_.launches.empty());
}

TEST_F(Launch, RunsFillsInOrder) {
  LaunchPlan plan;
  plan.buffers = {{"y", BufferKind::output, DType::f32, 0, 16, false}};
  plan.steps = {FillStep{0, dim("N") * 4, 7}, FillStep{0, 0, 9}};
  const auto prepared = prepare(plan, load(fake_artifact("k", 0)), {{"N", 3}});
  ASSERT_TRUE(prepared.ok());
  const Address y = gpu_->allocate(16).value();
  ASSERT_TRUE((*prepared)->launch({{&y, 1}, {}, {}}, {}).ok());
  EXPECT_EQ(state_.fills, 1);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(y), 13), std::string(12, 7) + '\xa5');
}

TEST_F(Launch, SetsAttributesOfClustersAndCooperation) {
  LaunchPlan plan;
  KernelStep kernel;
  kernel.entry = "k";
  kernel.grid = {32, 4, 1};
  kernel.block = {64, 1, 1};
  kernel.cluster = {8, 2, 1};
  kernel.cooperative = true;
  kernel.shared_bytes = 200000;
  plan.steps = {kernel};
  const auto prepared = prepare(plan, load(fake_artifact("k", 0, 32, 1024)));
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  ASSERT_TRUE((*prepared)->launch({}, {}).ok());
  ASSERT_EQ(state_.launches[0].attributes.size(), 2u);
  EXPECT_EQ(state_.launches[0].attributes[0].kind, launch_cooperative);
  EXPECT_EQ(state_.launches[0].attributes[1].kind, launch_cluster_dimension);
  EXPECT_EQ(state_.launches[0].attributes[1].value.cluster.y, 2u);
  EXPECT_EQ(state_.dynamic_shared_limits["k"], 227 * 1024 - 1024);
}

TEST_F(Launch, RefusesWhatTheDeviceCannotRun) {
  struct Case {
    std::array<SizeExpression, 3> grid, block, cluster;
    SizeExpression shared;
    std::string message;
  };
  const Case cases[] = {
      {{1, 65536, 1}, {32, 1, 1}, {1, 1, 1}, 0, "dimension 1 of a grid is 1 to 65535"},
      {{1, 1, 70000}, {32, 1, 1}, {1, 1, 1}, 0, "dimension 2 of a grid is 1 to 65535"},
      {{std::int64_t{1} << 31, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, "dimension 0 of a grid is 1 to 2147483647"},
      {{1, 1, 1}, {1025, 1, 1}, {1, 1, 1}, 0, "dimension 0 of a block is 1 to 1024"},
      {{1, 1, 1}, {16, 1, 65}, {1, 1, 1}, 0, "dimension 2 of a block is 1 to 64"},
      {{1, 1, 1}, {512, 1, 1}, {1, 1, 1}, 0, "a block has 512 threads and this kernel allows 256"},
      {{3, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0, "no multiple of the cluster"},
      {{32, 1, 1}, {32, 1, 1}, {32, 1, 1}, 0, "at most 16 blocks"},
      {{1, 1, 1},
       {32, 1, 1},
       {1, 1, 1},
       300000,
       "needs 300064 bytes of shared memory (64 of them static), and the GPU has 232448"},
  };
  const auto module = load(fake_artifact("k", 0, 200, 64));  // 200 registers: 256 threads a block
  for (const Case& c : cases) {
    LaunchPlan plan;
    KernelStep kernel;
    kernel.entry = "k";
    kernel.grid = c.grid;
    kernel.block = c.block;
    kernel.cluster = c.cluster;
    kernel.shared_bytes = c.shared;
    plan.steps = {kernel};
    const auto prepared = prepare(plan, module);
    ASSERT_FALSE(prepared.ok()) << c.message;
    EXPECT_EQ(prepared.error().kind, ErrorKind::device);
    EXPECT_THAT(prepared.error().message, HasSubstr(c.message));
    EXPECT_THAT(prepared.error().message, HasSubstr("'k'"));
  }
}

TEST_F(Launch, RefusesClustersWhereThereAreNone) {
  state_.compute_major = 8;
  const auto ampere = open_fake_gpu();
  const auto module = ampere->load(fake_artifact("k", 0)).value();
  LaunchGeometry geometry;
  geometry.cluster = geometry.grid = {2, 1, 1};
  const auto launched = ampere->launch(*module, "k", geometry, {}, {});
  ASSERT_FALSE(launched.ok());
  EXPECT_THAT(launched.error().message, HasSubstr("sm_80 has no clusters"));
}

TEST_F(Launch, ChecksHowManyArgumentsAKernelTakes) {
  const auto module = load(fake_artifact("k", 2));
  std::uint64_t value = 5;
  const ParameterValue parameters[] = {ParameterValue::of(value), ParameterValue::of(value)};
  EXPECT_EQ(gpu_->parameter_sizes(*module, "k").value(), (std::vector<std::size_t>{8, 8}));
  EXPECT_TRUE(gpu_->launch(*module, "k", {}, parameters, {}).ok());
  const auto too_few = gpu_->launch(*module, "k", {}, {parameters, 1}, {});
  ASSERT_FALSE(too_few.ok());
  EXPECT_EQ(too_few.error().message, "The kernel 'k' takes 2 arguments, and 1 were given.");
}

TEST_F(Launch, ChecksHowManyBytesEachArgumentHas) {
  Artifact artifact = fake_artifact("k", 0);
  artifact.code = "kernel k 8,4,12, 32 0\n";
  const auto module = load(artifact);
  const std::uint64_t address = 5;
  const std::int32_t size = 6;
  const FastDivisor divisor = make_fast_divisor(7);
  const auto of = [](const auto& value) { return ParameterValue::of(value); };
  const ParameterValue right[] = {of(address), of(size), of(divisor)};
  EXPECT_TRUE(gpu_->launch(*module, "k", {}, right, {}).ok());
  EXPECT_THAT(state_.launches.back().parameters[1], 6u);
  const ParameterValue wide[] = {of(address), of(address), of(divisor)};
  const auto launched = gpu_->launch(*module, "k", {.grid = {0, 1, 1}}, wide, {});
  ASSERT_FALSE(launched.ok()) << "an empty grid does not excuse them";
  EXPECT_EQ(launched.error().kind, ErrorKind::usage);
  EXPECT_EQ(launched.error().message,
            "Argument 1 (counted from 0) of the kernel 'k' has 8 bytes, but the kernel's parameter has 4: "
            "pass a value of the parameter's own C++ type.");
}

TEST_F(Launch, ChecksNoArgumentsWhereTheDriverCannotTellTheirSizes) {
  auto driver = std::make_shared<Driver>(gpu_->driver());
  driver->kernel_get_parameter = nullptr;  // before CUDA 12.4
  const auto old = open_devices(driver, load_fake_nvrtc).value().front();
  const auto module = old->load(fake_artifact("k", 1)).value();
  const double value = 1;
  const ParameterValue parameters[] = {ParameterValue::of(value), ParameterValue::of(value)};
  EXPECT_EQ(old->parameter_sizes(*module, "k").value(), std::nullopt);
  EXPECT_TRUE(old->launch(*module, "k", {}, parameters, {}).ok());
}

TEST_F(Launch, RefusesSizesThatDoNotFitTheirArguments) {
  const auto module = load(fake_artifact("k", 9));
  const auto too_large = prepare(full_plan(), module, {{"M", std::int64_t{1} << 32}, {"N", 7}});
  ASSERT_FALSE(too_large.ok());
  EXPECT_THAT(too_large.error().message, HasSubstr("does not fit its 32-bit argument"));
  for (std::int64_t divisor : {std::int64_t{-1}, std::int64_t{1} << 31}) {
    const auto outside = prepare(full_plan(), module, {{"M", 300}, {"N", divisor}});
    ASSERT_FALSE(outside.ok());
    EXPECT_THAT(outside.error().message, HasSubstr("is outside [0, 2^31)"));
  }
  const auto unknown = prepare(full_plan(), module, {{"M", 300}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("'N' has no value"));
  const auto negative = prepare(full_plan(), module, {{"M", -300}, {"N", 7}});
  ASSERT_FALSE(negative.ok());
  EXPECT_THAT(negative.error().message, HasSubstr("negative"));
}

TEST_F(Launch, TellsWhichLaunchFailed) {
  state_.failures["cuLaunchKernelEx"] = error_launch_out_of_resources;
  const auto prepared = prepare(full_plan(), load(fake_artifact("k", 9)), {{"M", 300}, {"N", 7}});
  const Address buffers[] = {256, 0, 0, 256};
  const std::uint64_t scalars[] = {0, 0};
  const auto launched = (*prepared)->launch({buffers, scalars, {}}, {});
  ASSERT_FALSE(launched.ok());
  EXPECT_THAT(launched.error().message,
              HasSubstr("launching 'k' with 3 x 2 x 132 blocks of 128 x 2 x 1 threads and 1000 bytes"));
  EXPECT_THAT(launched.error().message, HasSubstr("more registers, threads or shared memory"));
}

TEST_F(Launch, RefusesTooFewArgumentsAndMisalignedWorkspaces) {
  const auto prepared = prepare(full_plan(), load(fake_artifact("k", 9)), {{"M", 300}, {"N", 7}});
  const Address buffers[] = {256, 0, 0, 256};
  const std::uint64_t scalars[] = {0, 0};
  EXPECT_FALSE((*prepared)->launch({{buffers, 3}, scalars, {}}, {}).ok());
  EXPECT_FALSE((*prepared)->launch({buffers, {scalars, 1}, {}}, {}).ok());
  EXPECT_FALSE((*prepared)->launch({buffers, scalars, {128, false}}, {}).ok());
}

TEST_F(Launch, FindsEntriesInAnyOfTheModulesAndKeepsThemLoaded) {
  LaunchPlan plan;
  for (const char* entry : {"first", "second"}) {
    KernelStep kernel;
    kernel.entry = entry;
    plan.steps.emplace_back(kernel);
  }
  std::shared_ptr<const PreparedLaunch> prepared;
  {
    const std::vector<std::shared_ptr<const Module>> modules = {load(fake_artifact("second", 0)),
                                                                load(fake_artifact("first", 0))};
    prepared = gpu_->prepare(plan, modules, {}).value();
  }
  ASSERT_TRUE(prepared->launch({}, {}).ok());
  ASSERT_EQ(state_.launches.size(), 2u);
  EXPECT_EQ(state_.launches[0].kernel, "first");
  const auto missing = prepare(plan, load(fake_artifact("first", 0)));
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("'second'"));
}

TEST_F(Launch, ReadsWhatTheLoadedCodeUses) {
  Artifact artifact = fake_artifact("k", 0, 77, 512);
  artifact.entries["k"].spill_load_bytes = 8;  // only the compiler's log knows spills
  const auto module = load(artifact);
  EXPECT_EQ(module->entries().at("k").registers, 77);
  EXPECT_EQ(module->entries().at("k").shared_bytes, 512);
  EXPECT_EQ(module->entries().at("k").spill_load_bytes, 8);
  EXPECT_EQ(gpu_->active_blocks(*module, "k", 256, 0).value(), 8);
  artifact.entries["absent"] = {};
  const auto missing = gpu_->load(artifact);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("no kernel 'absent'"));
}

}  // namespace
}  // namespace einkern::runtime::cuda
