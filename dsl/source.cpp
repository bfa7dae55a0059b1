#include "dsl/source.h"

#include <algorithm>

namespace einkern::dsl {

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
}

LineColumn SourceFile::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return {static_cast<std::uint32_t>(next - line_starts_.begin()), offset - *(next - 1) + 1};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[number - 1];
  std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::uint32_t SourceSet::add(std::string name, std::string text) {
  files_.emplace_back(std::move(name), std::move(text));
  return size() - 1;
}

std::string_view SourceSet::text(SourceRange range) const {
  const std::string_view whole = file(range.file).text();
  const std::size_t begin = std::min<std::size_t>(range.begin, whole.size());
  return whole.substr(begin, std::max(range.begin, range.end) - range.begin);
}

}  // namespace einkern::dsl
