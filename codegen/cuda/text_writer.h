// Lines of program text with indentation, and names that are safe in it.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace einkern::codegen::cuda {

/// Builds text line by line; `open` and `close` move the indentation.
class TextWriter {
 public:
  explicit TextWriter(int depth = 1) : depth_(depth) {}  // a kernel's body stands one level deep
  void line(std::string_view text);
  void blank();
  /// `// text`
  void comment(std::string_view text);
  /// `head {`, and one level deeper.
  void open(std::string_view head);
  /// `}` with an optional tail such as ` else {`'s; one level back.
  void close(std::string_view tail = {});
  /// `} head {`: ends one block and begins its sibling.
  void next(std::string_view head);

  /// An empty writer one level deeper, for lines that may come to stand inside the next block.
  TextWriter nested() const { return TextWriter(depth_ + 1); }
  void append(const TextWriter& lines) { text_ += lines.text_; }

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  void put(std::string_view text);

  std::string text_;
  int depth_;
};

/// Gives out identifiers of one function's scope, each once. A name from the language is never used bare: it
/// stands behind a prefix that says its kind ("t_x" a tensor, "d_M" an extent, "i_r" an index, "v_exp" a
/// value), which keeps it apart from keywords, CUDA's names and the prelude's `ek_`. Anything but letters,
/// digits and underscores is dropped, long names are cut.
class NameTable {
 public:
  /// "<prefix>_<name>", with "_2", "_3", … where that is taken.
  std::string unique(std::string_view prefix, std::string_view name);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// Letters, digits and underscores of `name`, at most 40; "x" if none is left.
std::string identifier_part(std::string_view name);

}  // namespace einkern::codegen::cuda
