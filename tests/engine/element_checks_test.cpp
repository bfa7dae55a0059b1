// EINKERN_CHECK=1 through the face: the same cases that the reference runs, and what a caller sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/environment.h"
#include "tests/engine/fake_device.h"
#include "tests/engine/run_on_device.h"
#include "tests/support/element_checks.h"
#include "tests/support/tensors.h"

namespace einkern::testing {
namespace {

using ::testing::HasSubstr;

/// What a case's call says on a device: its error's text, or "".
std::string message_of(const ElementCase& which, const Device& device) {
  const Call call = make_call(which.source, "f", {}, which.arguments).value();
  const auto results = on_device(device)(call);
  return results.ok() ? "" : results.error().message;
}

class ElementChecksCpu : public ::testing::TestWithParam<std::size_t> {};
TEST_P(ElementChecksCpu, AreErrorsOfTheCall) {
  const Variable check("EINKERN_CHECK", "1");
  const ElementCase& which = element_cases()[GetParam()];
  EXPECT_EQ(message_of(which, Device::cpu()), expected_message(which));
}
class ElementChecksGpu : public ::testing::TestWithParam<std::size_t> {};
TEST_P(ElementChecksGpu, AreErrorsOfTheCall) {
  if (!gpu()) GTEST_SKIP() << "no GPU";
  const Variable check("EINKERN_CHECK", "1");
  const ElementCase& which = element_cases()[GetParam()];
  EXPECT_EQ(message_of(which, *gpu()), expected_message(which));
}
std::string case_name(const ::testing::TestParamInfo<std::size_t>& which) {
  return element_cases()[which.param].name;
}
INSTANTIATE_TEST_SUITE_P(Table, ElementChecksCpu, ::testing::Range(std::size_t{0}, element_cases().size()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Table, ElementChecksGpu, ::testing::Range(std::size_t{0}, element_cases().size()),
                         case_name);

constexpr const char* gather = "fn f(x: f32[N], p: i32[M]) -> y: f32[M] { y[i] = x[p[i]] }";

class ElementChecksSwitch : public ::testing::Test {
 protected:
  Tensor integers_of(std::vector<std::int64_t> values, const Device& device) const {
    const auto count = static_cast<std::int64_t>(values.size());
    return Tensor::from(std::span<const std::int64_t>(values), {count}, i32, device);
  }
};

TEST_F(ElementChecksSwitch, IsReadAtEachCallAndLeavesTheResultsAlone) {
  const Device cpu = Device::cpu();
  const Function f = compile(gather)["f"].on(cpu);
  const Tensor x = Tensor::random({4}, f32, cpu), outside = integers_of({1, 4}, cpu);
  EXPECT_EQ(f(x, outside)[0].to_floats()[1], 0.0f) << "unchecked, an element outside is 0";
  const Tensor y = Tensor::zeros({2}, f32, cpu);
  const Variable check("EINKERN_CHECK", "1");
  EXPECT_THROW(f.into(y, {}, x, outside), ShapeError);
  EXPECT_EQ(y.to_floats(), (std::vector<float>{0, 0})) << "the call itself did not run";
  f.into(y, {}, x, integers_of({1, 3}, cpu));
  EXPECT_EQ(y.to_floats()[1], x.to_floats()[3]);
}

TEST_F(ElementChecksSwitch, LeavesInoutTensorsAsTheyWere) {
  const Device cpu = Device::cpu();
  const Variable check("EINKERN_CHECK", "1");
  const Function f = compile(
                         "fn f(x: f32[N], p: i32[N], c: inout f32[V]) -> y: f32[N] {\n"
                         "  c[p[n]] += x[n]\n  y[n] = c[p[n]]\n}")["f"]
                         .on(cpu);
  const std::vector<float> ones(3, 1.0f);
  const Tensor x = Tensor::from(std::span<const float>(ones), {3}, f32, cpu),
               c = Tensor::zeros({2}, f32, cpu);
  f(x, integers_of({0, 1, 1}, cpu), c);
  EXPECT_EQ(c.to_floats(), (std::vector<float>{1, 2})) << "added once";
  EXPECT_THROW(f(x, integers_of({0, 1, 2}, cpu), c), ShapeError);
  EXPECT_EQ(c.to_floats(), (std::vector<float>{1, 2}));
}

TEST_F(ElementChecksSwitch, TakesNoOtherValue) {
  const Device cpu = Device::cpu();
  const Variable check("EINKERN_CHECK", "yes");
  try {
    compile(gather)["f"].on(cpu)(Tensor::random({4}, f32, cpu), integers_of({1}, cpu));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "EINKERN_CHECK is \"yes\": it may be 1 or 0");
  }
}

TEST_F(ElementChecksSwitch, RefusesACapture) {
  FakeDevice fake;
  const Variable check("EINKERN_CHECK", "1");
  const Function f = compile(gather)["f"].on(fake.device());
  const Tensor x = Tensor::random({4}, f32, fake.device()), p = integers_of({1}, fake.device());
  const Tensor y = Tensor::empty({1}, f32, fake.device());
  fake.driver().capturing = true;
  try {
    f.into(y, {}, x, p);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("while a stream is captured: unset it, or call outside of the capture"));
  }
  fake.driver().capturing = false;
}

}  // namespace
}  // namespace einkern::testing
