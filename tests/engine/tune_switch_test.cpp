// EINKERN_TUNE=on through the face, with the real worker on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

#include "einkern/einkern.hpp"
#include "tests/engine/environment.h"

namespace einkern::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Records of this process's own, from before anything asks for them until its end.
class OwnRecords {
 public:
  OwnRecords()
      : folder_(std::filesystem::temp_directory_path() / ("einkern_records_" + std::to_string(getpid()))) {
    setenv("EINKERN_RECORDS", folder_.c_str(), 1);
    setenv("EINKERN_WORKER", EINKERN_WORKER_PROGRAM, 1);
  }
  ~OwnRecords() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::filesystem::path folder_;
};
const OwnRecords own_records;

constexpr const char* shift = "fn shift(x: f32[N], by: f32) -> y: f32[N] { y[i] = x[i] + by }";

TEST(TuneSwitch, TunesAnUnseenShapeAtItsFirstCall) {
  const Device cpu = Device::cpu();
  const Function f = compile(shift)["shift"].on(cpu);
  const Tensor x = Tensor::random({40}, f32, cpu), other = Tensor::random({77}, f32, cpu);
  EXPECT_THAT(f.explain({x, 1.0}), Not(HasSubstr("tuned")));
  const Variable tune("EINKERN_TUNE", "on");
  f(other, 1.0);
  EXPECT_THAT(f.explain({other, 1.0}), HasSubstr("tuned"));
  EXPECT_THAT(f.explain({x, 1.0}), Not(HasSubstr("tuned")))
      << "a shape that has been called keeps its kernels";
}

TEST(TuneSwitch, TakesNoOtherValue) {
  const Device cpu = Device::cpu();
  const Variable tune("EINKERN_TUNE", "1");
  try {
    compile(shift)["shift"].on(cpu)(Tensor::random({3}, f32, cpu), 1.0);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "EINKERN_TUNE is \"1\": it may be on or off");
  }
}

TEST(TuneSwitch, SaysWhyItCannotTune) {
  const Device cpu = Device::cpu();
  const Variable tune("EINKERN_TUNE", "on"), worker("EINKERN_WORKER", "/nowhere/einkern-worker");
  try {
    compile(shift)["shift"].on(cpu)(Tensor::random({1001}, f32, cpu), 1.0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("EINKERN_TUNE=on asks for tuning; unset it"));
  }
}

}  // namespace
}  // namespace einkern::testing
