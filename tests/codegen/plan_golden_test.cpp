// The plans of every conformance function, as golden files: tests/golden/plans/<function>.txt holds all that
// are offered.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codegen/plan/plan.h"
#include "codegen/plan/verify.h"
#include "tests/support/call.h"

namespace einkern::codegen {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const dsl::Program& conformance() {
  static const dsl::Program program =
      testing::compile_source(read_file(EINKERN_TEST_DIR "/conformance/ops.ein")).value();
  return program;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const dsl::Signature& signature : conformance().signatures()) names.push_back(signature.name);
  return names;
}

std::shared_ptr<const dsl::Function> first_instance(const std::string& name) {
  dsl::TypeBinding types;
  for (const auto& [generic, allowed] : conformance().find(name)->generics) types[generic] = allowed.front();
  return conformance().instantiate(name, types).value();
}

class PlanGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(PlanGolden, IsSoundAndAsExpected) {
  std::string text;
  for (const Plan& plan : make_plans(first_instance(GetParam()))) {
    EXPECT_EQ(plan_violation(plan), std::nullopt) << describe(plan);
    text += describe(plan) + "\n";
  }
  const std::string path = std::string(EINKERN_TEST_DIR "/golden/plans/") + GetParam() + ".txt";
  if (std::getenv("EINKERN_UPDATE_GOLDEN")) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, read_file(path)) << "EINKERN_UPDATE_GOLDEN=1 writes " << path;
}

INSTANTIATE_TEST_SUITE_P(Conformance, PlanGolden, ::testing::ValuesIn(function_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace einkern::codegen
