// From a line of the language to planned and specialised kernels, for tests of the emitters.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "dsl/binding.h"
#include "dsl/program.h"

namespace einkern::testing {

/// A function with the sizes of one call, its plan and what the kernels may assume.
struct KernelCase {
  codegen::Plan plan;
  dsl::Binding binding;
  codegen::Specialisation specialisation;
  core::DeviceFacts device;

  const dsl::Function& graph() const { return *plan.graph; }
  codegen::KernelContext context(std::size_t kernel = 0) const {
    return {plan, plan.kernels[kernel], specialisation, device, binding};
  }
};

/// The function of a source, which must check. `name` may be empty if there is only one.
inline std::shared_ptr<const dsl::Function> checked_function(const std::string& source, std::string name = {},
                                                             const dsl::TypeBinding& types = {}) {
  dsl::SourceSet sources;
  sources.add("test.ein", source);
  dsl::DiagnosticBag diagnostics;
  const auto program = dsl::Program::compile(sources, diagnostics);
  EXPECT_TRUE(program) << dsl::render_text(sources, diagnostics);
  if (!program) return nullptr;
  if (name.empty()) name = program->signatures().front().name;
  auto function = program->instantiate(name, types);
  EXPECT_TRUE(function.ok()) << (function.ok() ? "" : function.error().message);
  return function.ok() ? *function : nullptr;
}

/// Plans and specialises a function for shapes; `plan` chooses among what the planner offers.
inline KernelCase kernel_case(const std::shared_ptr<const dsl::Function>& function,
                              const dsl::CallShapes& shapes, const std::string& architecture = "sm_90a",
                              std::size_t plan = 0,
                              const std::vector<codegen::TensorPlacement>& placements = {}) {
  KernelCase result;
  auto binding = dsl::bind(*function, shapes);
  EXPECT_TRUE(binding.ok()) << (binding.ok() ? "" : binding.error().message);
  if (!binding.ok()) return result;
  result.binding = *binding;
  result.plan = codegen::make_plans(function)[plan];
  result.specialisation = codegen::specialise(result.plan, result.binding, placements);
  auto device = core::facts_of_architecture(architecture);
  EXPECT_TRUE(device.ok());
  if (device.ok()) result.device = *device;
  return result;
}

}  // namespace einkern::testing
