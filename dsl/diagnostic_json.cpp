// Diagnostics as data, for `--json`.
#include <nlohmann/json.hpp>

#include "dsl/diagnostic.h"

namespace einkern::dsl {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the keys, so the same input gives the same bytes

Json place(const SourceSet& sources, SourceRange range) {
  if (range.file >= sources.size()) return Json::object();
  const LineColumn begin = sources.begin(range), end = sources.end(range);
  return {{"file", sources.file(range.file).name()},
          {"line", begin.line},
          {"column", begin.column},
          {"end_line", end.line},
          {"end_column", end.column}};
}

Json with(Json object, const char* key, Json value) {
  object[key] = std::move(value);
  return object;
}

Json describe(const SourceSet& sources, const Diagnostic& diagnostic) {
  Json object = place(sources, diagnostic.range);
  object["severity"] = diagnostic.severity == Severity::error ? "error" : "warning";
  object["message"] = diagnostic.message;
  object["ranges"] = Json::array();
  for (SourceRange range : diagnostic.further_ranges) object["ranges"].push_back(place(sources, range));
  object["notes"] = Json::array();
  for (const Note& note : diagnostic.notes)
    object["notes"].push_back(with(place(sources, note.range), "message", note.message));
  object["fix"] = Json::array();
  for (const Edit& edit : diagnostic.fix)
    object["fix"].push_back(with(place(sources, edit.range), "replacement", edit.replacement));
  return object;
}

}  // namespace

std::string render_json(const SourceSet& sources, const DiagnosticBag& diagnostics) {
  Json root = {{"errors", diagnostics.error_count()},
               {"warnings", diagnostics.warning_count()},
               {"truncated", diagnostics.full()},
               {"diagnostics", Json::array()}};
  for (const Diagnostic& diagnostic : diagnostics.all())
    root["diagnostics"].push_back(describe(sources, diagnostic));
  return root.dump(2, ' ', false, Json::error_handler_t::replace);  // a file's name need not be UTF-8
}

}  // namespace einkern::dsl
