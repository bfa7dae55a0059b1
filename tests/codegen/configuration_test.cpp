#include "codegen/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkern::codegen {
namespace {

using ::testing::HasSubstr;

Configuration configuration(std::string_view text) { return Configuration::parse(text).value(); }

ConfigurationSpace tiles() {
  ConfigurationSpace space;
  space.parameters = {{"tile_m", {64, 128}, true, "rows of a block"},
                      {"tile_n", {32, 64, 128}, true, "columns"}};
  space.constraints = {{"tile_m * tile_n <= 8192", [](const Configuration& c) -> std::optional<std::string> {
                          const auto size = c.get("tile_m") * c.get("tile_n");
                          if (size <= 8192) return std::nullopt;
                          return "tile " + std::to_string(size) + " > 8192";
                        }}};
  return space;
}

TEST(Configuration, TextParsesBackInItsOrder) {
  Configuration c;
  c.set("tile_n", 64);
  c.set("tile_m", -1);
  c.set("tile_n", 128);
  EXPECT_EQ(c.text(), "tile_n=128 tile_m=-1");
  EXPECT_EQ(configuration(c.text()), c);
  EXPECT_EQ(configuration(" tile_n=128,\ttile_m=-1\n"), c);
  EXPECT_EQ(configuration("").text(), "");
  EXPECT_EQ(c.get("tile_m"), -1);
  EXPECT_EQ(c.get_or("stages", 2), 2);
}

TEST(Configuration, MalformedTextIsAnErrorThatQuotesIt) {
  for (const char* text :
       {"tile_m", "=3", "tile m=3", "tile_m=", "tile_m=3x", "a-b=1", "a=99999999999999999999", "a=1 a=2"}) {
    const auto parsed = Configuration::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().kind, core::ErrorKind::usage);
    EXPECT_THAT(parsed.error().message, HasSubstr("name=integer"));
  }
  EXPECT_THAT(Configuration::parse("x=1 tile_m=3x").error().message, HasSubstr("'tile_m=3x'"));
}

TEST(ConfigurationSpace, ViolationsShowBothNumbers) {
  const ConfigurationSpace space = tiles();
  EXPECT_EQ(space.violation(configuration("tile_m=64 tile_n=128")), std::nullopt);
  EXPECT_EQ(space.violation(configuration("tile_m=128 tile_n=128")), "tile 16384 > 8192");
  EXPECT_EQ(space.violation(configuration("tile_m=96 tile_n=32")), "tile_m=96 is not one of 64, 128");
  EXPECT_EQ(space.violation(configuration("tile_m=64")), "parameter tile_n is missing");
  EXPECT_EQ(space.violation(configuration("tile_m=64 tile_n=32 stages=2")), "unknown parameter stages=2");
}

TEST(ConfigurationSpace, EnumeratesLegalConfigurationsInOrder) {
  const std::vector<Configuration> legal = tiles().enumerate();
  std::vector<std::string> texts;
  for (const Configuration& c : legal) texts.push_back(c.text());
  EXPECT_THAT(texts,
              ::testing::ElementsAre("tile_m=64 tile_n=32", "tile_m=64 tile_n=64", "tile_m=64 tile_n=128",
                                     "tile_m=128 tile_n=32", "tile_m=128 tile_n=64"));
  EXPECT_EQ(tiles().enumerate(2).size(), 2U);
  EXPECT_EQ(ConfigurationSpace{}.enumerate().size(), 1U) << "no parameters: the empty configuration";
}

TEST(ConfigurationSpace, AnEmptyDomainHasNoConfiguration) {
  ConfigurationSpace space = tiles();
  space.parameters[1].domain.clear();
  EXPECT_TRUE(space.enumerate().empty());
}

}  // namespace
}  // namespace einkern::codegen
