#include "codegen/schedule.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "tests/support/call.h"

namespace einkern::codegen {
namespace {

/// A schedule that prefers wide tiles, and threads not at all.
class TileSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cpu.test-tiles"; }
  int version() const override { return 3; }
  core::Backend backend() const override { return core::Backend::cpu; }
  std::optional<std::string> reason_against(const KernelContext&) const override { return std::nullopt; }
  ConfigurationSpace space(const KernelContext&) const override {
    return {{{"tile", {16, 64, 32}, true, ""}, {"threads", {2, 1}, true, ""}}, {}};
  }
  Estimate estimate(const KernelContext&, const Configuration& configuration) const override {
    return {.seconds = 1.0 / static_cast<double>(configuration.get("tile"))};
  }
  core::Result<core::Emission> emit(const KernelContext&, const Configuration&) const override {
    return core::Error{core::ErrorKind::internal, "never emitted"};
  }
};

struct Schedules : ::testing::Test {
  dsl::Program program = testing::compile_source(
                             "fn scale(x: f32[N]) -> y: f32[N], z: f32 { y[i] = 2 * x[i]\n z = sum(i) x[i] }")
                             .value();
  Plan plan = make_plans(program.instantiate("scale", {}).value()).front();
  dsl::Binding binding{{64}, {{64}, {64}, {}}, {}};
  Specialisation specialisation = specialise(plan, binding, {});
  core::DeviceFacts device;
  TileSchedule schedule;
  KernelContext context{plan, plan.kernels[0], specialisation, device, binding};
};

TEST_F(Schedules, RankedByTheModelThenByTheSpacesOrder) {
  std::vector<std::string> texts;
  for (const Configuration& c : ranked_configurations(schedule, context, 4)) texts.push_back(c.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"tile=64 threads=2", "tile=64 threads=1", "tile=32 threads=2",
                                             "tile=32 threads=1"}));
}

TEST_F(Schedules, EntryNamesAreIdentifiersThatTellSourcesApart) {
  const Configuration narrow = Configuration::parse("tile=16 threads=1").value();
  const Configuration wide = Configuration::parse("tile=64 threads=1").value();
  const std::string name = entry_name(context, schedule, narrow);
  EXPECT_EQ(name.substr(0, 21), "ek_scale_test_tiles_" + name.substr(20, 1));
  EXPECT_EQ(name.size(), 28U);
  for (const char c : name) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_') << name;

  std::set<std::string> names = {name, entry_name(context, schedule, wide)};
  Specialisation unaligned = specialisation;
  unaligned.tensors[0].alignment = 4;
  names.insert(entry_name({plan, plan.kernels[0], unaligned, device, binding}, schedule, narrow));
  names.insert(entry_name({plan, plan.kernels[1], specialisation, device, binding}, schedule, narrow));
  core::DeviceFacts other = device;
  other.features = "+avx512f";
  names.insert(entry_name({plan, plan.kernels[0], specialisation, other, binding}, schedule, narrow));
  EXPECT_EQ(names.size(), 5U);
  EXPECT_EQ(entry_name(context, schedule, narrow), name) << "the same for the same source";
}

TEST(ScheduleRegistry, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const core::Backend backend : {core::Backend::cpu, core::Backend::cuda})
    for (const Schedule* schedule : schedules(backend)) {
      EXPECT_TRUE(names.insert(schedule->name()).second) << schedule->name();
      EXPECT_EQ(schedule->backend(), backend);
      EXPECT_EQ(find_schedule(schedule->name()), schedule);
    }
  EXPECT_EQ(find_schedule("cpu.nothing"), nullptr);
  EXPECT_TRUE(schedules(core::Backend::reference).empty());
}

}  // namespace
}  // namespace einkern::codegen
