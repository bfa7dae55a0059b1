// Text that knows where it may be broken into lines: a small pretty printer after Oppen and Wadler.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace einkern::dsl {

/// Immutable; copies share.
class Document {
 public:
  Document() : Document("") {}
  Document(std::string text);                                  // NOLINT(google-explicit-constructor)
  Document(const char* text) : Document(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  /// A space, or the end of a line where the group around it does not fit.
  static Document line();
  static Document concatenation(std::vector<Document> parts);
  /// On one line if that fits, else with every line() of its own broken, `indentation` further in than its
  /// surroundings.
  static Document group(std::vector<Document> parts, std::size_t indentation);

  /// Lays out text that begins at `column` on a line indented by `indentation`, in lines of `width` where
  /// possible.
  std::string lay_out(std::size_t width, std::size_t column, std::size_t indentation) const;
  /// All of it on one line.
  std::string flat() const;

 private:
  struct Node;
  std::shared_ptr<const Node> node_;
};

}  // namespace einkern::dsl
