#include "dsl/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/expression_printer.h"

namespace einkern::dsl {
namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t widest_alignment = 24;  // columns of blanks before `=` at which aligning stops to help

template <typename Item, typename Print>
std::string joined(const std::vector<Item>& items, const char* separator, Print print) {
  std::string text;
  for (const Item& item : items) {
    if (&item != &items.front()) text += separator;
    text += print(item);
  }
  return text;
}

/// The parts of a function as text on one line.
class PartPrinter {
 public:
  explicit PartPrinter(PrintStyle style) : style_(style) {}

  std::string expression(const ast::Expression& expression) const {
    return print_expression(expression, style_).flat();
  }

  std::string attribute(const ast::Attribute& attribute) const {
    if (attribute.arguments.empty()) return fmt::format("@{}", attribute.name.text);
    return fmt::format("@{}({})", attribute.name.text, expressions(attribute.arguments));
  }

  /// `fn name<…>`, up to the parameters.
  std::string head(const ast::Function& function) const {
    const auto choice = [](const ast::Identifier& type) { return type.text; };
    const auto type_parameter = [&](const ast::TypeParameter& parameter) {
      return fmt::format("{}: {}", parameter.name.text, joined(parameter.choices, " | ", choice));
    };
    if (function.type_parameters.empty()) return fmt::format("fn {}", function.name.text);
    return fmt::format("fn {}<{}>", function.name.text,
                       joined(function.type_parameters, ", ", type_parameter));
  }

  std::string parameter(const ast::Parameter& parameter) const {
    const std::string declaration =
        fmt::format("{}: {}{}{}", parameter.name.text, parameter.is_inout ? "inout " : "",
                    parameter.type.text, shape(parameter.shape));
    if (!parameter.default_value) return declaration;
    return fmt::format("{} = {}", declaration, expression(*parameter.default_value));
  }

  /// ` -> y: …`, or nothing.
  std::string results(const ast::Function& function) const {
    if (function.results.empty()) return "";
    return fmt::format(" -> {}", joined(function.results, ", ", [this](const ast::ResultDeclaration& result) {
                         return fmt::format("{}: {}{}", result.name.text, result.type.text,
                                            shape(result.shape));
                       }));
  }

  /// `where …`, or nothing.
  std::string where(const ast::Function& function) const {
    if (function.where.empty()) return "";
    return fmt::format("where {}", joined(function.where, ", ", [this](const ast::WhereItem& item) {
                         if (!item.derived) return expression(*item.expression);
                         return fmt::format("{} = {}", item.derived->text, expression(*item.expression));
                       }));
  }

  std::string signature(const ast::Function& function) const {
    const std::string parameters =
        joined(function.parameters, ", ", [this](const ast::Parameter& item) { return parameter(item); });
    const std::string constraints = where(function);
    return fmt::format("{}({}){}{}{}", head(function), parameters, results(function),
                       constraints.empty() ? "" : " ", constraints);
  }

  std::string targets(const ast::Definition& definition) const {
    return joined(definition.targets, ", ", [this](const ast::Target& item) { return target(item); });
  }

  Document value(const ast::Definition& definition) const { return print_value(*definition.value, style_); }

  std::string definition(const ast::Definition& definition) const {
    return fmt::format("{} {} {}", targets(definition), spelling(definition.assignment),
                       value(definition).flat());
  }

 private:
  std::string expressions(const std::vector<ast::ExpressionPointer>& items) const {
    return joined(items, ", ", [this](const auto& item) { return expression(*item); });
  }

  std::string shape(const std::vector<ast::ExpressionPointer>& shape) const {
    return shape.empty() ? "" : fmt::format("[{}]", expressions(shape));
  }

  std::string target_index(const ast::TargetIndex& index) const {
    if (!index.bounds) return expression(*index.expression);
    return fmt::format("{} in {}", expression(*index.expression), print_bounds(*index.bounds, style_).flat());
  }

  std::string target(const ast::Target& target) const {
    std::string text = target.name.text;
    if (!target.indices.empty())
      text += fmt::format(
          "[{}]", joined(target.indices, ", ", [this](const auto& item) { return target_index(item); }));
    if (target.type) text += fmt::format(": {}", target.type->text);
    return text;
  }

  PrintStyle style_;
};

/// `  # comment`, or nothing.
std::string trailing(const std::vector<ast::Comment>& comments) {
  return comments.empty()
             ? ""
             : "  " + joined(comments, " ", [](const ast::Comment& comment) { return comment.text; });
}

/// Lays modules out in lines.
class Formatter {
 public:
  std::string run(const ast::Module& module) {
    bool previous_on_one_line = true;
    for (const ast::Function& function : module.functions) {
      const std::string text = one_line(function);
      const bool on_one_line = !text.empty();
      const bool blank = function.trivia.leading.empty() ? function.trivia.blank_line_before
                                                         : function.trivia.leading.front().blank_line_before;
      if (!out_.empty() && (blank || !on_one_line || !previous_on_one_line)) out_ += "\n";
      print_leading(function.trivia, "");
      for (const ast::Attribute& attribute : function.attributes) out_ += parts_.attribute(attribute) + "\n";
      if (on_one_line)
        out_ += text + trailing(function.trivia.trailing) + "\n";
      else
        print_function(function);
      previous_on_one_line = on_one_line;
    }
    print_comments(module.end, "", !out_.empty());
    return std::move(out_);
  }

