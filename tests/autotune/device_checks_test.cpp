// Checks on the device, on an emulated one: the same verdicts as on the host, and the worker's whole session.
#include "autotune/worker/device_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "autotune/check_kernels.h"
#include "autotune/flush.h"
#include "autotune/worker/checked_tensor.h"
#include "autotune/worker/sample.h"
#include "autotune/worker/values.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/cuda/emulation.h"

namespace einkern::autotune::worker {
namespace {

using core::BufferKind;
using testing::EmulatedGpu;
using ::testing::HasSubstr;

constexpr DType all_types[] = {DType::boolean, DType::i8,  DType::i16,  DType::i32, DType::i64,
                               DType::u8,      DType::u16, DType::u32,  DType::u64, DType::f8e4m3,
                               DType::f8e5m2,  DType::f16, DType::bf16, DType::f32, DType::f64};

TEST(ElementRule, ReadsBitsAsTheCoreDoes) {
  std::mt19937_64 random(1);
  for (const DType type : all_types) {
    if (!core::is_float(type)) continue;
    const ElementFormat format = element_format(type);
    const bool few = format.bytes <= 2;
    for (std::uint64_t i = 0; i < (few ? std::uint64_t{1} << 8 * format.bytes : 20000); ++i) {
      const std::uint64_t bits = few ? i : random() & poison_bits(format.bytes);
      const double expected = core::decode_float(type, bits), found = decoded(format, bits);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(found)) << core::dtype_name(type) << " " << bits;
      else
        EXPECT_EQ(found, expected) << core::dtype_name(type) << " " << bits;
    }
    EXPECT_TRUE(std::isnan(decoded(format, poison_bits(format.bytes)))) << core::dtype_name(type);
  }
}

TEST(CheckKernels, NvrtcCompilesThemForEveryArchitecture) {
  const auto nvrtc = runtime::cuda::process_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const core::Emission emission = check_emission();
  for (const char* architecture : {"sm_75", "sm_80", "sm_90a", "sm_120a"}) {
    const auto artifact = runtime::cuda::compile_cuda(
        **nvrtc, {.text = emission.source, .architecture = architecture, .options = emission.options});
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    for (const std::string& entry : emission.entries) {
      if (artifact->entries.empty()) continue;  // PTX comes without a report
      ASSERT_TRUE(artifact->entries.contains(entry)) << architecture << " " << entry;
      EXPECT_LE(artifact->entries.at(entry).spill_store_bytes, 16) << architecture << " " << entry;
    }
  }
}

TEST(Sampling, AMatrixGivesItsBordersAndWholeLines) {
  const auto points = sampled_points({.name = "s", .extents = {50, 70}, .seed = 3});
  const std::set<std::int64_t> all(points.begin(), points.end());
  EXPECT_EQ(all.size(), points.size());
  for (std::int64_t column = 0; column < 70; ++column)
    EXPECT_TRUE(all.contains(column) && all.contains(49 * 70 + column));
  for (std::int64_t row = 0; row < 50; ++row)
    EXPECT_TRUE(all.contains(row * 70) && all.contains(row * 70 + 69));
  int whole_rows = 0;
  for (std::int64_t row = 0; row < 50; ++row) {
    bool whole = true;
    for (std::int64_t column = 0; column < 70; ++column) whole = whole && all.contains(row * 70 + column);
    whole_rows += whole ? 1 : 0;
  }
  EXPECT_GE(whole_rows, 5);  // two borders and some at random, which may meet
  EXPECT_LT(points.size(), 50u * 70u);
  EXPECT_EQ(sampled_points({.name = "s", .extents = {50, 70}, .seed = 3}), points);
  EXPECT_EQ(sampled_points({.name = "s", .extents = {1, 1}}), std::vector<std::int64_t>{0});
  EXPECT_EQ(sampled_points({.name = "s", .extents = {2, 2, 2}}).size(), 8u);
}

class DeviceChecksTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!testing::can_emulate()) return;
    gpu_ = std::make_shared<EmulatedGpu>();
    auto checks = DeviceChecks::load(gpu_->compile(check_emission()).value(), *gpu_, {});
    ASSERT_TRUE(checks.ok()) << checks.error().message;
    checks_ = std::move(*checks);
  }
  static void TearDownTestSuite() {
    checks_.reset();
    gpu_.reset();
  }
  void SetUp() override {
    if (!checks_) GTEST_SKIP() << "no compiler to emulate with";
  }
  std::unique_ptr<CheckedTensor> make(const ProblemTensor& tensor, const DeviceChecks* checks) {
    return std::move(make_checked_tensor(tensor, *gpu_, {}, checks).value());
  }

  static inline std::shared_ptr<EmulatedGpu> gpu_;
  static inline std::unique_ptr<DeviceChecks> checks_;
};

