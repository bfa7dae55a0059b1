#include "dsl/ast_names.h"

#include <algorithm>

namespace einkern::dsl {
namespace {

void collect(const ast::Expression& expression, std::vector<std::string_view>& bound,
             std::vector<ast::Identifier>& names) {
  if (const auto* name = expression.as<ast::Name>()) {
    if (std::find(bound.begin(), bound.end(), name->text) == bound.end())
      names.push_back({name->text, expression.range});
    return;
  }
  const auto* reduction = expression.as<ast::Reduction>();
  const std::size_t outer = bound.size();
  for (const ast::Expression* child : ast::children(expression)) {
    const bool inside = reduction && child == reduction->body.get();
    if (inside)
      for (const ast::ReductionVariable& variable : reduction->variables) bound.push_back(variable.name.text);
    collect(*child, bound, names);
    bound.resize(outer);
  }
}

}  // namespace

std::vector<ast::Identifier> free_names(const ast::Expression& expression) {
  std::vector<std::string_view> bound;
  std::vector<ast::Identifier> names;
  collect(expression, bound, names);
  return names;
}

std::optional<std::pair<std::string, std::string>> equated_names(const ast::WhereItem& item) {
  const auto* comparison = item.expression->as<ast::Comparison>();
  const bool equation = comparison && comparison->comparators == std::vector{ast::Comparator::equal};
  if (item.derived || !equation) return std::nullopt;
  const auto* left = comparison->operands[0]->as<ast::Name>();
  const auto* right = comparison->operands[1]->as<ast::Name>();
  if (!left || !right) return std::nullopt;
  return std::pair(left->text, right->text);
}

}  // namespace einkern::dsl
