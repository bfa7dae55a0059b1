#include "runtime/cpu/cpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/cpu/compiler.h"
#include "runtime/cpu/host.h"
#include "runtime/cpu/memory_pool.h"

namespace einkern::runtime::cpu {
namespace {

using ::testing::HasSubstr;

// y[i] = sqrt(x[i]) + shift, through a call of the mathematics library.
constexpr const char* root_ir = R"(
define void @root(ptr %arguments, i64 %begin, i64 %end, ptr %scratch) {
entry:
  %x = load ptr, ptr %arguments
  %y.at = getelementptr i64, ptr %arguments, i64 1
  %y = load ptr, ptr %y.at
  %shift.at = getelementptr i64, ptr %arguments, i64 2
  %shift = load double, ptr %shift.at
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %exit
body:
  %from = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %from
  %power = call double @pow(double %value, double 0.5)
  %moved = fadd double %power, %shift
  %to = getelementptr double, ptr %y, i64 %i
  store double %moved, ptr %to
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}
declare double @pow(double, double)
)";

core::LaunchPlan root_plan() {
  core::LaunchPlan plan;
  plan.buffers = {{"x", core::BufferKind::input, DType::f64}, {"y", core::BufferKind::output, DType::f64}};
  plan.scalars = {{"shift", DType::f64}};
  core::CpuStep step;
  step.entry = "root";
  step.tasks = core::SizeExpression::symbol("N");
  step.grain = 16;
  step.arguments = {core::PointerArgument{0, 0}, core::PointerArgument{1, 0}, core::ScalarArgument{0}};
  plan.steps = {step};
  return plan;
}

core::Emission emission_of(std::string source) {
  core::Emission emission;
  emission.language = core::SourceLanguage::llvm_ir;
  emission.source = std::move(source);
  return emission;
}

TEST(CpuDevice, CompilesLoadsAndLaunches) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  auto artifact = (*device)->compile(emission_of(root_ir));
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_EQ(artifact->format, core::CodeFormat::object);
  EXPECT_TRUE(artifact->entries.contains("root"));
  auto module = (*device)->load(*artifact);
  ASSERT_TRUE(module.ok()) << module.error().message;
  std::vector<std::shared_ptr<const Module>> modules = {*module};
  auto launch = (*device)->prepare(root_plan(), modules, {{"N", 1000}});
  ASSERT_TRUE(launch.ok()) << launch.error().message;

  std::vector<double> x(1000), y(1000);
  std::iota(x.begin(), x.end(), 0.0);
  std::vector<Address> buffers = {reinterpret_cast<Address>(x.data()), reinterpret_cast<Address>(y.data())};
  std::vector<std::uint64_t> scalars = {std::bit_cast<std::uint64_t>(0.25)};
  ASSERT_TRUE((*launch)->launch({buffers, scalars, {}}, {}).ok());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], std::sqrt(x[i]) + 0.25);
}

TEST(CpuDevice, WorkspacesAreZeroedWhereThePlanSaysSo) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  core::LaunchPlan plan;
  plan.buffers = {{"y", core::BufferKind::output, DType::f64}, {"t", core::BufferKind::scratch, DType::f64}};
  plan.buffers[1].bytes = 800;
  plan.buffers[1].zero_on_creation = true;
  plan.scalars = {{"shift", DType::f64}};
  core::CpuStep step;
  step.entry = "root";
  step.tasks = 100;
  step.arguments = {core::PointerArgument{1, 0}, core::PointerArgument{0, 0}, core::ScalarArgument{0}};
  plan.steps = {step, core::FillStep{0, 8, 0xff}};
  auto artifact = (*device)->compile(emission_of(root_ir));
  ASSERT_TRUE(artifact.ok());
  auto module = (*device)->load(*artifact);
  ASSERT_TRUE(module.ok());
  std::vector<std::shared_ptr<const Module>> modules = {*module};
  auto launch = (*device)->prepare(plan, modules, {});
  ASSERT_TRUE(launch.ok()) << launch.error().message;
  EXPECT_GE((*launch)->workspace_bytes(), 800);
  std::vector<double> y(100, -1.0);
  std::vector<Address> buffers = {reinterpret_cast<Address>(y.data()), 0};
  std::vector<std::uint64_t> scalars = {std::bit_cast<std::uint64_t>(3.0)};
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE((*launch)->launch({buffers, scalars, {}}, {}).ok());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(y[0]), UINT64_MAX);  // the fill came after the loop
    for (std::size_t i = 1; i < y.size(); ++i) EXPECT_EQ(y[i], 3.0);
  }
}

TEST(CpuDevice, CodeSeesOnlyTheListedSymbols) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  auto artifact =
      (*device)->compile(emission_of("declare i32 @system(ptr)\n"
                                     "define void @f(ptr %a, i64 %b, i64 %e, ptr %s) {\n"
                                     "  %r = call i32 @system(ptr %a)\n  ret void\n}\n"));
  ASSERT_TRUE(artifact.ok());
  auto module = (*device)->load(*artifact);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().message, HasSubstr("system"));
}

