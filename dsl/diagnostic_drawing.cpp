#include "dsl/diagnostic_drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/limits.h"

namespace einkern::dsl {
namespace {

std::string describe_edit(const SourceSet& sources, const Edit& edit) {
  if (edit.range.begin == edit.range.end) return fmt::format("insert `{}` here", edit.replacement);
  if (edit.replacement.empty()) return fmt::format("remove `{}`", sources.text(edit.range));
  return fmt::format("write `{}`", edit.replacement);
}

/// The diagnostic itself, its notes, then those edits of its fix that lie on other lines.
std::vector<Drawing> drawings_of(const SourceSet& sources, const Diagnostic& diagnostic) {
  Drawing main;
  main.label = diagnostic.severity == Severity::error ? Drawing::Label::error : Drawing::Label::warning;
  main.message = diagnostic.message;
  main.range = diagnostic.range;
  main.further_ranges = diagnostic.further_ranges;
  std::vector<Drawing> drawings{main};
  for (const Note& note : diagnostic.notes)
    drawings.push_back({Drawing::Label::note, note.message, note.range, {}, {}});
  const LineColumn place = sources.begin(diagnostic.range);
  for (const Edit& edit : diagnostic.fix) {
    const bool same_line = edit.range.file == diagnostic.range.file &&
                           sources.begin(edit.range).line == place.line &&
                           sources.end(edit.range).line == place.line &&
                           edit.replacement.find_first_of("\n\r\t") == std::string::npos;
    if (same_line && (!edit.replacement.empty()))
      drawings.front().edits.push_back(edit);
    else
      drawings.push_back({Drawing::Label::note, describe_edit(sources, edit), edit.range, {}, {}});
  }
  std::stable_sort(drawings.front().edits.begin(), drawings.front().edits.end(),
                   [](const Edit& a, const Edit& b) { return a.range.begin < b.range.begin; });
  return drawings;
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

/// The part of `range` on line `number`, as columns from 0.
std::pair<std::size_t, std::size_t> columns_on_line(const SourceFile& file, SourceRange range,
                                                    std::uint32_t number) {
  const std::size_t width = file.line(number).size();
  const LineColumn begin = file.position(range.begin), end = file.position(range.end);
  if (begin.line > number || end.line < number) return {0, 0};
  const std::size_t first = begin.line == number ? begin.column - 1 : 0;
  const std::size_t last = end.line == number ? end.column - 1 : width;
  return {std::min(first, width), std::min(last, width)};
}

void mark(std::string& line, std::pair<std::size_t, std::size_t> columns) {
  for (std::size_t i = columns.first; i < columns.second; ++i) line[i] = '~';
}

/// Fills in the line of carets and the line of fixes below a source line.
void draw_marks(const SourceFile& file, const Drawing& drawing, std::string& carets, std::string& fixes) {
  const LineColumn place = file.position(drawing.range.begin);
  mark(carets, columns_on_line(file, drawing.range, place.line));
  for (SourceRange range : drawing.further_ranges)
    if (range.file == drawing.range.file) mark(carets, columns_on_line(file, range, place.line));
  std::size_t taken = 0;
  for (const Edit& edit : drawing.edits) {
    const auto columns = columns_on_line(file, edit.range, place.line);
    const std::size_t column = columns.first < taken ? taken + 1 : columns.first;
    if (fixes.size() < column) fixes.resize(column, ' ');
    fixes += edit.replacement;
    taken = fixes.size();
    mark(carets, columns);
  }
  carets[place.column - 1] = '^';
  carets.erase(carets.find_last_not_of(' ') + 1);
}

/// Spaces up to the next multiple of 8 for every tab of `source`, in it and in the lines below it.
std::string expand_tabs(std::string_view source, std::string_view line) {
  std::string expanded;
  std::size_t column = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool tab = i < source.size() && source[i] == '\t';
    const std::size_t width = tab ? 8 - column % 8 : 1;
    expanded += line[i] == '\t' ? ' ' : line[i];
    if (width > 1) expanded.append(width - 1, line[i] == '~' ? '~' : ' ');
    column += width;
  }
  return expanded;
}

}  // namespace

void paint_plainly(const SourceSet& sources, const Drawing& drawing, bool colours, std::string& out) {
  static constexpr const char* names[] = {"error", "warning", "note"};
  static constexpr const char* label_colours[] = {"\033[1;31m", "\033[1;35m", "\033[1;90m"};
  const auto label = static_cast<std::size_t>(drawing.label);
  const auto coloured = [&](const char* colour, const std::string& text) {
    return colours ? colour + text + "\033[0m" : text;
  };
  const SourceFile& file = sources.file(drawing.range.file);
  const LineColumn place = file.position(drawing.range.begin);
  out += coloured("\033[1m", fmt::format("{}:{}:{}: ", file.name(), place.line, place.column));
  out += coloured(label_colours[label], std::string(names[label]) + ": ");
  out += coloured("\033[1m", drawing.message) + "\n";
  const std::string_view line = file.line(place.line);
  out += expand_tabs(line, line) + "\n";
  if (!is_printable_ascii(line)) return;
  std::string carets(line.size() + 1, ' '), fixes;
  draw_marks(file, drawing, carets, fixes);
  out += coloured("\033[1;32m", expand_tabs(line, carets)) + "\n";
  if (!fixes.empty()) out += expand_tabs(line, fixes) + "\n";
}

std::string render_text(const SourceSet& sources, const DiagnosticBag& diagnostics, bool colours,
                        Painter painter) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all())
    for (const Drawing& drawing : drawings_of(sources, diagnostic)) painter(sources, drawing, colours, out);
  if (diagnostics.full()) out += fmt::format("stopped after {} errors; there are more\n", limits::errors);
  return out;
}

std::string render_text(const SourceSet& sources, const DiagnosticBag& diagnostics, bool colours) {
#ifdef EINKERN_HAS_LLVM
  return render_text(sources, diagnostics, colours, paint_with_llvm);
#else
  return render_text(sources, diagnostics, colours, paint_plainly);
#endif
}

}  // namespace einkern::dsl
