#include "syntax_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "dsl/printer.h"

namespace einkern::dsl::testing {

std::string Parsed::messages() const {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all())
    out += (diagnostic.severity == Severity::warning ? "warning: " : "") + diagnostic.message + "\n";
  return out;
}

std::unique_ptr<Parsed> parse_text(const std::string& text) {
  auto parsed = std::make_unique<Parsed>();
  parsed->sources.add("test.ein", text);
  parsed->modules = parse(parsed->sources, parsed->diagnostics);
  return parsed;
}

std::unique_ptr<Parsed> parse_expression(const std::string& expression) {
  return parse_text("fn f(x: f32[N]) -> y: f32[N] {\n  y[i] = " + expression + "\n}\n");
}

std::string tree_of(const std::string& expression) {
  const auto parsed = parse_expression(expression);
  if (!parsed->diagnostics.empty()) return parsed->messages();
  return dump(*parsed->module().functions.at(0).body.at(0).value);
}

namespace {

std::string list(const std::string& head, const std::vector<std::string>& items) {
  std::string out = head;
  for (const std::string& item : items) out.append(1, ' ').append(item);
  return fmt::format("({})", out);
}

struct Dumper {
  std::string operator()(const ast::Number& node) const { return node.text; }
  std::string operator()(ast::Constant node) const { return spelling(node); }
  std::string operator()(const ast::Name& node) const { return node.text; }
  std::string operator()(const ast::TypeName& node) const { return node.text; }
  std::string operator()(const ast::Unary& node) const {
    return list(spelling(node.operation), {dump(*node.operand)});
  }
  std::string operator()(const ast::Binary& node) const {
    return list(spelling(node.operation), {dump(*node.left), dump(*node.right)});
  }
  std::string operator()(const ast::Comparison& node) const {
    std::vector<std::string> items{dump(*node.operands[0])};
    for (std::size_t i = 0; i < node.comparators.size(); ++i) {
      items.emplace_back(spelling(node.comparators[i]));
      items.push_back(dump(*node.operands[i + 1]));
    }
    return list("compare", items);
  }
  std::string operator()(const ast::Else& node) const {
    return list("else", {dump(*node.guarded), dump(*node.otherwise)});
  }
  std::string operator()(const ast::Call& node) const {
    std::vector<std::string> items{node.callee.text};
    for (const auto& argument : node.arguments) items.push_back(dump(*argument));
    return list("call", items);
  }
  std::string operator()(const ast::Index& node) const {
    std::vector<std::string> items;
    for (const auto& subscript : node.subscripts)
      items.push_back(subscript.expression ? dump(*subscript.expression) : ":");
    return list("read " + dump(*node.base), items);
  }
  std::string operator()(const ast::Reduction& node) const {
    std::vector<std::string> items;
    for (const auto& variable : node.variables) {
      items.push_back(variable.name.text);
      if (variable.bounds)
        items.back() += fmt::format(":{}..{}", dump(*variable.bounds->begin), dump(*variable.bounds->end));
    }
    if (node.nth) items.push_back(fmt::format("nth={}", dump(*node.nth)));
    items.push_back(dump(*node.body));
    return list("reduce " + node.operation.text, items);
  }
};

}  // namespace

std::string dump(const ast::Expression& expression) { return std::visit(Dumper{}, expression.node); }

std::string apply_first_fix(const Parsed& parsed) {
  std::string text = parsed.sources.file(0).text();
  for (const Diagnostic& diagnostic : parsed.diagnostics.all()) {
    if (diagnostic.fix.empty()) continue;
    std::vector<Edit> edits = diagnostic.fix;
    std::stable_sort(edits.begin(), edits.end(),
                     [](const Edit& a, const Edit& b) { return a.range.begin > b.range.begin; });
    for (const Edit& edit : edits)
      text.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.replacement);
    break;
  }
  return text;
}

std::string read_test_file(const std::string& path) {
  std::ifstream file(std::string(EINKERN_TEST_DIR) + "/" + path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace einkern::dsl::testing
