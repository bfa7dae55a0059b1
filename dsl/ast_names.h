// Names in syntax trees.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/ast.h"

namespace einkern::dsl {

/// The names that stand for values from outside the expression, each occurrence, in source order: tensors,
/// scalars, dims and index variables, but no callees, and no variables of reductions inside it.
std::vector<ast::Identifier> free_names(const ast::Expression& expression);

/// The two names of a constraint `A == B`.
std::optional<std::pair<std::string, std::string>> equated_names(const ast::WhereItem& item);

}  // namespace einkern::dsl
