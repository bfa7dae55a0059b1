#include "dsl/diagnostic.h"

#include <algorithm>
#include <utility>

#include "dsl/limits.h"

namespace einkern::dsl {

Diagnostic& Diagnostic::also(SourceRange further) {
  further_ranges.push_back(further);
  return *this;
}

Diagnostic& Diagnostic::note(SourceRange place, std::string text) {
  notes.push_back({std::move(text), place});
  return *this;
}

Diagnostic& Diagnostic::replace(SourceRange place, std::string replacement) {
  fix.push_back({place, std::move(replacement)});
  return *this;
}

Diagnostic& DiagnosticBag::error(SourceRange range, std::string message) {
  return add(Severity::error, range, std::move(message));
}

Diagnostic& DiagnosticBag::warning(SourceRange range, std::string message) {
  return add(Severity::warning, range, std::move(message));
}

Diagnostic& DiagnosticBag::add(Severity severity, SourceRange range, std::string message) {
  int& count = severity == Severity::error ? error_count_ : warning_count_;
  const int limit = severity == Severity::error ? limits::errors : limits::warnings;
  if (count == limit) {
    full_ = full_ || severity == Severity::error;
    return dropped_ = Diagnostic{};
  }
  ++count;
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.range = range;
  diagnostic.message = std::move(message);
  return diagnostics_.emplace_back(std::move(diagnostic));
}

void DiagnosticBag::sort() {
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.range.file, a.range.begin) < std::pair(b.range.file, b.range.begin);
  });
}

namespace {

/// Edits from one word to the other: insertions, deletions, changes and swaps of neighbours, each counting
/// one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_rows_up, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], two_rows_up[j - 2] + 1);
    }
    two_rows_up = previous;
    previous.swap(current);
  }
  return previous[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t smallest =
      (misspelt.size() + 2) / 3 + 1;  // one wrong letter in three, and never the whole word
  smallest = std::min(smallest, misspelt.size());
  for (std::string_view candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), misspelt.size());
    if (longer - std::min(candidate.size(), misspelt.size()) >= smallest) continue;
    const std::size_t distance = edit_distance(misspelt, candidate);
    if (distance == 0 || distance >= smallest) continue;
    smallest = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace einkern::dsl
