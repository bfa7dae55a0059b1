#include "engine/switches.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace einkern::engine {
namespace {

/// Whether a variable says `on`; unset, empty and `off` say no.
core::Result<bool> read_switch(const char* variable, std::string_view on, std::string_view off) {
  const char* text = std::getenv(variable);
  const std::string_view value = text == nullptr ? std::string_view() : text;
  if (value == on) return true;
  if (value.empty() || value == off) return false;
  return core::Error{core::ErrorKind::usage,
                     fmt::format("{} is \"{}\": it may be {} or {}", variable, value, on, off)};
}

}  // namespace

core::Result<Switches> read_switches() {
  Switches switches;
  EINKERN_TRY(switches.check_elements, read_switch("EINKERN_CHECK", "1", "0"));
  EINKERN_TRY(switches.tune, read_switch("EINKERN_TUNE", "on", "off"));
  return switches;
}

}  // namespace einkern::engine
