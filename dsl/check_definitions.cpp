// Definitions, whole-tensor definitions, updates and recurrences.
#include <algorithm>

#include "core/dtype.h"
#include "dsl/checker.h"
#include "dsl/printer.h"

namespace einkern::dsl {

void Checker::check_body(const ast::Function& function) {
  for (const ast::Definition& definition : function.body) {
    if (bag_->full()) return;
    check_definition(definition);
  }
  for (const ast::ResultDeclaration& result : function.results) {
    const Symbol* symbol = find(result.name.text);
    if (symbol && !std::get<TensorSymbol>(symbol->meaning).defined && bag_->error_count() == 0)
      error(result.name.range, "the result `" + result.name.text + "` is never defined");
  }
  for (const ast::Definition& definition : function.body)
    for (const ast::Target& target : definition.targets) {
      const Symbol* symbol = find(target.name.text);
      const auto* tensor = symbol ? std::get_if<TensorSymbol>(&symbol->meaning) : nullptr;
      if (tensor && !symbol->used && !tensor->is_result && !tensor->is_inout && call_stack_.size() == 1)
        bag_->warning(target.name.range, "`" + target.name.text + "` is defined and never read");
    }
}

void Checker::check_definition(const ast::Definition& definition) {
  const ast::Target& target = definition.targets.front();
  const auto* call = definition.value->as<ast::Call>();
  const bool user_call = call && functions_.contains(call->callee.text);
  const bool scalar_call = user_call && is_scalar_function(*functions_.find(call->callee.text)->second);
  if (definition.targets.size() > 1 || (target.indices.empty() && user_call && !scalar_call)) {
    check_whole_tensor(definition);
  } else if (is_update(definition, target)) {
    const Symbol* symbol = find(target.name.text);
    const auto* tensor = symbol ? std::get_if<TensorSymbol>(&symbol->meaning) : nullptr;
    if (!tensor || !tensor->defined) {
      error(target.name.range, "`" + target.name.text +
                                   "` is updated before it is defined: define it above, as in `" +
                                   target.name.text + "[i] = 0`, or declare it `inout`");
      return;
    }
    check_update(definition, target, *tensor);
  } else {
    check_element_definition(definition, target);
  }
}

bool Checker::is_update(const ast::Definition& definition, const ast::Target& target) {
  if (definition.assignment != ast::Assignment::define) return true;
  const Symbol* symbol = find(target.name.text);
  const auto* tensor = symbol ? std::get_if<TensorSymbol>(&symbol->meaning) : nullptr;
  if (!tensor) return false;
  if (tensor->is_inout) return true;
  if (!tensor->defined) return false;
  // `=` on a defined tensor updates only where it is scattered: y[t[n]] = …; otherwise it is defined twice.
  return std::any_of(target.indices.begin(), target.indices.end(), [](const ast::TargetIndex& index) {
    return !index.bounds && !index.expression->as<ast::Name>();
  });
}

void Checker::require_equal(ExpressionId a, ExpressionId b, std::string text) {
  if (a == b) return;
  function_.constraints.push_back(arena().apply(Op::equal, DType::boolean, {a, b}));
  function_.constraint_texts.push_back(std::move(text));
}

TensorSymbol* Checker::add_target(const ast::Target& target, DType dtype, std::vector<ExpressionId> shape) {
  Symbol* existing = find(target.name.text);
  if (existing) {
    auto* tensor = std::get_if<TensorSymbol>(&existing->meaning);
    if (!tensor || tensor->defined || !tensor->is_result) {
      error(target.name.range, tensor && tensor->defined
                                   ? "`" + target.name.text + "` is defined twice"
                                   : "`" + target.name.text + "` is not a tensor to be defined")
          .note(existing->where, "first declared here");
      return nullptr;
    }
    if (tensor->shape.size() != shape.size()) {
      error(target.range, "`" + target.name.text + "` has " + std::to_string(tensor->shape.size()) +
                              " dimensions, not " + std::to_string(shape.size()))
          .note(existing->where, "declared here");
      return nullptr;
    }
    for (std::size_t i = 0; i < shape.size(); ++i)
      require_equal(tensor->shape[i], shape[i],
                    target.name.text + "'s dimension " + std::to_string(i) + ": " +
                        text_of(tensor->shape[i]) + " == " + text_of(shape[i]));
    tensor->defined = true;
    return tensor;
  }
  // A local. An inlined call's locals get its name in front, and the caller's variables as leading
  // dimensions.
  std::vector<ExpressionId> whole;
  for (AxisId axis : frame().context) whole.push_back(arena()[axis].high);
  whole.insert(whole.end(), shape.begin(), shape.end());
  std::string name = frame().prefix + target.name.text;
  for (int i = 2; !tensor_names_.insert(name).second; ++i)
    name = frame().prefix + target.name.text + "_" + std::to_string(i);
  const TensorId id{static_cast<std::int32_t>(function_.tensors.size())};
  function_.tensors.push_back({name, dtype, whole, TensorRole::local, target.name.range});
  TensorSymbol symbol{.dtype = dtype, .shape = std::move(shape), .tensor = id, .defined = true};
  for (AxisId axis : frame().context) symbol.fixed.push_back(arena().axis(axis));
  if (!frame().context.empty()) symbol.fixed.resize(whole.size());
  const auto [it, inserted] =
      frame().symbols.emplace(target.name.text, Symbol{std::move(symbol), target.name.range});
  return &std::get<TensorSymbol>(it->second.meaning);
}

void Checker::check_whole_tensor(const ast::Definition& definition) {
  const auto* call = definition.value->as<ast::Call>();
  if (!call || !functions_.contains(call->callee.text)) {
    error(definition.range,
          "several tensors are defined at once only by a call of a function with several results");
    return;
  }
  const auto results = inline_call(*call, definition.value->range);
  if (!results) return;
  if (results->size() != definition.targets.size()) {
    error(definition.range, "`" + call->callee.text + "` gives " + std::to_string(results->size()) +
                                " results, but " + std::to_string(definition.targets.size()) +
                                " names stand on the left");
    return;
  }
  for (std::size_t r = 0; r < results->size(); ++r) {
    const ast::Target& target = definition.targets[r];
    const TensorSymbol& source = (*results)[r];
    if (!target.indices.empty()) {
      error(target.range, "a whole tensor is defined by its name alone: `" + target.name.text + " = " +
                              call->callee.text + "(…)`");
      continue;
    }
    std::vector<AxisId> axes;
    std::vector<ExpressionId> indices;
    for (ExpressionId extent : source.shape) {
      axes.push_back(arena().add_axis("i" + std::to_string(axes.size()),
                                      arena().constant_integer(DType::i64, 0), extent));
      indices.push_back(arena().axis(axes.back()));
    }
    const Value value = read_element(source, indices, std::nullopt, target.range, target.name.text);
    const auto declared = target.type ? resolve_type(*target.type) : std::optional<DType>(source.dtype);
    if (!declared) continue;
    TensorSymbol* symbol = add_target(target, *declared, source.shape);
    if (!symbol) continue;
    const Value stored = rules_.store(value, symbol->dtype, target.range);
    if (stored.failed()) continue;
    std::vector<AxisId> all = frame().context;
    all.insert(all.end(), axes.begin(), axes.end());
    function_.definitions.push_back(
        {.target = symbol->tensor, .axes = std::move(all), .value = stored.id, .where = target.range});
  }
}

std::optional<std::vector<AxisId>> Checker::target_axes(const ast::Definition& definition,
                                                        const ast::Target& target,
                                                        const TensorSymbol* declared) {
  if (declared && declared->shape.size() != target.indices.size()) {
    error(target.range, "`" + target.name.text + "` is declared with " +
                            std::to_string(declared->shape.size()) + " dimensions, but " +
                            std::to_string(target.indices.size()) + " stand here");
    return std::nullopt;
  }
  std::vector<AxisId> axes;
  std::set<std::string> names;
  for (std::size_t i = 0; i < target.indices.size(); ++i) {
    const ast::TargetIndex& index = target.indices[i];
    const auto* name = index.expression->as<ast::Name>();
    if (!name) {
      error(index.expression->range, "the left side of a definition holds bare variables only, as in `" +
                                         target.name.text +
                                         "[i, j]`; an update (`+=`, `max=`, `min=`) may compute its indices");
      return std::nullopt;
    }
    if (!names.insert(name->text).second) {
      error(index.expression->range, "`" + name->text + "` stands twice on the left side");
      return std::nullopt;
    }
    std::vector<RangeCandidate> candidates;
    if (declared) candidates.push_back({declared->shape[i], index.expression->range});
    if (!index.bounds) collect_ranges(*definition.value, name->text, candidates);
    const auto axis = make_axis({name->text, index.expression->range}, index.bounds, candidates);
    if (!axis) return std::nullopt;
    if (constant_value(arena(), arena()[*axis].low) != 0) {
      error(index.bounds->begin->range, "the range of a left-side variable begins at 0");
      return std::nullopt;
    }
    for (ExpressionId bound : {arena()[*axis].high})
      visit_nodes(arena(), bound, [&](ExpressionId id) {
        const Op op = arena()[id].op;
        if (op == Op::read || op == Op::scalar || op == Op::axis || op == Op::reduce)
          error(index.bounds ? index.bounds->range : target.range,
                "the extent of a tensor may depend on dims only");
      });
    axes.push_back(*axis);
  }
  return axes;
}

void Checker::check_element_definition(const ast::Definition& definition, const ast::Target& target) {
  Symbol* existing = find(target.name.text);
  const auto* declared = existing ? std::get_if<TensorSymbol>(&existing->meaning) : nullptr;
  if (existing && (!declared || declared->defined || !declared->is_result)) {
    error(target.name.range, "`" + target.name.text + "` is defined twice")
        .note(existing->where, "first declared here");
    return;
  }
  const int errors_before = bag_->error_count();
  const auto axes = target_axes(definition, target, declared);
  if (!axes || bag_->error_count() != errors_before) {
    // The name is known from here on, so that reading it is no second error.
    if (!existing)
      frame().symbols.emplace(target.name.text, Symbol{TensorSymbol{.defined = true}, target.name.range});
    return;
  }
  std::vector<ExpressionId> shape;
  for (AxisId axis : *axes) shape.push_back(arena()[axis].high);
  std::optional<DType> type;
  if (target.type) {
    type = resolve_type(*target.type);
    if (!type) return;
  }
  for (std::size_t i = 0; i < axes->size(); ++i)
    frame().variables.emplace_back(arena()[(*axes)[i]].name, (*axes)[i]);
  define(target, *axes, shape, type, *definition.value);
  frame().variables.resize(frame().variables.size() - axes->size());
}

namespace {

/// Whether an expression reads the tensor `name` itself.
bool mentions(const ast::Expression& expression, std::string_view name) {
  if (const auto* found = expression.as<ast::Name>()) return found->text == name;
  const auto children = ast::children(expression);
  return std::any_of(children.begin(), children.end(),
                     [&](const ast::Expression* child) { return mentions(*child, name); });
}

}  // namespace

void Checker::define(const ast::Target& target, const std::vector<AxisId>& axes,
                     const std::vector<ExpressionId>& shape, std::optional<DType> declared_type,
                     const ast::Expression& expression) {
  const Symbol* existing = find(target.name.text);
  if (existing) declared_type = std::get<TensorSymbol>(existing->meaning).dtype;
  std::vector<AxisId> all = frame().context;
  all.insert(all.end(), axes.begin(), axes.end());
  const bool recurs = mentions(expression, target.name.text);
  if (frame().by_formula) {
    if (recurs) {
      error(target.range,
            "a recurrence cannot be called with arguments that depend on a reduction's variable");
      return;
    }
    Value value = rules_.settle(check_value(expression), expression.range);
    if (declared_type) value = rules_.store(value, *declared_type, expression.range);
    if (value.failed()) return;
    const ExpressionId rounded =
        declared_type && core::is_storage(*declared_type) ? arena().cast(*declared_type, value.id) : value.id;
    TensorSymbol symbol{.dtype = declared_type.value_or(value.type),
                        .shape = shape,
                        .axes = axes,
                        .formula = rounded,
                        .defined = true,
                        .is_result = existing != nullptr};
    frame().symbols.insert_or_assign(target.name.text, Symbol{std::move(symbol), target.name.range});
    return;
  }
  // A recurrence reads its target while it is being defined, so the target must stand first; its type, if not
  // declared, is taken to be f32.
  TensorSymbol* symbol = recurs ? add_target(target, declared_type.value_or(DType::f32), shape) : nullptr;
  if (recurs && !symbol) return;
  Value value = check_value(expression);
  if (!declared_type && !recurs) {
    value = rules_.settle(value, expression.range);
    declared_type = value.type;
  }
  if (!recurs) symbol = add_target(target, value.failed() ? DType::f32 : *declared_type, shape);
  if (!symbol || value.failed()) return;
  const Value stored = rules_.store(value, symbol->dtype, expression.range);
  if (stored.failed()) return;
  Definition definition{.target = symbol->tensor, .axes = all, .value = stored.id, .where = target.range};
  if (recurs) {
    definition.recurrent = recurrent_position(symbol->tensor, all, stored.id, expression.range);
    if (!definition.recurrent) return;
  }
  function_.definitions.push_back(std::move(definition));
}

std::optional<int> Checker::recurrent_position(TensorId target, const std::vector<AxisId>& axes,
                                               ExpressionId value, SourceRange range) {
  std::optional<int> position;
  bool fits = true, guarded = true;
  visit_nodes(arena(), value, [&](ExpressionId id) {
    const Expression& e = arena()[id];
    if (e.op != Op::read || e.index != target.value) return;
    guarded = guarded && e.guard == Guard::alternative;
    std::set<int> moved;
    for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
      const Expression& index = arena()[e.operands[static_cast<std::size_t>(i)]];
      if (index.op != Op::subtract || index.operands[0] != arena().axis(axes[static_cast<std::size_t>(i)]))
        continue;
      const auto step = constant_value(arena(), index.operands[1]);
      if (step && *step > 0) moved.insert(i);
    }
    if (position)
      fits = fits && moved.contains(*position);
    else if (!moved.empty())
      position = *moved.begin();
    else
      fits = false;
  });
  if (fits && position && guarded) return position;
  error(range,
        guarded || !fits || !position
            ? "a definition may read itself only where one left-side position moves back by a positive "
              "literal, the "
              "same in every such read, as in `h[t - 1, d] else 0`"
            : "a read of the tensor being defined needs an `else` for the start, as in `h[t - 1] else 0`");
  return std::nullopt;
}

