// einkern check and einkern fmt: what needs no device.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/problem.h"
#include "cli/terminal.h"
#include "dsl/parser.h"
#include "dsl/printer.h"

namespace einkern::cli {

int check_command(const CheckOptions& options) {
  const auto program = load_program(options.files, options.json);
  if (const int* code = std::get_if<int>(&program)) return *code;
  if (!options.json)
    for (const dsl::Signature& signature : std::get<dsl::Program>(program).signatures())
      fmt::print("{}\n", signature.text);
  return success;
}

namespace {

using Json = nlohmann::ordered_json;

/// What became of one file.
struct Formatted {
  std::string text;  // as it should be
  bool changed = false;
  Json diagnostics;     // as `check --json` gives them
  bool failed = false;  // it has errors, which were printed
};

Formatted format_text(const std::string& name, const std::string& text) {
  dsl::SourceSet sources;
  sources.add(name, text);
  dsl::DiagnosticBag found;
  const auto modules = dsl::parse(sources, found);
  Formatted result{.diagnostics = Json::parse(dsl::render_json(sources, found)).at("diagnostics")};
  if (found.has_errors()) {
    fmt::print(stderr, "{}", dsl::render_text(sources, found, colours()));
    result.failed = true;
    return result;
  }
  result.text = dsl::format(modules.front());
  result.changed = result.text != text;
  return result;
}

/// Under a temporary name first, so that a full disk or a kill leaves the source as it was. A link stays a
/// link.
core::Result<void> replace_file(const std::string& file, const std::string& text) {
  const auto fault = [&](const std::string& why) {
    return core::Error{core::ErrorKind::io, fmt::format("{}: cannot be written{}", file, why)};
  };
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(file, error);
  if (error) return fault(": " + error.message());
  if (access(target.c_str(), W_OK) != 0) return fault(": it is read-only");
  const std::filesystem::path temporary = fmt::format("{}.{}.tmp", target.string(), getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) std::filesystem::permissions(temporary, std::filesystem::status(target).permissions(), error);
  if (out && !error) std::filesystem::rename(temporary, target, error);
  if (out && !error) return {};
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return fault(": is the folder writable, is the disk full?");
}

}  // namespace

int format_command(const FormatOptions& options) {
  int code = success;
  Json files = Json::array();
  for (const std::string& file : options.files) {
    const auto text = read_source(file);
    if (!text) return report(text.error());
    const Formatted formatted = format_text(file, *text);
    const bool writes = options.write && file != "-" && formatted.changed && !formatted.failed;
    if (formatted.failed || (options.check && formatted.changed)) code = diagnostics;
    if (writes && !options.check)
      if (const auto written = replace_file(file, formatted.text); !written) return report(written.error());
    if (options.json)
      files.push_back({{"file", file},
                       {"changed", formatted.changed},
                       {"text", formatted.text},
                       {"diagnostics", formatted.diagnostics}});
    else if (options.check)
      fmt::print("{}", formatted.changed ? file + "\n" : "");
    else if (!formatted.failed && (!options.write || file == "-"))
      fmt::print("{}", formatted.text);
  }
  if (options.json) fmt::print("{}\n", files.dump(1, ' ', false, Json::error_handler_t::replace));
  return code;
}

}  // namespace einkern::cli
