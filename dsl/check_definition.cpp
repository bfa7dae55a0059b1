// The part of FunctionChecker that checks the body: definitions of tensors, and recurrences.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dsl/check.h"
#include "dsl/limits.h"

namespace einkern::dsl {
namespace {

const ast::Name* bare_name(const ast::TargetIndex& index) { return index.expression->as<ast::Name>(); }

bool only_bare_names(const ast::Target& target) {
  return std::all_of(target.indices.begin(), target.indices.end(),
                     [](const auto& index) { return bare_name(index); });
}

bool mentions(const ast::Expression& expression, std::string_view name) {
  const auto* own = expression.as<ast::Name>();
  if (own && own->text == name) return true;
  const auto parts = ast::children(expression);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const ast::Expression* part) { return mentions(*part, name); });
}

}  // namespace

void FunctionChecker::check_body(const ast::Function& source) {
  for (const ast::Definition& definition : source.body)
    for (const ast::Target& target : definition.targets)
      frame().targets.emplace(target.name.text, target.name.range);
  for (const ast::Definition& definition : source.body) {
    if (diagnostics_->full()) return;
    check_definition(definition);
  }
}

void FunctionChecker::check_definition(const ast::Definition& definition) {
  if (is_whole_definition(definition)) return define_whole(definition);
  if (definition.targets.size() > 1) {
    error(definition.operator_range,
          "several tensors are defined together only by a call of a function with several results");
    for (const ast::Target& target : definition.targets) fail_target(target);
    return;
  }
  const ast::Target& target = definition.targets.front();
  Symbol* symbol = frame().find(target.name.text);
  if (symbol && (symbol->kind != Symbol::Kind::tensor || symbol->input))
    return refuse_target(definition, target, *symbol);
  if (symbol && symbol->failed) return;
  const bool again = symbol && symbol->defined && !symbol->inout;
  const bool plain = definition.assignment == ast::Assignment::define && only_bare_names(target);
  if (again && plain) return refuse_target(definition, target, *symbol);
  if (symbol && symbol->defined) return update(definition, target, *symbol);
  if (definition.assignment != ast::Assignment::define) {
    error(definition.operator_range, fmt::format("`{}` updates a tensor that is defined; `{}` is not yet",
                                                 spelling(definition.assignment), target.name.text))
        .also(target.range);
    return fail_target(target);
  }
  define(definition, target, symbol);
}

/// Why this name cannot be defined here.
void FunctionChecker::refuse_target(const ast::Definition& definition, const ast::Target& target,
                                    const Symbol& symbol) {
  const std::string& name = target.name.text;
  const bool is_tensor = symbol.kind == Symbol::Kind::tensor;
  if (symbol.input) {
    error(target.name.range,
          fmt::format("`{0}` is an input; what changes in place is declared `{0}: inout …`", name))
        .note(symbol.where, "declared here");
  } else if (is_tensor) {
    const bool recurrence = mentions(*definition.value, name);
    error(target.name.range, fmt::format("`{}` is defined twice{}", name,
                                         recurrence ? "; give the new value a name of its own" : ""))
        .note(symbol.where, "first here");
  } else {
    error(target.name.range, fmt::format("`{}` is {}, and cannot be defined", name,
                                         symbol.kind == Symbol::Kind::dim ? "a dim" : "a scalar argument"))
        .note(symbol.where, "declared here");
  }
}

/// The target gets no value: what reads it is silent.
void FunctionChecker::fail_target(const ast::Target& target) {
  Symbol* symbol = frame().find(target.name.text);
  if (symbol && symbol->kind != Symbol::Kind::tensor) return;
  if (!symbol) {
    Symbol failed;
    failed.kind = Symbol::Kind::tensor;
    failed.where = target.name.range;
    symbol = &frame().symbols.emplace(target.name.text, failed).first->second;
  }
  symbol->failed = true;
}

/// An index variable may not have the name of a tensor, scalar or dim of this function.
bool FunctionChecker::may_name_variable(const ast::Identifier& name) {
  SourceRange place;
  if (const Symbol* symbol = frame().find(name.text)) {
    place = symbol->where;
  } else {
    const auto later = frame().targets.find(name.text);
    if (later == frame().targets.end()) return true;
    place = later->second;
  }
  error(name.range,
        fmt::format("the index variable `{}` has the name of something else in this function", name.text))
      .note(place, fmt::format("`{}` is this", name.text));
  return false;
}

