// Gives every comment of a source to the item of the syntax tree that it stands with.
#pragma once

#include <vector>

#include "dsl/ast.h"

namespace einkern::dsl {

/// Fills in the trivia, blank lines and documentation of a module. A comment inside an item, where the tree
/// has no place for it, goes above that item; none is lost.
void attach_comments(const SourceFile& file, std::vector<ast::Comment> comments, ast::Module& module);

}  // namespace einkern::dsl
