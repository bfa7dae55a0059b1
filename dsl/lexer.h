// From bytes to tokens.
#pragma once

#include <vector>

#include "dsl/ast.h"
#include "dsl/diagnostic.h"
#include "dsl/token.h"

namespace einkern::dsl {

struct LexedSource {
  std::vector<Token> tokens;  ///< the last one is end_of_file
  std::vector<ast::Comment> comments;
};

/// Splits one file into tokens. Text that is no token is reported and left out, or taken for what was meant
/// (`&&` for `and`). A source that is too large gives an error and no tokens.
LexedSource lex(const SourceSet& sources, std::uint32_t file, DiagnosticBag& diagnostics);

}  // namespace einkern::dsl
