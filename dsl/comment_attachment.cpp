#include "dsl/comment_attachment.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace einkern::dsl {
namespace {

using ast::Comment;

class Attacher {
 public:
  Attacher(const SourceFile& file, std::vector<Comment> comments, ast::Module& module)
      : file_(file), comments_(std::move(comments)), module_(module) {}

  void run() {
    for (ast::Function& function : module_.functions) {
      attach_before(function);
      attach_to_signature(function);
      attach_to_body(function);
    }
    if (!module_.functions.empty())
      take_same_line(module_.functions.back().range.end, module_.functions.back().trivia.trailing);
    take_before(static_cast<std::uint32_t>(file_.text().size()) + 1, module_.end);
  }

 private:
  bool done() const { return next_ == comments_.size(); }
  std::uint32_t line_of(std::uint32_t offset) const { return file_.position(offset).line; }

  void take_next(std::vector<Comment>& into) { into.push_back(std::move(comments_[next_++])); }
  void take_before(std::uint32_t offset, std::vector<Comment>& into) {
    while (!done() && comments_[next_].range.begin < offset) take_next(into);
  }
  /// The comment that ends the line on which an item ends.
  void take_same_line(std::uint32_t item_end, std::vector<Comment>& into) {
    if (!done() && comments_[next_].range.begin >= item_end &&
        line_of(comments_[next_].range.begin) == line_of(item_end))
      take_next(into);
  }

  bool blank_line_before(std::uint32_t offset) const {
    int line_ends = 0;
    while (offset > 0) {
      const char c = file_.text()[--offset];
      if (c == '\n')
        ++line_ends;
      else if (c != ' ' && c != '\t' && c != '\r')
        break;
    }
    return line_ends > 1;
  }

  void attach_before(ast::Function& function) {
    if (&function != &module_.functions.front()) {
      ast::Function& before = *std::prev(module_.functions.begin() + (&function - module_.functions.data()));
      take_same_line(before.range.end, before.trivia.trailing);
    }
    take_before(function.range.begin, function.trivia.leading);
    function.trivia.blank_line_before = blank_line_before(function.range.begin);
    function.documentation = documentation_of(function.trivia);
    take_before(function.parameter_list.begin, function.trivia.leading);  // between attributes, in `<…>`
  }

  static std::string documentation_of(const ast::Trivia& trivia) {
    if (trivia.blank_line_before) return {};
    auto first = trivia.leading.end();
    while (first != trivia.leading.begin()) {
      --first;
      if (first->blank_line_before) break;
    }
    std::string text;
    for (; first != trivia.leading.end(); ++first) {
      const bool spaced = first->text.size() > 1 && first->text[1] == ' ';
      if (!text.empty()) text += '\n';
      text += first->text.substr(spaced ? 2 : 1);
    }
    return text;
  }

  void attach_to_signature(ast::Function& function) {
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      ast::Parameter& parameter = function.parameters[i];
      take_before(parameter.range.end, parameter.trivia.leading);
      const bool last = i + 1 == function.parameters.size();
      const std::uint32_t limit = last ? function.parameter_list.end : function.parameters[i + 1].range.begin;
      if (!done() && comments_[next_].range.begin < limit)
        take_same_line(parameter.range.end, parameter.trivia.trailing);
    }
    take_before(function.parameter_list.end, function.parameters_end);
    if (function.braces.end == 0) return;
    std::vector<Comment>& above =
        function.body.empty() ? function.body_end : function.body.front().trivia.leading;
    take_before(function.braces.begin, above);
    const std::uint32_t limit =
        function.body.empty() ? function.braces.end : function.body.front().range.begin;
    if (!done() && comments_[next_].range.begin < limit)
      take_same_line(function.braces.begin + 1, function.after_open_brace);
  }

  void attach_to_body(ast::Function& function) {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      ast::Definition& definition = function.body[i];
      take_before(definition.range.end, definition.trivia.leading);
      definition.trivia.blank_line_before = blank_line_before(definition.range.begin);
      const bool last = i + 1 == function.body.size();
      const std::uint32_t limit = last ? function.braces.end : function.body[i + 1].range.begin;
      if (!done() && comments_[next_].range.begin < limit)
        take_same_line(definition.range.end, definition.trivia.trailing);
    }
    take_before(function.braces.end, function.body_end);
  }

  const SourceFile& file_;
  std::vector<Comment> comments_;
  ast::Module& module_;
  std::size_t next_ = 0;
};

}  // namespace

void attach_comments(const SourceFile& file, std::vector<ast::Comment> comments, ast::Module& module) {
  Attacher(file, std::move(comments), module).run();
}

}  // namespace einkern::dsl
