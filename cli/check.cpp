// einkern check and einkern fmt: what needs no device.
#include <fstream>

#include <fmt/format.h>

#include "cli/problem.h"
#include "cli/terminal.h"
#include "dsl/parser.h"
#include "dsl/printer.h"

namespace einkern::cli {

int check_command(const CheckOptions& options) {
  const auto program = load_program(options.files, options.json);
  if (!program) return diagnostics;
  if (!options.json)
    for (const dsl::Signature& signature : program->signatures()) fmt::print("{}\n", signature.text);
  return success;
}

namespace {

/// Formats one file; false if it has errors, which were printed.
bool format_text(const std::string& name, const std::string& text, std::string& formatted) {
  dsl::SourceSet sources;
  sources.add(name, text);
  dsl::DiagnosticBag found;
  const auto modules = dsl::parse(sources, found);
  if (found.has_errors()) {
    fmt::print(stderr, "{}", dsl::render_text(sources, found, colours()));
    return false;
  }
  formatted = dsl::format(modules.front());
  return true;
}

}  // namespace

int format_command(const FormatOptions& options) {
  int code = success;
  for (const std::string& file : options.files) {
    const auto text = read_source(file);
    if (!text) return report(text.error());
    std::string formatted;
    if (!format_text(file, *text, formatted)) {
      code = diagnostics;
      continue;
    }
    if (options.check) {
      if (formatted != *text) {
        fmt::print("{}\n", file);
        code = diagnostics;
      }
    } else if (options.write && file != "-") {
      if (formatted == *text) continue;
      std::ofstream out(file, std::ios::binary | std::ios::trunc);
      out << formatted;
      out.flush();
      if (!out) return report({core::ErrorKind::io, fmt::format("{}: cannot be written", file)});
    } else {
      fmt::print("{}", formatted);
    }
  }
  return code;
}

}  // namespace einkern::cli
