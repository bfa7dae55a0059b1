#include "dsl/source.h"

#include <gtest/gtest.h>

#include "dsl/utf8.h"

namespace einkern::dsl {
namespace {

TEST(Source, CountsLinesAndColumnsFromOne) {
  const SourceFile file("a.ein", "ab\r\n\ncd");
  EXPECT_EQ(file.position(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.position(3), (LineColumn{1, 4}));
  EXPECT_EQ(file.position(4), (LineColumn{2, 1}));
  EXPECT_EQ(file.position(6), (LineColumn{3, 2}));
  EXPECT_EQ(file.position(1000), (LineColumn{3, 3}));
  EXPECT_EQ(file.line(1), "ab");
  EXPECT_EQ(file.line(2), "");
  EXPECT_EQ(file.line(3), "cd");
  EXPECT_EQ(file.line(0), "");
  EXPECT_EQ(file.line(4), "");
}

TEST(Source, GivesTheTextOfARange) {
  SourceSet sources;
  EXPECT_EQ(sources.add("a", "first"), 0u);
  EXPECT_EQ(sources.add("b", "second"), 1u);
  EXPECT_EQ(sources.text({1, 1, 3}), "ec");
  EXPECT_EQ(sources.text({1, 3, 3}), "");
  EXPECT_EQ(sources.text({0, 99, 120}), "");
}

TEST(Utf8, TakesWellFormedTextOnly) {
  for (const char* good :
       {"", "ascii", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_FALSE(first_invalid_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC2", "\xE2\x82", "\xC2\x20", "\xE2\x82\x20"})
    EXPECT_EQ(first_invalid_utf8(std::string("a") + bad), 1u) << bad;
}

}  // namespace
}  // namespace einkern::dsl
