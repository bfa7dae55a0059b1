#include "dsl/utf8.h"

namespace einkern::dsl {
namespace {

/// Length of the sequence that a byte begins and the range in which its second byte must lie; length 0 if it
/// begins none.
struct Lead {
  std::size_t length;
  unsigned char low, high;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte >= 0xE0 && byte <= 0xEF)
    return {3, static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
  if (byte >= 0xF0 && byte <= 0xF4)
    return {4, static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const Lead lead = lead_of(byte(i));
    if (lead.length == 0 || i + lead.length > text.size()) return i;
    if (lead.length > 1 && (byte(i + 1) < lead.low || byte(i + 1) > lead.high)) return i;
    for (std::size_t k = 2; k < lead.length; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return i;
    i += lead.length;
  }
  return std::nullopt;
}

}  // namespace einkern::dsl