struct Layout {
  std::vector<std::int64_t> shape, strides;
  std::int64_t first_byte = 0;
};
const std::vector<Layout> layouts = {
    {{}, {}},
    {{300}, {1}},
    {{3, 41}, {41, 1}, 8},
    {{3, 41}, {45, 1}},       // gaps
    {{3, 41}, {-41, 1}},      // upside down
    {{2, 3, 7}, {7, 14, 1}},  // permuted
    {{9}, {-2}},
};

char* pointer(runtime::Address address) { return reinterpret_cast<char*>(address); }

void write_bits(const CheckedTensor& tensor, std::int64_t offset, std::uint64_t bits) {
  const int size = core::size_bytes(tensor.tensor().dtype);
  std::memcpy(pointer(tensor.address()) + offset * size, &bits, static_cast<std::size_t>(size));
}

void expect_equal(const TensorFindings& device, const TensorFindings& host, const std::string& what) {
  EXPECT_EQ(device.changed, host.changed) << what;
  EXPECT_EQ(device.written_beside, host.written_beside) << what;
  EXPECT_EQ(device.elements.wrong, host.elements.wrong) << what;
  EXPECT_EQ(device.elements.nans, host.elements.nans) << what;
  EXPECT_EQ(device.elements.untouched, host.elements.untouched) << what;
  EXPECT_EQ(device.elements.worst, host.elements.worst) << what;
  EXPECT_EQ(device.elements.worst_ratio, host.elements.worst_ratio) << what;
  EXPECT_EQ(device.elements.largest_error, host.elements.largest_error) << what;
  EXPECT_EQ(device.largest_magnitude, host.largest_magnitude) << what;
  EXPECT_EQ(device.right_bits, host.right_bits) << what;
  EXPECT_EQ(device.found_bits, host.found_bits) << what;
}

TEST_F(DeviceChecksTest, FillAndJudgeAsTheHostDoes) {
  std::mt19937_64 random(5);
  for (const DType type : all_types)
    for (const Layout& layout : layouts)
      for (const bool sampled : {false, true}) {
        const ProblemTensor tensor{.name = "y",
                                   .dtype = type,
                                   .kind = BufferKind::output,
                                   .shape = layout.shape,
                                   .strides = layout.strides,
                                   .first_byte = layout.first_byte,
                                   .seed = random(),
                                   .relative = 0.25,
                                   .absolute = 0.125};
        const auto device = make(tensor, checks_.get()), host = make(tensor, nullptr);
        std::vector<std::uint64_t> right;
        for (std::int64_t i = 0; i < element_count(tensor); ++i)
          right.push_back(core::is_float(type)
                              ? core::encode_float(type, static_cast<double>(random() % 9) - 4)
                              : random() % 2);
        std::vector<std::uint64_t> found = right;
        for (std::size_t i = 0; i < found.size(); ++i)
          if (random() % 4 == 0) found[i] = random() & poison_bits(core::size_bytes(type));
        if (sampled)
          for (auto& bits : right)
            if (random() % 2 == 0) bits = poison_bits(core::size_bytes(type));
        TensorFindings findings[2];
        for (const bool on_host : {false, true}) {
          CheckedTensor& one = on_host ? *host : *device;
          const auto write = [&](const std::vector<std::uint64_t>& values) {
            ASSERT_TRUE(one.prepare().ok());
            std::size_t i = 0;
            visit_elements(tensor, [&](std::int64_t offset) { write_bits(one, offset, values[i++]); });
          };
          write(right);
          ASSERT_TRUE(one.keep_as_reference(sampled).ok());
          write(found);
          findings[on_host ? 1 : 0] = one.judge().value();
        }
        expect_equal(findings[0], findings[1],
                     std::string(core::dtype_name(type)) + " rank " + std::to_string(layout.shape.size()));
      }
}

