// From the syntax tree back to text: the formatter of `einkern fmt`, and canonical text.
#pragma once

#include <string>

#include "dsl/ast.h"

namespace einkern::dsl {

/// The module as `einkern fmt` writes it: comments and single blank lines kept, fewest parentheses, `=` of
/// neighbouring definitions aligned, long lines broken. Formatting what it gives changes nothing more.
std::string format(const ast::Module& module);

/// One function without comments, a definition a line: equal functions have equal text, and it parses back.
std::string canonical_text(const ast::Function& function);

/// An expression on one line, as a message quotes it.
std::string expression_text(const ast::Expression& expression);

}  // namespace einkern::dsl
