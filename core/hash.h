// Fingerprints: a key is a list of named fields, hashed with XXH3-128 over an unambiguous encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einkern::core {

/// 32 hexadecimal digits of XXH3-128.
std::string fingerprint(std::string_view bytes);

/// XXH3-64, to notice altered or truncated bytes.
std::uint64_t checksum(std::string_view bytes);

/// Named fields in order. The bytes hold each name and value with its length, so no two keys share an
/// encoding, and `einkern cache why` can name the field in which two keys differ.
class Key {
 public:
  Key& add(std::string_view name, std::string_view value);
  Key& add(std::string_view name, long long value);
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }
  std::string bytes() const;
  std::string fingerprint() const;
  /// Reads `bytes()` back; empty fields on malformed input.
  static Key from_bytes(std::string_view bytes);

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace einkern::core