void Checker::check_update(const ast::Definition& definition, const ast::Target& target,
                           TensorSymbol symbol) {
  if (frame().by_formula || symbol.formula.valid()) {
    error(target.range, "an update cannot be called with arguments that depend on a reduction's variable");
    return;
  }
  if (symbol.shape.size() != target.indices.size()) {
    error(target.range, "`" + target.name.text + "` has " + std::to_string(symbol.shape.size()) +
                            " dimensions, but " + std::to_string(target.indices.size()) + " stand here");
    return;
  }
  // Its variables are the names on the left that mean nothing yet, in order.
  std::vector<std::pair<ast::Identifier, const ast::TargetIndex*>> variables;
  const std::function<void(const ast::Expression&, const ast::TargetIndex&)> collect =
      [&](const ast::Expression& e, const ast::TargetIndex& index) {
        if (const auto* name = e.as<ast::Name>(); name && !find(name->text) && !find_variable(name->text)) {
          if (std::none_of(variables.begin(), variables.end(),
                           [&](const auto& v) { return v.first.text == name->text; }))
            variables.push_back({{name->text, e.range}, &index});
        }
        for (const ast::Expression* child : ast::children(e)) collect(*child, index);
      };
  for (const ast::TargetIndex& index : target.indices) collect(*index.expression, index);
  std::vector<AxisId> axes;
  const std::optional<ast::Bounds> no_bounds;
  for (const auto& [name, index] : variables) {
    std::vector<RangeCandidate> candidates;
    for (std::size_t i = 0; i < target.indices.size(); ++i) {
      const auto* bare = target.indices[i].expression->as<ast::Name>();
      if (bare && bare->text == name.text)
        candidates.push_back({symbol.shape[i], target.indices[i].expression->range});
      else
        collect_ranges(*target.indices[i].expression, name.text, candidates);
    }
    collect_ranges(*definition.value, name.text, candidates);
    const auto* bare = index->expression->as<ast::Name>();
    const auto axis = make_axis(name, bare ? index->bounds : no_bounds, candidates);
    if (!axis) return;
    axes.push_back(*axis);
  }
  for (AxisId axis : axes) frame().variables.emplace_back(arena()[axis].name, axis);
  std::vector<ExpressionId> indices;
  bool failed = false;
  for (const ast::TargetIndex& index : target.indices) {
    const Value value = rules_.index(check_value(*index.expression), index.expression->range);
    failed |= value.failed();
    indices.push_back(value.id);
  }
  const Value value = rules_.store(check_value(*definition.value), symbol.dtype, definition.value->range);
  frame().variables.resize(frame().variables.size() - axes.size());
  if (failed || value.failed()) return;
  std::vector<ExpressionId> whole;
  for (ExpressionId fixed : symbol.fixed)
    if (fixed.valid()) whole.push_back(fixed);
  whole.insert(whole.end(), indices.begin(), indices.end());
  std::vector<AxisId> all = frame().context;
  all.insert(all.end(), axes.begin(), axes.end());
  const auto operation = definition.assignment == ast::Assignment::add       ? UpdateOperator::add
                         : definition.assignment == ast::Assignment::maximum ? UpdateOperator::maximum
                         : definition.assignment == ast::Assignment::minimum ? UpdateOperator::minimum
                                                                             : UpdateOperator::assign;
  function_.definitions.push_back({.target = symbol.tensor,
                                   .axes = std::move(all),
                                   .value = value.id,
                                   .update = operation,
                                   .indices = std::move(whole),
                                   .where = target.range});
}

}  // namespace einkern::dsl