bool FunctionChecker::check_left_names(const ast::Target& target, const Symbol* declared) {
  bool fine = true;
  for (std::size_t i = 0; i < target.indices.size(); ++i) {
    const ast::TargetIndex& index = target.indices[i];
    const ast::Name* name = bare_name(index);
    if (!name) {
      error(index.expression->range, fmt::format("the left side of a definition holds bare index variables, "
                                                 "one a dimension; an index such as this "
                                                 "one updates a tensor, and `{}` is not defined yet",
                                                 target.name.text));
      fine = false;
      continue;
    }
    fine = may_name_variable({name->text, index.expression->range}) && fine;
    for (std::size_t j = 0; j < i; ++j) {
      const ast::Name* other = bare_name(target.indices[j]);
      if (!other || other->text != name->text) continue;
      error(index.expression->range, fmt::format("`{}` stands twice on this left side", name->text))
          .note(target.indices[j].expression->range, "here first");
      fine = false;
      break;
    }
  }
  if (declared && declared->view.shape.size() != target.indices.size()) {
    error(target.range,
          fmt::format("`{}` has {} dimension{}, and this left side has {} variable{}", target.name.text,
                      declared->view.shape.size(), declared->view.shape.size() == 1 ? "" : "s",
                      target.indices.size(), target.indices.size() == 1 ? "" : "s"))
        .note(declared->where, "declared here");
    fine = false;
  }
  return fine;
}

/// The extent of `0..N`; left sides begin at 0.
std::optional<ExpressionId> FunctionChecker::explicit_extent(const ast::Bounds& bounds) {
  frame().dims_only = true;
  const auto low = size(*bounds.begin, "a bound"), high = size(*bounds.end, "a bound");
  frame().dims_only = false;
  if (!low || !high) return std::nullopt;
  if (constant_value(arena(), *low) == 0) return high;
  error(bounds.begin->range, "a variable on a left side begins at 0: it runs over a whole dimension");
  return std::nullopt;
}

std::optional<ExpressionId> FunctionChecker::left_extent(const ast::Definition& definition,
                                                         const ast::Target& target, std::size_t position,
                                                         const Symbol* declared) {
  const ast::TargetIndex& index = target.indices[position];
  const ast::Identifier name{bare_name(index)->text, index.expression->range};
  std::optional<Evidence> evidence;
  if (declared)
    evidence = Evidence{declared->view.shape[position], declared->where,
                        fmt::format("dimension {} of `{}`", position, target.name.text)};
  if (!index.bounds) {
    Ranges ranges;
    collect_ranges(*definition.value, name.text, false, ranges);
    return decide_range(name, ranges, evidence ? &*evidence : nullptr);
  }
  const auto extent = explicit_extent(*index.bounds);
  if (!extent || !declared || sizes_.equal(*extent, evidence->extent)) return extent;
  const std::string size = sizes_.text(sizes_.linear_form(evidence->extent));
  error(index.bounds->range,
        fmt::format("`{}` runs over the whole {}, which is {}", name.text, evidence->what, size))
      .note(declared->where, "declared here")
      .replace(index.bounds->end->range, size);
  return std::nullopt;
}

std::optional<std::vector<AxisId>> FunctionChecker::left_axes(const ast::Definition& definition,
                                                              const ast::Target& target,
                                                              const Symbol* declared) {
  std::vector<AxisId> axes;
  bool complete = true;
  for (std::size_t i = 0; i < target.indices.size(); ++i) {
    const auto extent = left_extent(definition, target, i, declared);
    const std::string& name = bare_name(target.indices[i])->text;
    const AxisId axis = extent ? arena().add_axis(name, index_constant(0), *extent) : AxisId{};
    complete = complete && extent;
    axes.push_back(axis);
    frame().variables.push_back({name, axis, target.indices[i].expression->range});
  }
  return complete ? std::optional(std::move(axes)) : std::nullopt;
}

