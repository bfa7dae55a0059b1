// The face, call by call: what it gives, and what it says of calls that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/fake_device.h"

namespace einkern::testing {
namespace {

using ::testing::HasSubstr;

/// What a call throws, "" if it throws nothing.
template <typename Exception, typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

constexpr const char* add = "fn add(x: f32[N], y: f32[N]) -> z: f32[N] { z[i] = x[i] + y[i] }";

TEST(Face, CompilesSeveralSourcesAsOneProgram) {
  const Program program =
      compile_sources({{"twice.ein", "fn twice(a: f32) -> b: f32 { b = 2 * a }"},
                       {"use.ein", "fn use(x: f32[N]) -> y: f32[N] { y[i] = twice(x[i]) }"}});
  const std::vector<float> x = {1, 2.5f};
  const Tensor y =
      program["use"].on(Device::cpu())(Tensor::from(std::span<const float>(x), {2}, f32, Device::cpu()));
  EXPECT_EQ(y.to_floats(), (std::vector<float>{2, 5}));
  EXPECT_THAT(message_of<CompileError>([] { compile_sources({{"a.ein", "fn f("}, {"b.ein", "fn g("}}); }),
              HasSubstr("b.ein:1"));
}

TEST(Face, NamesAResultOfAnotherShape) {
  const Device cpu = Device::cpu();
  const Tensor x = Tensor::random({4}, f32, cpu), z = Tensor::zeros({5}, f32, cpu);
  EXPECT_EQ(message_of<ShapeError>([&] { compile(add)["add"].on(cpu).into(z, {}, x, x); }),
            "the result z of add is [4], but the tensor passed for it is [5]");
}

TEST(Face, ReadsAScalarFromATensorOfRank0) {
  const Device cpu = Device::cpu();
  const std::vector<std::int64_t> large = {(std::int64_t{1} << 53) + 1};
  const Tensor k = Tensor::from(std::span<const std::int64_t>(large), {}, i64, cpu);
  const Tensor y = compile("fn f(k: i64, x: f32[N]) -> y: i64[N] { y[i] = k }")["f"].on(cpu)(
      k, Tensor::zeros({1}, f32, cpu));
  EXPECT_EQ(y.to_integers(), large) << "exactly";
  EXPECT_EQ(message_of<UsageError>(
                [&] { compile("fn f(k: i64, x: f32[N]) -> y: i64[N] { y[i] = k }")["f"].on(cpu)(y, y); }),
            "k is a scalar: pass a number, or a tensor of rank 0");
}

TEST(Face, ReadsNoScalarBackWhileAStreamIsCaptured) {
  FakeDevice fake;
  const Device& gpu = fake.device();
  const Function f = compile("fn f(a: f32, x: f32[N]) -> y: f32[N] { y[i] = a * x[i] }")["f"].on(gpu);
  const Tensor x = Tensor::zeros({4}, f32, gpu), y = Tensor::zeros({4}, f32, gpu),
               a = Tensor::zeros({}, f32, gpu);
  fake.driver().capturing = true;
  EXPECT_THAT(message_of<UsageError>([&] { f.into(y, {}, a, x); }),
              HasSubstr("declare a tensor `a: f32[1]` and read `a[0]`, which stays on the device"));
  fake.driver().capturing = false;
}

TEST(Face, PrintsAProgramThatShowsAKernelThatCannotBeBuilt) {
  FakeDevice fake;
  fake.nvrtc().compile_status = 6;  // NVRTC_ERROR_COMPILATION
  fake.nvrtc().log = "kernel.cu(3): error: something is wrong";
  const Tensor x = Tensor::zeros({24}, f32, fake.device());
  const Function f =
      compile("fn f(x: f32[N], s: f32) -> z: f32[N] { z[i] = s * x[i] }")["f"].on(fake.device());
  const std::string message = message_of<InternalError>([&] { f(x, 2.5); });
  EXPECT_THAT(message,
              HasSubstr("einkern wrote a kernel of `f` that cannot be built. This is a fault of einkern"));
  EXPECT_THAT(message, HasSubstr("something is wrong"));
  EXPECT_THAT(message,
              HasSubstr("# einkern run repro.ein --dims N=24 --set s=2.5 --device cuda --plan \"fused\" "
                        "--schedule cuda.pointwise --config "));
  // From the first comment on it is a file that compiles.
  EXPECT_EQ(compile(message.substr(message.find("\n# Fake GPU")))["f"].signature().substr(0, 5), "fn f(");
  fake.nvrtc().compile_status = 3;  // not the kernel's fault
  EXPECT_THAT(message_of<DeviceError>([&] { f(x, 2.5); }), HasSubstr("failed with status 3"));
}

}  // namespace
}  // namespace einkern::testing
