#include "dsl/document.h"

#include <limits>

namespace einkern::dsl {

struct Document::Node {
  enum class Kind { text, line, concatenation, group } kind;
  std::string text;
  std::vector<Document> parts;
  std::size_t flat_width = 0;
  std::size_t indentation = 0;  // of a group
};

Document::Document(std::string text) {
  const std::size_t width = text.size();
  node_ = std::make_shared<const Node>(Node{Node::Kind::text, std::move(text), {}, width});
}

Document Document::line() {
  Document document;
  document.node_ = std::make_shared<const Node>(Node{Node::Kind::line, " ", {}, 1});
  return document;
}

Document Document::concatenation(std::vector<Document> parts) {
  std::size_t width = 0;
  for (const Document& part : parts) width += part.node_->flat_width;
  Document document;
  document.node_ = std::make_shared<const Node>(Node{Node::Kind::concatenation, "", std::move(parts), width});
  return document;
}

Document Document::group(std::vector<Document> parts, std::size_t indentation) {
  const Document whole = concatenation(std::move(parts));
  Document document;
  document.node_ = std::make_shared<const Node>(
      Node{Node::Kind::group, "", {whole}, whole.node_->flat_width, indentation});
  return document;
}

std::string Document::lay_out(std::size_t width, std::size_t column, std::size_t indentation) const {
  struct Pending {
    const Node* node;
    std::size_t indentation;
    bool broken;
  };
  std::string out;
  std::vector<Pending> stack{{node_.get(), indentation, false}};
  while (!stack.empty()) {
    const Pending next = stack.back();
    stack.pop_back();
    switch (next.node->kind) {
      case Node::Kind::text:
        out += next.node->text;
        column += next.node->flat_width;
        break;
      case Node::Kind::line:
        out += next.broken ? '\n' : ' ';
        if (next.broken) out.append(next.indentation, ' ');
        column = next.broken ? next.indentation : column + 1;
        break;
      case Node::Kind::concatenation:
        for (auto part = next.node->parts.rbegin(); part != next.node->parts.rend(); ++part)
          stack.push_back({part->node_.get(), next.indentation, next.broken});
        break;
      case Node::Kind::group: {
        const bool broken = column + next.node->flat_width > width;
        stack.push_back({next.node->parts.front().node_.get(),
                         next.indentation + (broken ? next.node->indentation : 0), broken});
        break;
      }
    }
  }
  return out;
}

std::string Document::flat() const { return lay_out(std::numeric_limits<std::size_t>::max() / 2, 0, 0); }

}  // namespace einkern::dsl
