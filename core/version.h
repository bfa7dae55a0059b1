// The version of einkern: part of every kernel key and tuning record.
#pragma once

#include <string_view>

namespace einkern::core {

inline constexpr std::string_view version = "0.1.0";

}  // namespace einkern::core
