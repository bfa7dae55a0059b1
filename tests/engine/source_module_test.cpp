// Raw CUDA kernels: found by name, and launched with arguments that fit them. The fake driver stands in for a
// GPU, and its "source" is the list of the kernels that it shall have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/fake_device.h"

namespace einkern::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SourceModuleFake : public ::testing::Test {
 protected:
  SourceModuleFake() {
    fake_.nvrtc().log = "ptxas info    : Compiling entry function 'scale' for 'sm_90a'\n";
    x_ = Tensor::empty({4}, f32, fake_.device());
  }
  SourceModule module() const { return SourceModule("kernel scale 8,4,4, 24 0\n", {}, fake_.device()); }

  /// What a call throws, "" if it throws nothing.
  template <typename Call>
  static std::string usage_error(Call&& call) {
    try {
      call();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  FakeDevice fake_;
  Tensor x_;
};

TEST_F(SourceModuleFake, LaunchesWithTypedArguments) {
  const SourceModule source = module();
  EXPECT_THAT(source.functions(), ElementsAre("scale"));
  const SourceFunction scale = source.function("scale");
  EXPECT_EQ(scale.registers(), 24);
  scale({2}, {128}, x_, 3, 1.5f);
  ASSERT_EQ(fake_.driver().launches.size(), 1u);
  const auto& launch = fake_.driver().launches[0];
  EXPECT_THAT(launch.parameters, ElementsAre(reinterpret_cast<std::uint64_t>(x_.data()), 3, 0x3fc00000));
  EXPECT_EQ(launch.configuration.grid_x, 2u);
  EXPECT_EQ(launch.configuration.block_x, 128u);
}

TEST_F(SourceModuleFake, RefusesAWrongNumberOfArguments) {
  const SourceFunction scale = module().function("scale");
  EXPECT_EQ(usage_error([&] { scale({2}, {128}, x_, 3); }),
            "The kernel 'scale' takes 3 arguments, and 2 were given.");
  EXPECT_EQ(usage_error([&] { scale({2}, {128}, x_, 3, 1.5f, 4); }),
            "The kernel 'scale' takes 3 arguments, and 4 were given.");
  EXPECT_TRUE(fake_.driver().launches.empty());
}

TEST_F(SourceModuleFake, RefusesArgumentsOfAnotherSize) {
  const SourceFunction scale = module().function("scale");
  EXPECT_EQ(
      usage_error([&] { scale({2}, {128}, x_, 3, 1.5); }),
      "Argument 2 (counted from 0) of the kernel 'scale' has 8 bytes, but the kernel's parameter has 4: "
      "pass a value of the parameter's own C++ type.");
  EXPECT_THAT(usage_error([&] { scale({2}, {128}, x_, x_, 1.5f); }), HasSubstr("Argument 1"));
  EXPECT_THAT(usage_error([&] { scale({2}, {128}, 3, 3, 1.5f); }), HasSubstr("Argument 0"));
  EXPECT_TRUE(fake_.driver().launches.empty());
}

TEST_F(SourceModuleFake, FindsKernelsThatTheLogDoesNotName) {
  fake_.nvrtc().log = "";
  const SourceModule source("kernel quiet 1 24 0\n", {}, fake_.device());
  source.function("quiet")({1}, {32}, x_);
  EXPECT_EQ(fake_.driver().launches.back().kernel, "quiet");
  EXPECT_THAT(usage_error([&] { source.function("scale"); }), HasSubstr("no kernel called scale"));
}

TEST_F(SourceModuleFake, RefusesTensorsOfAnotherDevice) {
  const SourceFunction scale = module().function("scale");
  const Tensor host = Tensor::empty({4}, f32, Device::cpu());
  EXPECT_THAT(usage_error([&] { scale({2}, {128}, host, 3, 1.5f); }),
              HasSubstr("argument 0 (counted from 0) of scale lies on"));
}

}  // namespace
}  // namespace einkern::testing
