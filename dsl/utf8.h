// Checks that bytes are UTF-8 text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace einkern::dsl {

/// The offset of the first byte that does not belong to well-formed UTF-8 (Unicode 15, table 3-7: no overlong
/// forms, no surrogates, nothing above U+10FFFF).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace einkern::dsl
