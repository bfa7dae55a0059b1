// What the tests of lexer, parser and printer share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsl/ast.h"
#include "dsl/diagnostic.h"
#include "dsl/parser.h"

namespace einkern::dsl::testing {

/// A source with what the parser made of it.
struct Parsed {
  SourceSet sources;
  DiagnosticBag diagnostics;
  std::vector<ast::Module> modules;

  const ast::Module& module() const { return modules.front(); }
  std::string text() const { return render_text(sources, diagnostics); }
  /// The messages alone, a line each, "warning: " before those.
  std::string messages() const;
};

std::unique_ptr<Parsed> parse_text(const std::string& text);
/// Parses `y[i] = <expression>` in a function of its own.
std::unique_ptr<Parsed> parse_expression(const std::string& expression);
/// The right side of the only definition of parse_expression, as dump() shows it, or the messages if there
/// are any.
std::string tree_of(const std::string& expression);

/// The tree with all its parentheses: "(+ a (* b c))".
std::string dump(const ast::Expression& expression);

/// The source after the fix of its first diagnostic that has one.
std::string apply_first_fix(const Parsed& parsed);

/// Text of a file under tests/.
std::string read_test_file(const std::string& path);

}  // namespace einkern::dsl::testing
