#include "codegen/cuda/text_writer.h"

#include <algorithm>

namespace einkern::codegen::cuda {

void TextWriter::put(std::string_view text) {
  text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  text_.append(text);
  text_.push_back('\n');
}

void TextWriter::line(std::string_view text) { put(text); }

void TextWriter::blank() { text_.push_back('\n'); }

void TextWriter::comment(std::string_view text) { put("// " + std::string(text)); }

void TextWriter::open(std::string_view head) {
  put(head.empty() ? "{" : std::string(head) + " {");
  ++depth_;
  names_->enter_block();
}

void TextWriter::close(std::string_view tail) {
  --depth_;
  put("}" + std::string(tail));
  names_->leave_block();
}

void TextWriter::next(std::string_view head) {
  --depth_;
  put("} " + std::string(head) + " {");
  ++depth_;
  names_->leave_block();
  names_->enter_block();
}

std::string identifier_part(std::string_view name) {
  constexpr std::size_t longest = 40;
  std::string part;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (fits) part.push_back(c);
    if (part.size() == longest) break;
  }
  return part.empty() ? "x" : part;
}

std::string NameTable::add(std::string_view prefix, std::string_view name, Names& block) {
  const std::string base = std::string(prefix) + "_" + identifier_part(name);
  std::string candidate = base;
  const auto taken = [&] {
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [&](const Names& names) { return names.contains(candidate); });
  };
  for (int number = 2; taken(); ++number) candidate = base + "_" + std::to_string(number);
  block.insert(candidate);
  return candidate;
}

}  // namespace einkern::codegen::cuda
