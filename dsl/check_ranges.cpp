// The part of FunctionChecker that finds what an index variable runs over, from the reads it stands in.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/check.h"

namespace einkern::dsl {

void FunctionChecker::collect_ranges(const ast::Expression& expression, std::string_view variable,
                                     bool in_bounds, Ranges& ranges) {
  if (expression.as<ast::Else>()) return;  // a guarded read may go past its tensor, so it says nothing
  if (const auto* reduction = expression.as<ast::Reduction>())
    return collect_reduction_ranges(*reduction, variable, in_bounds, ranges);
  if (const auto* index = expression.as<ast::Index>())
    collect_read_ranges(*index, variable, in_bounds, ranges);
  for (const ast::Expression* child : ast::children(expression))
    collect_ranges(*child, variable, in_bounds, ranges);
}

void FunctionChecker::collect_reduction_ranges(const ast::Reduction& reduction, std::string_view variable,
                                               bool in_bounds, Ranges& ranges) {
  bool shadowed = false;
  for (const ast::ReductionVariable& inner : reduction.variables) {
    if (inner.bounds && !shadowed) {
      collect_ranges(*inner.bounds->begin, variable, true, ranges);
      collect_ranges(*inner.bounds->end, variable, true, ranges);
    }
    shadowed = shadowed || inner.name.text == variable;
  }
  if (reduction.nth) collect_ranges(*reduction.nth, variable, in_bounds, ranges);
  if (!shadowed) collect_ranges(*reduction.body, variable, in_bounds, ranges);
}

void FunctionChecker::collect_read_ranges(const ast::Index& index, std::string_view variable, bool in_bounds,
                                          Ranges& ranges) {
  const auto alone = [&](const ast::Subscript& subscript) {
    const auto* name = subscript.expression ? subscript.expression->as<ast::Name>() : nullptr;
    return name && name->text == variable;
  };
  bool stands_alone = false;
  for (const ast::Subscript& subscript : index.subscripts) stands_alone = stands_alone || alone(subscript);
  if (!stands_alone) return;
  const auto shape = shape_of_read(*index.base, ranges.incomplete);
  if (!shape || shape->size() != index.subscripts.size()) return;
  const auto* call = index.base->as<ast::Call>();
  const std::string& name = call ? call->callee.text : index.base->as<ast::Name>()->text;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if (!alone(index.subscripts[i])) continue;
    auto& evidence = in_bounds ? ranges.bounds : ranges.reads;
    evidence.push_back(
        {(*shape)[i], index.subscripts[i].range, fmt::format("dimension {} of `{}`", i, name)});
  }
}

/// The shape of what is indexed; nothing where that is no tensor, `failed` where it had an error.
std::optional<std::vector<ExpressionId>> FunctionChecker::shape_of_read(const ast::Expression& base,
                                                                        bool& failed) {
  if (const auto* call = base.as<ast::Call>()) {
    if (!table_.find(call->callee.text)) return std::nullopt;
    auto shape = result_shape(*call);
    failed = failed || !shape;
    return shape;
  }
  const Symbol* symbol = frame().find(base.as<ast::Name>()->text);
  if (!symbol || symbol->kind != Symbol::Kind::tensor) {
    failed = true;  // the read itself has its error
    return std::nullopt;
  }
  failed = failed || symbol->failed || !symbol->defined;
  if (symbol->failed || (!symbol->defined && !symbol->declared)) return std::nullopt;
  return symbol->view.shape;
}

/// The one extent that declaration and reads agree on; nothing after an error, or if its want has had one.
std::optional<ExpressionId> FunctionChecker::decide_range(const ast::Identifier& variable,
                                                          const Ranges& ranges, const Evidence* declared) {
  const std::vector<Evidence>& all = ranges.reads;
  const Evidence* chosen = declared;
  for (const Evidence& evidence : all) {
    if (!chosen) chosen = &evidence;
    if (sizes_.equal(chosen->extent, evidence.extent)) continue;
    const auto text = [&](const Evidence& item) {
      return fmt::format("{} ({})", sizes_.text(sizes_.linear_form(item.extent)), item.what);
    };
    error(variable.range,
          fmt::format("`{}` runs over two different dims: {} and {}; say which with `{} in 0..{}`",
                      variable.text, text(*chosen), text(evidence), variable.text,
                      sizes_.text(sizes_.linear_form(chosen->extent))))
        .note(chosen->where, fmt::format("{} here", sizes_.text(sizes_.linear_form(chosen->extent))))
        .note(evidence.where, fmt::format("{} here", sizes_.text(sizes_.linear_form(evidence.extent))));
    return std::nullopt;
  }
  if (!chosen && !ranges.bounds.empty()) chosen = &ranges.bounds.front();
  if (chosen) return chosen->extent;
  if (ranges.incomplete) return std::nullopt;
  const auto proposed = std::find_if(function_.dims.begin(), function_.dims.end(),
                                     [](const Dim& dim) { return dim.source == DimSource::shape; });
  const std::string dim = proposed == function_.dims.end() ? "N" : proposed->name;
  error(variable.range,
        fmt::format("nothing says what `{0}` runs over: it stands alone in no unguarded read; write "
                    "`{0} in 0..{1}` with the size it has",
                    variable.text, dim));
  return std::nullopt;
}

}  // namespace einkern::dsl
