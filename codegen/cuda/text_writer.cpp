#include "codegen/cuda/text_writer.h"

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
}

void TextWriter::close(std::string_view tail) {
  --depth_;
  put("}" + std::string(tail));
}

void TextWriter::next(std::string_view head) {
  --depth_;
  put("} " + std::string(head) + " {");
  ++depth_;
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

std::string NameTable::unique(std::string_view prefix, std::string_view name) {
  const std::string base = std::string(prefix) + "_" + identifier_part(name);
  std::string candidate = base;
  for (int number = 2; !taken_.insert(candidate).second; ++number)
    candidate = base + "_" + std::to_string(number);
  return candidate;
}

}  // namespace einkern::codegen::cuda
