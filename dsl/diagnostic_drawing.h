// How diagnostics become text. Two painters draw the same picture: LLVM's SourceMgr, and an own one for
// builds without LLVM.
#pragma once

#include <span>
#include <string>

#include "dsl/diagnostic.h"

namespace einkern::dsl {

/// One message at one place: "name:line:column: error: …", the source line, a line of carets, a line of
/// fixes.
struct Drawing {
  enum class Label { error, warning, note } label = Label::error;
  std::string message;
  SourceRange range;
  std::vector<SourceRange> further_ranges;
  std::vector<Edit> edits;  // all on the line where `range` begins
};

/// Draws a message and appends it to `out`. Lines that hold bytes outside ASCII get no carets.
using Painter = void (*)(const SourceSet& sources, const Drawing& drawing, bool colours, std::string& out);

void paint_plainly(const SourceSet& sources, const Drawing& drawing, bool colours, std::string& out);
#ifdef EINKERN_HAS_LLVM
void paint_with_llvm(const SourceSet& sources, const Drawing& drawing, bool colours, std::string& out);
#endif

/// All diagnostics with their notes and fixes through one painter.
std::string render_text(const SourceSet& sources, const DiagnosticBag& diagnostics, bool colours,
                        Painter painter);

}  // namespace einkern::dsl
