#include "cli/terminal.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace einkern::cli {

int report(const core::Error& error) {
  const bool internal = error.kind == core::ErrorKind::internal;
  fmt::print(stderr, "einkern: {}{}\n",
             internal ? "internal error, please report it: " : "error: ", error.message);
  switch (error.kind) {
    case core::ErrorKind::compile:
    case core::ErrorKind::shape:
    case core::ErrorKind::internal:
      return diagnostics;
    case core::ErrorKind::usage:
    case core::ErrorKind::io:
      return usage;
    case core::ErrorKind::device:
      return device;
  }
  return diagnostics;
}

void notice(std::string_view text) { fmt::print(stderr, "einkern: {}\n", text); }

bool interactive() { return isatty(STDERR_FILENO) != 0; }

bool colours() {
  const char* no_color = std::getenv("NO_COLOR");
  return interactive() && (!no_color || !*no_color);
}

core::Result<std::pair<std::string, std::string>> split_pair(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return core::Error{core::ErrorKind::usage, fmt::format("{} takes name=value, not \"{}\"", option, text)};
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace einkern::cli
