// Ranges of index variables: said outright, or found from the reads in which the variable stands alone.
#include "dsl/checker.h"
#include "dsl/expression_text.h"
#include "dsl/printer.h"

namespace einkern::dsl {

std::string Checker::text_of(ExpressionId id) const { return expression_text(function_, id); }

/// The shape of what is indexed: a tensor's, or that of the only result of a call.
std::optional<std::vector<ExpressionId>> Checker::shape_of(const ast::Expression& base) {
  if (const auto* name = base.as<ast::Name>()) {
    const Symbol* symbol = find(name->text);
    const auto* tensor = symbol ? std::get_if<TensorSymbol>(&symbol->meaning) : nullptr;
    if (tensor && (tensor->defined || tensor->is_result)) return tensor->shape;
    return std::nullopt;
  }
  return std::nullopt;  // a call's result takes part through the explicit range or another read
}

void Checker::collect_ranges(const ast::Expression& expression, const std::string& variable,
                             std::vector<RangeCandidate>& found) {
  if (const auto* guarded = expression.as<ast::Else>()) {
    // The guarded read itself gives no range; reads inside its subscripts do.
    for (const ast::Subscript& subscript : guarded->guarded->as<ast::Index>()->subscripts)
      if (subscript.expression) collect_ranges(*subscript.expression, variable, found);
    collect_ranges(*guarded->otherwise, variable, found);
    return;
  }
  if (const auto* reduction = expression.as<ast::Reduction>()) {
    bool shadowed = false;
    for (const ast::ReductionVariable& inner : reduction->variables) {
      shadowed |= inner.name.text == variable;
      if (!inner.bounds) continue;
      collect_ranges(*inner.bounds->begin, variable, found);
      collect_ranges(*inner.bounds->end, variable, found);
    }
    if (!shadowed) collect_ranges(*reduction->body, variable, found);
    if (reduction->nth) collect_ranges(*reduction->nth, variable, found);
    return;
  }
  if (const auto* index = expression.as<ast::Index>()) {
    const auto shape = shape_of(*index->base);
    for (std::size_t i = 0; i < index->subscripts.size(); ++i) {
      const ast::Subscript& subscript = index->subscripts[i];
      if (!subscript.expression) continue;
      const auto* name = subscript.expression->as<ast::Name>();
      if (name && name->text == variable && shape && i < shape->size())
        found.push_back({(*shape)[i], subscript.range});
      else
        collect_ranges(*subscript.expression, variable, found);
    }
    if (index->base->as<ast::Call>()) collect_ranges(*index->base, variable, found);
    return;
  }
  for (const ast::Expression* child : ast::children(expression)) collect_ranges(*child, variable, found);
}

std::optional<ExpressionId> Checker::infer_extent(const ast::Identifier& variable,
                                                  std::vector<RangeCandidate> candidates, SourceRange range) {
  if (candidates.empty()) {
    error(range, "nothing gives `" + variable.text + "` a range: it stands alone in no unguarded read")
        .insert_after(variable.range, " in 0..N")
        .note(variable.range, "say the range, as in `" + variable.text + " in 0..N`");
    return std::nullopt;
  }
  for (const RangeCandidate& other : candidates) {
    if (other.extent == candidates[0].extent) continue;
    error(range, "`" + variable.text + "` runs over two different dims, " + text_of(candidates[0].extent) +
                     " and " + text_of(other.extent))
        .note(candidates[0].where, "here it runs over " + text_of(candidates[0].extent))
        .note(other.where, "here over " + text_of(other.extent) + "; say which with `" + variable.text +
                               " in 0..…`, or state `where` they are equal");
    return std::nullopt;
  }
  return candidates[0].extent;
}

bool Checker::variable_name_is_free(const ast::Identifier& name) {
  const auto it = frame().symbols.find(name.text);
  if (it == frame().symbols.end()) return true;
  error(name.range,
        "an index variable may not be called `" + name.text + "`: that is a tensor, scalar or dim")
      .note(it->second.where, "`" + name.text + "` is declared here");
  return false;
}

std::optional<AxisId> Checker::make_axis(const ast::Identifier& name,
                                         const std::optional<ast::Bounds>& bounds,
                                         const std::vector<RangeCandidate>& candidates) {
  if (!variable_name_is_free(name)) return std::nullopt;
  if (bounds) {
    const Value low = rules_.index(check_value(*bounds->begin), bounds->begin->range);
    const Value high = rules_.index(check_value(*bounds->end), bounds->end->range);
    if (low.failed() || high.failed()) return std::nullopt;
    return arena().add_axis(name.text, low.id, high.id);
  }
  const auto extent = infer_extent(name, candidates, name.range);
  if (!extent) return std::nullopt;
  return arena().add_axis(name.text, arena().constant_integer(DType::i64, 0), *extent);
}

}  // namespace einkern::dsl
