// From source text to the syntax tree.
#pragma once

#include <vector>

#include "dsl/ast.h"
#include "dsl/diagnostic.h"

namespace einkern::dsl {

/// Parses every source of the set, one Module each. Errors go to the bag; the modules then hold what could be
/// read, and every expression in them is complete. Whatever the bytes, it returns.
std::vector<ast::Module> parse(const SourceSet& sources, DiagnosticBag& diagnostics);

}  // namespace einkern::dsl
