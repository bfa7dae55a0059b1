// Source text and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace einkern::dsl {

/// A half-open range of bytes in one file of a SourceSet. An empty range is a place between two bytes.
struct SourceRange {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  /// From the start of one range to the end of another in the same file.
  static SourceRange joining(SourceRange first, SourceRange last) {
    return {first.file, first.begin, last.end};
  }
  /// The empty ranges before and after this one, where a fix inserts text.
  SourceRange before() const { return {file, begin, begin}; }
  SourceRange after() const { return {file, end, end}; }
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

/// A place as people count: both from 1, columns in bytes.
struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const LineColumn&, const LineColumn&) = default;
};

/// One named source text, immutable, with a table of its lines. Lines end in "\n" or "\r\n".
class SourceFile {
 public:
  SourceFile(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  /// The place of a byte offset; offsets past the end give the end.
  LineColumn position(std::uint32_t offset) const;
  /// The text of a line counted from 1, without its line end; empty if there is no such line.
  std::string_view line(std::uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

/// The sources of one compile, numbered in the order in which they were added.
class SourceSet {
 public:
  /// Returns the file's number, as SourceRange::file wants it. `name` is what diagnostics call it.
  std::uint32_t add(std::string name, std::string text);

  std::uint32_t size() const { return static_cast<std::uint32_t>(files_.size()); }
  const SourceFile& file(std::uint32_t index) const { return files_.at(index); }
  std::string_view text(SourceRange range) const;
  LineColumn begin(SourceRange range) const { return file(range.file).position(range.begin); }
  LineColumn end(SourceRange range) const { return file(range.file).position(range.end); }

 private:
  std::vector<SourceFile> files_;
};

}  // namespace einkern::dsl