void FunctionChecker::define(const ast::Definition& definition, const ast::Target& target, Symbol* declared) {
  if (declared && target.type) {
    error(target.type->range, fmt::format("`{}` has its type from the signature", target.name.text))
        .note(declared->where, "declared here");
    return fail_target(target);
  }
  if (!check_left_names(target, declared)) return fail_target(target);
  const std::size_t outer = frame().variables.size();
  const auto axes = left_axes(definition, target, declared);
  if (axes) {
    define_value(definition, target, *axes);
  } else {
    check_expression(*definition.value);  // for its own errors
    fail_target(target);
  }
  frame().variables.resize(outer);
}

/// The type of a local tensor: as declared, else its value's. One that reads itself takes the type that the
/// rest has: a first pass gives each self-read the type of its `else`.
std::optional<DType> FunctionChecker::local_type(const ast::Definition& definition, const ast::Target& target,
                                                 bool reads_itself) {
  if (target.type) return type_named(*target.type);
  if (!reads_itself) return std::nullopt;
  DiagnosticBag silent;
  DiagnosticBag* const loud = std::exchange(diagnostics_, &silent);
  const Value value = check_expression(*definition.value);
  diagnostics_ = loud;
  frame().self->reads.clear();
  return value.known() ? value.type : DType::f32;
}

void FunctionChecker::define_value(const ast::Definition& definition, const ast::Target& target,
                                   const std::vector<AxisId>& axes) {
  const std::string& name = target.name.text;
  Symbol* symbol = frame().find(name);
  const bool reads_itself = mentions(*definition.value, name);
  std::vector<ExpressionId> shape;
  for (const AxisId axis : axes) shape.push_back(arena()[axis].high);
  if (reads_itself) {
    frame().self = SelfReads{name, false, {}};
    if (!symbol) {
      Symbol placeholder;
      placeholder.kind = Symbol::Kind::tensor;
      placeholder.where = target.name.range;
      placeholder.defined = false;
      placeholder.view.shape = shape;
      symbol = &frame().symbols.emplace(name, placeholder).first->second;
    }
  }
  std::optional<DType> type =
      symbol && symbol->declared ? symbol->dtype : local_type(definition, target, reads_itself);
  if (target.type && !type) return fail_target(target);
  if (reads_itself) {
    if (!symbol->declared) symbol = &declare_local(target, *type, shape);
    frame().self->typed = true;
  }
  const Operand value = operand(*definition.value);
  std::optional<int> recurrent;
  if (reads_itself) recurrent = recurrent_position(target, axes);
  const bool recurrence_failed = reads_itself && !recurrent && !frame().self->reads.empty();
  frame().self.reset();
  if (!value.value.known() || recurrence_failed) return fail_target(target);
  if (frame().scalars_only && axes.empty()) return define_scalar(target, value, type);
  if (!type) type = value.value.type;
  const auto stored = typing_.convert_for_store(value, *type, name);
  if (!stored || !within_limits(*stored, definition.value->range)) return fail_target(target);
  Definition result;
  result.axes = axes;
  result.value = *stored;
  result.recurrent = recurrent;
  finish_definition(target, *type, std::move(result));
}

/// Gives a target, declared or new, its value.
void FunctionChecker::finish_definition(const ast::Target& target, DType type, Definition definition) {
  std::vector<ExpressionId> shape;
  for (const AxisId axis : definition.axes) shape.push_back(arena()[axis].high);
  Symbol* symbol = frame().find(target.name.text);
  if (!symbol) symbol = &declare_local(target, type, shape);
  symbol->defined = true;
  if (frame().formulas) {
    if (core::is_storage(type)) definition.value = arena().cast(type, definition.value);
    symbol->view.formula = Formula{definition.axes, definition.value};
    return;
  }
  definition.target = symbol->view.tensor;
  definition.where = target.range;
  add_definition(std::move(definition));
}

