// Expressions as text, with the fewest parentheses that keep their meaning.
#pragma once

#include <string>

#include "dsl/ast.h"
#include "dsl/document.h"

namespace einkern::dsl {

/// `formatted` keeps the parentheses that silence a warning only where they stood; `canonical` text does not
/// depend on them.
enum class PrintStyle { formatted, canonical };

/// Where `else` may stand: a whole right side or a whole argument.
Document print_value(const ast::Expression& expression, PrintStyle style);
/// Anywhere else.
Document print_expression(const ast::Expression& expression, PrintStyle style);
/// `a..b`.
Document print_bounds(const ast::Bounds& bounds, PrintStyle style);

}  // namespace einkern::dsl