TEST(CpuDevice, ADamagedObjectIsAnErrorWhereverItEnds) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  auto artifact = (*device)->compile(emission_of(root_ir));
  ASSERT_TRUE(artifact.ok());
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{63}, artifact->code.size() / 2}) {
    core::Artifact damaged = *artifact;
    damaged.code.resize(length);
    EXPECT_FALSE((*device)->load(damaged).ok()) << length << " bytes";
  }
  core::Artifact other = *artifact;
  other.format = core::CodeFormat::cubin;
  EXPECT_THAT((*device)->load(other).error().message, HasSubstr("another kind of device"));
}

TEST(CpuDevice, BadTextQuotesLlvm) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  EXPECT_THAT((*device)->compile(emission_of("define void @f() { oops }")).error().message,
              HasSubstr("expected instruction opcode"));
  EXPECT_THAT((*device)->compile(emission_of("define i32 @f() { ret void }")).error().message,
              HasSubstr("LLVM"));
  core::Emission cuda;
  EXPECT_THAT((*device)->compile(cuda).error().message, HasSubstr("CUDA C++"));
}

TEST(CpuDevice, MissingEntriesAreNamed) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  EXPECT_THAT((*device)->prepare(root_plan(), {}, {{"N", 1}}).error().message, HasSubstr("\"root\""));
}

TEST(CpuDevice, MemoryIsAlignedAndRunsOutWithAWord) {
  auto device = open_cpu_device();
  ASSERT_TRUE(device.ok());
  for (std::int64_t bytes : {0, 1, 5000, 9 << 20}) {
    auto address = (*device)->allocate(bytes);
    ASSERT_TRUE(address.ok());
    EXPECT_EQ(*address % 256, 0u);
    (*device)->free(*address);
  }
  EXPECT_THAT((*device)->allocate(INT64_MAX).error().message, HasSubstr("memory"));
  EXPECT_FALSE((*device)->allocate(-1).ok());
}

TEST(MemoryPool, GivesABlockAgainAndForgetsBeyondItsLimit) {
  MemoryPool pool(10000);
  void* first = pool.take(8000);
  pool.give_back(first);
  EXPECT_EQ(pool.take(7000), first);
  void* second = pool.take(9000);
  EXPECT_NE(second, nullptr);
  pool.give_back(first);
  pool.give_back(second);  // beyond the limit: freed
  EXPECT_EQ(pool.take(7500), first);
}

TEST(Host, FactsAreThoseOfAThinkableMachine) {
  auto facts = host_facts();
  ASSERT_TRUE(facts.ok());
  EXPECT_GE(facts->multiprocessors, 1);
  EXPECT_TRUE(facts->vector_bytes == 16 || facts->vector_bytes == 32 || facts->vector_bytes == 64);
  EXPECT_GE(facts->l2_bytes, facts->l1_bytes);
  EXPECT_FALSE(facts->architecture.empty());
}

TEST(Host, ThreadsComeFromTheEnvironment) {
  setenv("EINKERN_THREADS", "3", 1);
  EXPECT_EQ(host_facts()->multiprocessors, 3);
  for (const char* bad : {"0", "-1", "many", "4x", "99999999999", "1025"}) {
    setenv("EINKERN_THREADS", bad, 1);
    auto facts = host_facts();
    ASSERT_FALSE(facts.ok()) << bad;
    EXPECT_THAT(facts.error().message, HasSubstr(bad));
  }
  unsetenv("EINKERN_THREADS");
}

TEST(Host, QuotasOfControlGroups) {
  EXPECT_EQ(cpus_of_quota("200000 100000"), 2);
  EXPECT_EQ(cpus_of_quota("150000 100000"), 2);
  EXPECT_EQ(cpus_of_quota("max 100000"), 0);
  EXPECT_EQ(cpus_of_quota(""), 0);
  EXPECT_EQ(cpus_of_quota("5"), 0);
  EXPECT_EQ(cpus_of_quota("100000 0"), 0);
}

TEST(Compiler, OneTextHasOneObjectAndOneAssembly) {
  auto facts = host_facts();
  ASSERT_TRUE(facts.ok());
  auto first = compile_object(root_ir, *facts), second = compile_object(root_ir, *facts);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->code, second->code);
  auto assembly = compile_assembly(root_ir, *facts);
  ASSERT_TRUE(assembly.ok());
  EXPECT_THAT(*assembly, HasSubstr("root:"));
  auto optimised = optimise_ir(root_ir, *facts);
  ASSERT_TRUE(optimised.ok());
  EXPECT_THAT(*optimised, HasSubstr("define void @root"));
}

}  // namespace
}  // namespace einkern::runtime::cpu