/// In a function of scalars a definition names a value.
void FunctionChecker::define_scalar(const ast::Target& target, const Operand& value,
                                    std::optional<DType> type) {
  const auto stored = typing_.convert_for_store(value, type.value_or(value.value.type), target.name.text);
  if (!stored) return fail_target(target);
  Symbol symbol;
  symbol.kind = Symbol::Kind::scalar;
  symbol.where = target.name.range;
  symbol.value =
      Value::typed(arena(), type && core::is_storage(*type) ? arena().cast(*type, *stored) : *stored);
  frame().symbols[target.name.text] = std::move(symbol);
}

/// The left-side position that every self-read moves back by a positive literal.
std::optional<int> FunctionChecker::recurrent_position(const ast::Target& target,
                                                       const std::vector<AxisId>& axes) {
  const auto& reads = frame().self->reads;
  if (reads.empty()) return std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const LinearForm axis = sizes_.linear_form(arena().axis(axes[i]));
    const bool moves = std::all_of(reads.begin(), reads.end(), [&](const auto& read) {
      LinearForm step = sizes_.linear_form(read.first[i]);
      return step.add(axis, -1) && step.is_constant() && step.constant < 0;
    });
    if (moves) return static_cast<int>(i);
  }
  error(reads.front().second,
        fmt::format("`{0}` reads itself, but no one position steps back by a literal in each such read, "
                    "as in {0}[t - 1]",
                    target.name.text));
  return std::nullopt;
}

Symbol& FunctionChecker::declare_local(const ast::Target& target, DType type,
                                       const std::vector<ExpressionId>& shape) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::tensor;
  symbol.where = target.name.range;
  symbol.dtype = type;
  symbol.defined = false;
  symbol.view.shape = shape;
  if (frame().formulas) {
    symbol.view.positions.resize(shape.size());
    return frame().symbols[target.name.text] = std::move(symbol);
  }
  symbol.view.tensor = {static_cast<std::int32_t>(function_.tensors.size())};
  Tensor tensor{local_name(target.name.text), type, {}, TensorRole::local, target.name.range};
  for (const AxisId axis : frame().leading) {
    symbol.view.positions.emplace_back(leading_position(axis));
    tensor.shape.push_back(leading_extent(axis));
  }
  symbol.view.positions.resize(symbol.view.positions.size() + shape.size());
  tensor.shape.insert(tensor.shape.end(), shape.begin(), shape.end());
  function_.tensors.push_back(std::move(tensor));
  return frame().symbols[target.name.text] = std::move(symbol);
}

bool FunctionChecker::within_limits(ExpressionId value, SourceRange where) {
  const ExpressionMetrics metrics = sizes_.metrics(value);
  if (metrics.height > limits::inlined_height) {
    error(where,
          fmt::format(
              "once calls are inlined this expression has {}; give parts of it definitions of their own",
              limits::exceeded("levels", limits::inlined_height)));
    return false;
  }
  if (metrics.size > limits::inlined_size) {
    error(where,
          fmt::format(
              "once calls are inlined this expression has {}; give parts of it definitions of their own",
              limits::exceeded("operations", limits::inlined_size)));
    return false;
  }
  return true;
}

/// Adds a definition. In a function inlined on slices it gets the caller's axes in front, as axes of its own.
void FunctionChecker::add_definition(Definition definition) {
  Substitution own;
  std::vector<AxisId> axes;
  std::vector<ExpressionId> indices;
  for (const AxisId outer : frame().leading) {
    const AxisId axis = arena().add_axis(arena()[outer].name, index_constant(0), leading_extent(outer));
    own.axes[outer] = arena().apply(Op::add, DType::i64, {arena().axis(axis), arena()[outer].low});
    axes.push_back(axis);
    indices.push_back(arena().axis(axis));
  }
  if (!axes.empty()) {
    definition.value = substitute(arena(), definition.value, own);
    for (ExpressionId& index : definition.indices) index = substitute(arena(), index, own);
    if (definition.recurrent) *definition.recurrent += static_cast<int>(axes.size());
    definition.axes.insert(definition.axes.begin(), axes.begin(), axes.end());
    if (definition.update)
      definition.indices.insert(definition.indices.begin(), indices.begin(), indices.end());
  }
  if (definition.update) ++versions_[definition.target];
  function_.definitions.push_back(std::move(definition));
}

}  // namespace einkern::dsl
