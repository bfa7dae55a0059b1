// What the front end has to say about a source: as data, as text with carets, as JSON.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/source.h"

namespace einkern::dsl {

enum class Severity { error, warning };

/// A remark at another place that explains a diagnostic.
struct Note {
  std::string message;
  SourceRange range;
};

/// Replaces the text of `range`; an empty range inserts, an empty replacement deletes.
struct Edit {
  SourceRange range;
  std::string replacement;
};

/// One error or warning. The caret stands at the start of `range`; the edits of `fix`, made together, repair
/// it.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string message;
  SourceRange range;
  std::vector<SourceRange> further_ranges;
  std::vector<Note> notes;
  std::vector<Edit> fix;

  /// Underlines another part of the same line.
  Diagnostic& also(SourceRange further);
  Diagnostic& note(SourceRange place, std::string text);
  Diagnostic& replace(SourceRange place, std::string replacement);
  Diagnostic& insert_before(SourceRange place, std::string text) {
    return replace(place.before(), std::move(text));
  }
  Diagnostic& insert_after(SourceRange place, std::string text) {
    return replace(place.after(), std::move(text));
  }
  /// Puts parentheses around a range.
  Diagnostic& parenthesise(SourceRange place) { return insert_before(place, "(").insert_after(place, ")"); }
};

/// The diagnostics of one run, in the order in which they were found. Past limits::errors errors it takes no
/// more.
class DiagnosticBag {
 public:
  /// Adds a diagnostic and returns it to be extended: `bag.error(range, "…").note(other, "…")`.
  Diagnostic& error(SourceRange range, std::string message);
  Diagnostic& warning(SourceRange range, std::string message);

  /// Puts them in the order of the text.
  void sort();

  const std::deque<Diagnostic>& all() const { return diagnostics_; }
  bool empty() const { return diagnostics_.empty(); }
  bool has_errors() const { return error_count_ > 0; }
  int error_count() const { return error_count_; }
  int warning_count() const { return warning_count_; }
  /// True once an error was dropped because there are enough: whoever looks for more should stop.
  bool full() const { return full_; }

 private:
  Diagnostic& add(Severity severity, SourceRange range, std::string message);

  std::deque<Diagnostic> diagnostics_;
  Diagnostic dropped_;  // what add() returns when there are enough
  int error_count_ = 0;
  int warning_count_ = 0;
  bool full_ = false;
};

/// The diagnostics as a terminal shows them: "name:line:column: error: …", the source line, carets, notes,
/// fixes. Colours are ANSI sequences; the caller decides by its terminal and NO_COLOR.
std::string render_text(const SourceSet& sources, const DiagnosticBag& diagnostics, bool colours = false);

/// The diagnostics as a JSON array of objects: file, line, column, end_line, end_column, severity, message,
/// ranges, notes and fix.
std::string render_json(const SourceSet& sources, const DiagnosticBag& diagnostics);

/// The candidate that `misspelt` was probably meant to be, or "" if none is near. Of equally near ones, the
/// first.
std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> candidates);

}  // namespace einkern::dsl
