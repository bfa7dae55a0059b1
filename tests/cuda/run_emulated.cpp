#include "tests/cuda/run_emulated.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/emit_kernel.h"

namespace einkern::testing {
std::string EmulationOptions::text() const {
  return fmt::format("plan {} schedule '{}' candidate {} {} index bits {}", plan, schedule, candidate,
                     architecture, index_bits);
}

core::Result<std::size_t> EmulatedCalls::add(const Call& call, const EmulationOptions& options) {
  const std::vector<codegen::Plan> plans = codegen::make_plans(call.function);
  const codegen::Plan& plan = plans[options.plan % plans.size()];
  EINKERN_TRY(const core::DeviceFacts device, core::facts_of_architecture(options.architecture));
  codegen::Specialisation specialisation =
      codegen::specialise(plan, call.binding, placements_of(call, options.layouts));
  if (options.index_bits != 0) specialisation.index_bits = options.index_bits;
  Planned planned{call, options, {}, {}};
  for (const codegen::Kernel& kernel : plan.kernels) {
    const codegen::KernelContext context{plan, kernel, specialisation, device, call.binding};
    EINKERN_TRY(const EmittedKernel emitted,
                emit_kernel(context, core::Backend::cuda, {options.schedule, options.candidate, {}}));
    planned.launch.append(emitted.emission.launch);
    planned.what += " " + emitted.choice;
    module_.add(emitted.emission);
  }
  planned_.push_back(std::move(planned));
  return planned_.size() - 1;
}

core::Result<Results> EmulatedCalls::run(std::size_t index) const {
  const Planned& planned = planned_[index];
  CallMemory memory(planned.call, planned.options.layouts);
  EINKERN_CHECK_OK(module_.launch(planned.launch, memory.symbols(), memory.addresses(planned.launch),
                                  memory.scalars(planned.launch)));
  return memory.results();
}

std::string EmulatedCalls::difference(std::size_t index) const {
  const Planned& planned = planned_[index];
  const std::string wrong = difference_from_reference(planned.call, [&](const Call&) { return run(index); });
  return wrong.empty() ? wrong : fmt::format("{}:{}\n{}", planned.options.text(), planned.what, wrong);
}

void add_call(EmulatedCalls& calls, const std::string& source, const NamedArguments& arguments,
              const EmulationOptions& options) {
  const auto call = make_call(source, "", {}, arguments);
  ASSERT_TRUE(call.ok()) << call.error().message;
  const auto added = calls.add(*call, options);
  ASSERT_TRUE(added.ok()) << added.error().message;
}

void expect_right(EmulatedCalls& calls) {
  if (!can_emulate()) GTEST_SKIP() << "no compiler at " << EINKERN_TEST_COMPILER;
  const auto built = calls.build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls.difference(i), "");
}

void expect_emulated(std::size_t count, const std::function<EmulationOptions(std::size_t)>& options_of,
                     const std::function<std::string(std::size_t, const RunCase&)>& check) {
  if (!can_emulate()) GTEST_SKIP() << "no compiler at " << EINKERN_TEST_COMPILER;
  EmulatedCalls calls;
  std::vector<std::vector<std::size_t>> added(count);
  for (std::size_t i = 0; i < count; ++i)
    check(i, [&](const Call& call) -> core::Result<Results> {
      const auto index = calls.add(call, options_of(i));
      if (!index.ok()) return index.error();
      added[i].push_back(*index);
      return run_on_reference(call);
    });
  const auto built = calls.build();
  ASSERT_TRUE(built.ok()) << built.error().message;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t next = 0;
    const std::string wrong = check(i, [&](const Call&) -> core::Result<Results> {
      if (next == added[i].size())
        return core::Error{core::ErrorKind::internal, "the call could not be emitted"};
      return calls.run(added[i][next++]);
    });
    EXPECT_EQ(wrong, "") << "number " << i << ", " << options_of(i).text();
  }
}

}  // namespace einkern::testing