TEST_F(DeviceChecksTest, InputsAreWhatTheHostMakesAndEveryChangeIsSeen) {
  std::vector<Layout> shared = layouts;
  shared.push_back({{6, 30}, {0, 1}});  // broadcast
  shared.push_back({{6, 30}, {2, 1}});  // windows that overlap
  for (const DType type : {DType::i16, DType::f64})
    for (const Layout& layout : shared)
      for (const std::int64_t limit : {0, 5}) {
        if (limit > 0 && !core::is_integer(type)) continue;
        const ProblemTensor tensor{.name = "x",
                                   .dtype = type,
                                   .shape = layout.shape,
                                   .strides = layout.strides,
                                   .first_byte = layout.first_byte,
                                   .index_limit = limit,
                                   .seed = 77};
        const auto device = make(tensor, checks_.get()), host = make(tensor, nullptr);
        ASSERT_TRUE(device->prepare().ok() && host->prepare().ok());
        const std::int64_t size = core::size_bytes(type), guard = 64 << 10;
        const std::int64_t lowest = reach_of(tensor).lowest * size, span = span_bytes(tensor);
        char* const at = pointer(device->address()) + lowest;
        EXPECT_EQ(std::memcmp(at - guard, pointer(host->address()) + lowest - guard,
                              static_cast<std::size_t>(span + 2 * guard)),
                  0);
        EXPECT_FALSE(device->judge().value().changed);
        for (const std::int64_t place :
             {-guard, std::int64_t{-1}, std::int64_t{0}, span - 1, span, span + guard - 1}) {
          ASSERT_TRUE(device->prepare().ok());
          at[place] = static_cast<char>(at[place] ^ 1);
          EXPECT_TRUE(device->judge().value().changed) << place << " of " << span;
          ASSERT_TRUE(device->prepare().ok());  // restores it
          EXPECT_FALSE(device->judge().value().changed) << place;
        }
      }
}

TEST_F(DeviceChecksTest, AnythingWrittenBesideAnOutputIsSeen) {
  for (const Layout& layout : layouts) {
    const ProblemTensor tensor{.name = "y",
                               .dtype = DType::f32,
                               .kind = BufferKind::output,
                               .shape = layout.shape,
                               .strides = layout.strides,
                               .first_byte = layout.first_byte};
    const auto device = make(tensor, checks_.get());
    std::set<std::int64_t> inside;
    visit_elements(tensor, [&](std::int64_t offset) { inside.insert(offset); });
    ASSERT_TRUE(device->prepare().ok());
    ASSERT_TRUE(device->keep_as_reference(false).ok());
    const Reach reach = reach_of(tensor);
    for (std::int64_t offset = reach.lowest - 2; offset <= reach.highest + 2; ++offset) {
      const bool interior =
          inside.contains(offset - 1) && inside.contains(offset) && inside.contains(offset + 1);
      if (interior || offset % 5 == 3) continue;
      ASSERT_TRUE(device->prepare().ok());
      for (const std::int64_t one : inside) write_bits(*device, one, 0);
      write_bits(*device, offset, 0);
      EXPECT_EQ(device->judge().value().written_beside, !inside.contains(offset)) << offset;
    }
  }
}

TEST_F(DeviceChecksTest, NothingButTheVerdictComesToTheHost) {
  const ProblemTensor tensor{
      .name = "y", .dtype = DType::f32, .kind = BufferKind::output, .shape = {100000}, .strides = {1}};
  const auto device = make(tensor, checks_.get());
  ASSERT_TRUE(device->prepare().ok());
  ASSERT_TRUE(device->keep_as_reference(false).ok());
  const std::int64_t before = gpu_->copied_to_host;
  ASSERT_TRUE(device->judge().ok());
  EXPECT_LT(gpu_->copied_to_host - before, 100000);
}

TEST_F(DeviceChecksTest, AFingerprintTellsOneBit) {
  const ProblemTensor tensor{
      .name = "y", .dtype = DType::f16, .kind = BufferKind::output, .shape = {64}, .strides = {1}};
  const auto device = make(tensor, checks_.get());
  std::set<std::uint64_t> seen;
  for (int changed = -1; changed < 64; changed += 13) {
    ASSERT_TRUE(device->prepare().ok());
    for (int i = 0; i < 64; ++i) write_bits(*device, i, i == changed ? 0x3C01 : 0x3C00);
    if (seen.empty()) {
      ASSERT_TRUE(device->keep_as_reference(false).ok());
    }
    seen.insert(device->judge().value().fingerprint);
  }
  EXPECT_EQ(seen.size(), 5u);
}

}  // namespace
}  // namespace einkern::autotune::worker
