#include "core/hash.h"

#define XXH_INLINE_ALL  // the functions come from the header, so there is no library to link
#include <xxhash.h>

#include <fmt/format.h>

#include <optional>

namespace einkern::core {
namespace {

void append_text(std::string& bytes, std::string_view text) {
  for (int shift = 0; shift < 64; shift += 8)  // little-endian everywhere
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(text.size()) >> shift));
  bytes.append(text);
}

std::optional<std::string> read_text(std::string_view& bytes) {
  if (bytes.size() < 8) return std::nullopt;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 8; ++i)
    size |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  bytes.remove_prefix(8);
  if (size > bytes.size()) return std::nullopt;
  std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

}  // namespace

std::string fingerprint(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Key& Key::add(std::string_view name, std::string_view value) {
  fields_.emplace_back(name, value);
  return *this;
}

Key& Key::add(std::string_view name, long long value) { return add(name, std::to_string(value)); }

std::string Key::bytes() const {
  std::string bytes;
  for (const auto& [name, value] : fields_) {
    append_text(bytes, name);
    append_text(bytes, value);
  }
  return bytes;
}

std::string Key::fingerprint() const { return core::fingerprint(bytes()); }

Key Key::from_bytes(std::string_view bytes) {
  Key key;
  while (!bytes.empty()) {
    auto name = read_text(bytes);
    auto value = name ? read_text(bytes) : std::nullopt;
    if (!value) return {};
    key.fields_.emplace_back(std::move(*name), std::move(*value));
  }
  return key;
}

}  // namespace einkern::core
