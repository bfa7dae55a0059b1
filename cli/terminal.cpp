#include "cli/terminal.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

namespace einkern::cli {

namespace {

bool json = false;

std::string_view kind_name(core::ErrorKind kind) {
  switch (kind) {
    case core::ErrorKind::compile:
      return "compile";
    case core::ErrorKind::shape:
      return "shape";
    case core::ErrorKind::device:
      return "device";
    case core::ErrorKind::usage:
      return "usage";
    case core::ErrorKind::io:
      return "io";
    case core::ErrorKind::internal:
      return "internal";
  }
  return "";
}

}  // namespace

void set_json_output(bool wanted) { json = wanted; }
bool json_output() { return json; }

int report(const core::Error& error) {
  const bool internal = error.kind == core::ErrorKind::internal;
  if (json) {
    const nlohmann::ordered_json object = {
        {"error", {{"kind", kind_name(error.kind)}, {"message", error.message}}}};
    // Names of files and arguments need not be UTF-8.
    fmt::print("{}\n", object.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
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
