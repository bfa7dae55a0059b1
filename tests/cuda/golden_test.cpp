// The text of representative kernels: tests/golden/cuda/<case>.cu. EINKERN_UPDATE_GOLDEN=1 writes them.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <fstream>
#include <locale>
#include <sstream>

#include "tests/cuda/emission_cases.h"

namespace einkern {
namespace {

using testing::EmissionCase;

class CudaText : public ::testing::TestWithParam<EmissionCase> {};

/// The fingerprint in an entry's name, eight hexadecimal digits after a "_", follows from more than the text;
/// here it is always the same.
std::string without_fingerprint(std::string name) {
  for (std::size_t at = 0; (at = name.find('_', at)) != std::string::npos; ++at) {
    const std::size_t end = std::min(name.find('_', at + 1), name.size());
    if (end - at == 9 && name.find_first_not_of("0123456789abcdef", at + 1) >= end)
      name.replace(at + 1, 8, "00000000");
  }
  return name;
}

std::string with_plain_names(const core::Emission& emission) {
  std::string text = emission.source;
  for (const std::string& entry : emission.entries)
    for (std::size_t at = 0; (at = text.find(entry, at)) != std::string::npos; ++at)
      text.replace(at, entry.size(), without_fingerprint(entry));
  for (const core::Step& step : emission.launch.steps) {
    const auto& kernel = std::get<core::KernelStep>(step);
    text += "// launch: grid (" + kernel.grid[0].text() + ", " + kernel.grid[1].text() + ", " +
            kernel.grid[2].text() + "), block " + kernel.block[0].text() + ", " +
            std::to_string(kernel.arguments.size()) + " arguments\n";
  }
  return text;
}

TEST_P(CudaText, IsAsExpected) {
  const auto emission = testing::emit_case(GetParam(), "sm_90a");
  ASSERT_TRUE(emission.ok()) << emission.error().message;
  const std::string path = std::string(EINKERN_TEST_DIR) + "/golden/cuda/" + GetParam().name + ".cu";
  const std::string text = with_plain_names(*emission);
  if (std::getenv("EINKERN_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "EINKERN_UPDATE_GOLDEN=1 writes " << path;
}

TEST_P(CudaText, IsTheSameTwice) {
  const auto first = testing::emit_case(GetParam(), "sm_90a"),
             second = testing::emit_case(GetParam(), "sm_90a");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->source, second->source);
  EXPECT_EQ(first->launch.to_json(), second->launch.to_json());
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaText, ::testing::ValuesIn(testing::emission_cases()),
                         [](const auto& test) { return test.param.name; });

// A load that may come from a tensor of the same kernel must not go through the read-only cache.
TEST(CudaTextOfRecurrences, PromisesNothingAboutPointers) {
  const EmissionCase recurrence{
      "recurrence",
      "fn f(x: f32[T, N], h0: f32[N]) -> h: f32[T, N] { h[t, n] = x[t, n] * (h[t - 1, n] else h0[n]) }",
      {{5, 7}, {7}},
      "cuda.generic",
      "threads=256"};
  const auto emission = testing::emit_case(recurrence, "sm_90a");
  ASSERT_TRUE(emission.ok()) << emission.error().message;
  EXPECT_EQ(emission->source.find("__restrict__"), std::string::npos) << emission->source;
}

TEST(CudaTextOfNumbers, DoesNotDependOnTheLocale) {
  const EmissionCase numbers{
      "numbers",
      "fn f(x: f32[N]) -> y: f32[N], z: f64[N] { y[i] = x[i] * 1234567.5 + 1e-7 + 3.4e38\n"
      "  z[i] = x[i] * f64(0.1) + 1e300 }",
      {{16}},
      "cuda.pointwise",
      "vector=1 unroll=1 threads=256"};
  const auto plain = testing::emit_case(numbers, "sm_90a");
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (found == nullptr) found = std::setlocale(LC_ALL, name);
  // A locale of ours, where the system has none: grouping and a comma.
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const auto local = testing::emit_case(numbers, "sm_90a");
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
  ASSERT_TRUE(local.ok());
  EXPECT_EQ(plain->source, local->source);
  EXPECT_NE(plain->source.find("1234567.5f"), std::string::npos) << plain->source;
}

TEST(CudaTextOfNames, KeepsNamesOfTheLanguageApartFromThoseOfCuda) {
  for (const EmissionCase& which : testing::emission_cases()) {
    if (which.name != "names") continue;
    const auto emission = testing::emit_case(which, "sm_90a");
    ASSERT_TRUE(emission.ok()) << emission.error().message;
    EXPECT_NE(emission->source.find("t_int"), std::string::npos) << emission->source;
    EXPECT_EQ(emission->source.find(" int["), std::string::npos) << emission->source;
    EXPECT_EQ(emission->source.find(" class"), std::string::npos) << emission->source;
  }
}

}  // namespace
}  // namespace einkern