 private:
  /// The function on one line, if it was written so, fits, and holds no comment; else "".
  std::string one_line(const ast::Function& function) const {
    if (!function.on_one_line || !function.after_open_brace.empty() || !function.body_end.empty()) return "";
    if (has_parameter_comments(function)) return "";
    for (const ast::Definition& definition : function.body)
      if (!definition.trivia.leading.empty() || !definition.trivia.trailing.empty()) return "";
    const std::string body =
        joined(function.body, "; ", [this](const ast::Definition& item) { return parts_.definition(item); });
    const std::string text =
        fmt::format("{} {{{}}}", parts_.signature(function), body.empty() ? body : fmt::format(" {} ", body));
    return text.size() <= line_width ? text : "";
  }

  static bool has_parameter_comments(const ast::Function& function) {
    return !function.parameters_end.empty() ||
           std::any_of(function.parameters.begin(), function.parameters.end(),
                       [](const ast::Parameter& parameter) {
                         return !parameter.trivia.leading.empty() || !parameter.trivia.trailing.empty();
                       });
  }

  void print_comments(const std::vector<ast::Comment>& comments, const std::string& indentation,
                      bool blank_first) {
    for (const ast::Comment& comment : comments) {
      const bool first = &comment == &comments.front();
      if (comment.blank_line_before && (blank_first || !first)) out_ += "\n";
      out_ += indentation + comment.text + "\n";
    }
  }

  void print_leading(const ast::Trivia& trivia, const std::string& indentation) {
    print_comments(trivia.leading, indentation, false);
    if (!trivia.leading.empty() && trivia.blank_line_before) out_ += "\n";
  }

  void print_function(const ast::Function& function) {
    const std::string flat = parts_.signature(function);
    if (flat.size() + 2 <= line_width && !has_parameter_comments(function))
      out_ += flat;
    else
      print_signature_in_lines(function);
    out_ += " {" + trailing(function.after_open_brace) + "\n";
    for (auto first = function.body.begin(); first != function.body.end();) {
      auto last = std::next(first);
      while (last != function.body.end() && !last->trivia.blank_line_before && last->trivia.leading.empty())
        ++last;
      print_run({first, last}, first == function.body.begin());
      first = last;
    }
    print_comments(function.body_end, "  ", !function.body.empty());
    out_ += fmt::format("}}{}\n", trailing(function.trivia.trailing));
  }

  void print_signature_in_lines(const ast::Function& function) {
    out_ += parts_.head(function) + "(\n";
    for (const ast::Parameter& parameter : function.parameters) {
      const bool last = &parameter == &function.parameters.back();
      print_comments(parameter.trivia.leading, "  ", false);
      out_ +=
          "  " + parts_.parameter(parameter) + (last ? "" : ",") + trailing(parameter.trivia.trailing) + "\n";
    }
    print_comments(function.parameters_end, "  ", false);
    const std::string results = fmt::format("){}", parts_.results(function)), where = parts_.where(function);
    const bool fits = results.size() + where.size() + 3 <= line_width;
    out_ += results + (where.empty() ? "" : fits ? " " : "\n  ") + where;
  }

  using Run =
      std::pair<std::vector<ast::Definition>::const_iterator, std::vector<ast::Definition>::const_iterator>;

  /// Definitions on neighbouring lines, their `=` in one column and the comments after them in another.
  void print_run(Run run, bool first_in_body) {
    const ast::Trivia& trivia = run.first->trivia;
    const bool blank =
        trivia.leading.empty() ? trivia.blank_line_before : trivia.leading.front().blank_line_before;
    if (blank && !first_in_body) out_ += "\n";
    print_leading(trivia, "  ");
    std::size_t widest = 0, narrowest = line_width;
    const auto width_of = [&](const ast::Definition& definition) {
      return parts_.targets(definition).size() + std::string_view(spelling(definition.assignment)).size();
    };
    for (auto item = run.first; item != run.second; ++item) {
      widest = std::max(widest, width_of(*item));
      narrowest = std::min(narrowest, width_of(*item));
    }
    const bool aligned = widest - narrowest <= widest_alignment && widest <= line_width / 2;
    std::vector<std::string> lines;
    std::size_t comment_column = 0;
    for (auto item = run.first; item != run.second; ++item) {
      const std::size_t padding = aligned ? widest - width_of(*item) : 0;
      std::string line =
          "  " + parts_.targets(*item) + std::string(padding + 1, ' ') + spelling(item->assignment) + " ";
      line += parts_.value(*item).lay_out(line_width, line.size(), line.size());
      if (!item->trivia.trailing.empty() && line.find('\n') == std::string::npos)
        comment_column = std::max(comment_column, line.size());
      lines.push_back(std::move(line));
    }
    for (auto item = run.first; item != run.second; ++item) {
      std::string& line = lines[static_cast<std::size_t>(item - run.first)];
      const bool one_line = line.find('\n') == std::string::npos;
      if (!item->trivia.trailing.empty() && one_line) line.resize(std::max(line.size(), comment_column), ' ');
      out_ += line + trailing(item->trivia.trailing) + "\n";
    }
  }

  PartPrinter parts_{PrintStyle::formatted};
  std::string out_;
};

}  // namespace

std::string format(const ast::Module& module) { return Formatter().run(module); }

std::string canonical_text(const ast::Function& function) {
  const PartPrinter parts(PrintStyle::canonical);
  std::string text;
  for (const ast::Attribute& attribute : function.attributes) text += parts.attribute(attribute) + "\n";
  text += parts.signature(function) + " {\n";
  for (const ast::Definition& definition : function.body) text += "  " + parts.definition(definition) + "\n";
  return text + "}\n";
}

std::string expression_text(const ast::Expression& expression) {
  return print_value(expression, PrintStyle::formatted).flat();
}

}  // namespace einkern::dsl
