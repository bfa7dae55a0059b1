// The part of FunctionChecker that matches the arguments of a call with the callee's parameters.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/ast_names.h"
#include "dsl/check.h"

namespace einkern::dsl {
namespace {

/// The type that a name stands for in a callee: a generic's in this call, or an element type.
DType named_type(const Frame& callee, const ast::Identifier& name) {
  const auto generic = callee.types.find(name.text);
  if (generic != callee.types.end()) return generic->second;
  return core::parse_dtype(name.text).value_or(DType::f32);  // the callee is fine, so it is a type
}

}  // namespace

std::optional<FunctionChecker::CallSite> FunctionChecker::call_site(const ast::Call& call,
                                                                    SourceRange where) {
  const ast::Function& callee = *table_.find(call.callee.text);
  const std::string& name = call.callee.text;
  CallSite site{&callee, &call, where, {}};
  if (frame().dims_only) {
    error(where, fmt::format("only dims, numbers and built-in functions of them may stand here; `{}` is a "
                             "function of the sources",
                             name));
    return std::nullopt;
  }
  const std::size_t required =
      static_cast<std::size_t>(std::count_if(callee.parameters.begin(), callee.parameters.end(),
                                             [](const auto& parameter) { return !parameter.default_value; }));
  const bool updates = std::any_of(callee.parameters.begin(), callee.parameters.end(),
                                   [](const auto& p) { return p.is_inout; });
  if (table_.failed.contains(&callee)) {
    for (const auto& argument : call.arguments)
      for (const ast::Identifier& used : free_names(*argument))
        if (Symbol* symbol = frame().find(used.text)) symbol->used = true;
    return std::nullopt;
  }
  if (updates) {
    error(where, fmt::format("`{}` updates its arguments in place, and an expression changes nothing", name))
        .note(callee.signature, "declared here");
    return std::nullopt;
  }
  if (call.arguments.size() < required || call.arguments.size() > callee.parameters.size()) {
    const bool optional = required < callee.parameters.size();
    error(where, fmt::format("`{}` takes {}{} argument{}, and this call has {}", name,
                             optional ? fmt::format("{} to ", required) : "", callee.parameters.size(),
                             callee.parameters.size() == 1 ? "" : "s", call.arguments.size()))
        .note(callee.signature, "declared here");
    return std::nullopt;
  }
  bool complete = true;
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    const ast::Expression* expression = i < call.arguments.size() ? call.arguments[i].get() : nullptr;
    auto argument = check_argument(callee, callee.parameters[i], expression);
    complete = complete && argument;
    if (argument) site.arguments.push_back(std::move(*argument));
  }
  if (!complete || !same_precision(site)) return std::nullopt;
  return site;
}

/// An inlined callee computes as precisely as its caller; one that asks for something else is no expression.
bool FunctionChecker::same_precision(const CallSite& site) {
  const auto wanted = find_precision(*site.callee);
  if (!wanted || (wanted->kind == function_.precision.kind && wanted->bound == function_.precision.bound))
    return true;
  const auto attribute = std::find_if(site.callee->attributes.begin(), site.callee->attributes.end(),
                                      [](const auto& a) { return a.name.text == "precision"; });
  error(
      site.where,
      fmt::format("`{}` has another @precision than `{}`; give both the same, or leave it out at the callee, "
                  "which then has its caller's",
                  site.callee->name.text, source_.name.text))
      .note(attribute->range, "the callee's is this");
  return false;
}

std::optional<FunctionChecker::Argument> FunctionChecker::check_argument(const ast::Function& callee,
                                                                         const ast::Parameter& parameter,
                                                                         const ast::Expression* expression) {
  Argument argument;
  argument.parameter = &parameter;
  argument.expression = expression;
  if (!expression) return argument;
  if (!parameter.shape.empty()) return tensor_argument(callee, parameter, *expression);
  argument.operand = operand(*expression);
  argument.dtype = argument.operand.value.type;
  if (!argument.operand.value.known()) return std::nullopt;
  return argument;
}

/// A tensor's name, or a slice of one.
std::optional<FunctionChecker::Argument> FunctionChecker::tensor_argument(const ast::Function& callee,
                                                                          const ast::Parameter& parameter,
                                                                          const ast::Expression& expression) {
  const auto* name = expression.as<ast::Name>();
  const auto* index = expression.as<ast::Index>();
  if (index) name = index->base->as<ast::Name>();
  if (!name) {
    error(
        expression.range,
        fmt::format("`{}` of `{}` takes a tensor or a slice of one; give this a definition of its own first",
                    parameter.name.text, callee.name.text))
        .note(parameter.range, "declared here");
    return std::nullopt;
  }
  const SourceRange place = index ? index->base->range : expression.range;
  Symbol* symbol = frame().find(name->text);
  const Variable* variable = frame().find_variable(name->text);
  if (!symbol && !variable) {
    unknown_name(name->text, place);
    return std::nullopt;
  }
  if (variable || symbol->kind != Symbol::Kind::tensor) {
    error(place, fmt::format("`{}` of `{}` takes a tensor, and `{}` is none", parameter.name.text,
                             callee.name.text, name->text))
        .note(parameter.range, "declared here");
    return std::nullopt;
  }
  symbol->used = true;
  if (symbol->failed) return std::nullopt;
  if (!symbol->defined) {
    error(place, fmt::format("`{}` is read above its definition", name->text))
        .note(symbol->where, "declared here");
    return std::nullopt;
  }
  Argument argument{&parameter, &expression, symbol->view, symbol->dtype, {}};
  const std::string tensor = name->text;
  if (index && !slice(*index, tensor, *argument.view)) return std::nullopt;
  if (argument.view->shape.size() != parameter.shape.size()) {
    const std::size_t rank = argument.view->shape.size();
    error(expression.range,
          fmt::format("`{}` of `{}` has {} dimension{}, and this argument has {}", parameter.name.text,
                      callee.name.text, parameter.shape.size(), parameter.shape.size() == 1 ? "" : "s", rank))
        .note(parameter.range, "declared here");
    return std::nullopt;
  }
  return argument;
}

/// Fixes the positions of a view that a slice gives an index.
bool FunctionChecker::slice(const ast::Index& index, const std::string& name, TensorView& view) {
  if (index.subscripts.size() != view.shape.size()) {
    error(index.base->range, fmt::format("`{}` has {} dimension{}, and this slice has {} position{}", name,
                                         view.shape.size(), view.shape.size() == 1 ? "" : "s",
                                         index.subscripts.size(), index.subscripts.size() == 1 ? "" : "s"));
    return false;
  }
  bool complete = true;
  std::vector<ExpressionId> shape;
  std::size_t next = 0;
  for (auto& position : view.positions) {
    if (position) continue;
    const ast::Subscript& subscript = index.subscripts[next];
    if (!subscript.expression) {
      shape.push_back(view.shape[next]);
    } else {
      position = typing_.convert_to_index(operand(*subscript.expression), "an index");
      complete = complete && position;
    }
    ++next;
  }
  view.shape = std::move(shape);
  return complete;
}

/// Types of the callee's generic names, from the arguments.
bool FunctionChecker::deduce_types(const CallSite& site, Frame& callee) {
  DiagnosticBag silent;
  for (const ast::TypeParameter& generic : site.callee->type_parameters) {
    const std::vector<DType> allowed = allowed_types(generic, silent);
    const auto is_allowed = [&](DType type) {
      return std::find(allowed.begin(), allowed.end(), type) != allowed.end();
    };
    const Argument* first = nullptr;
    std::optional<DType> type;
    for (const Argument& argument : site.arguments) {
      const bool literal = !argument.view && argument.operand.value.is_literal();
      if (argument.parameter->type.text != generic.name.text || !argument.expression || (literal && type))
        continue;
      if (type && core::compute_type(*type) != core::compute_type(argument.dtype)) {
        error(argument.expression->range,
              fmt::format("`{}` of `{}` is {} by one argument and {} by this one", generic.name.text,
                          site.callee->name.text, core::dtype_name(*type), core::dtype_name(argument.dtype)))
            .note(first->expression->range, "the other argument");
        return false;
      }
      if (!type) first = &argument;
      type = type && *type != argument.dtype ? core::compute_type(*type) : argument.dtype;
    }
    if (type && !is_allowed(*type))
      type = is_allowed(core::compute_type(*type)) ? core::compute_type(*type) : type;
    if (!type && allowed.size() == 1) type = allowed.front();
    if (!type || !is_allowed(*type)) {
      const std::string problem = type ? fmt::format("`{}` of `{}` may not be {}", generic.name.text,
                                                     site.callee->name.text, core::dtype_name(*type))
                                       : fmt::format("no argument tells what `{}` of `{}` is",
                                                     generic.name.text, site.callee->name.text);
      error(site.where, problem).note(generic.name.range, "declared here");
      return false;
    }
    callee.types[generic.name.text] = *type;
  }
  return true;
}

bool FunctionChecker::bind_scalars(const CallSite& site, Frame& callee) {
  for (const Argument& argument : site.arguments) {
    if (argument.view || argument.parameter->is_dim) continue;
    const ast::Parameter& parameter = *argument.parameter;
    const DType type = named_type(callee, parameter.type);
    std::optional<ExpressionId> node;
    if (argument.expression) {
      node = typing_.convert_for_store(argument.operand, type, parameter.name.text);
    } else {
      const Operand value{default_in(callee, *parameter.default_value), parameter.default_value->range};
      node = typing_.convert_for_store(value, type, parameter.name.text);
    }
    if (!node) return false;
    if (core::is_storage(type)) node = arena().cast(type, *node);
    Symbol symbol;
    symbol.kind = Symbol::Kind::scalar;
    symbol.where = parameter.name.range;
    symbol.value = Value::typed(arena(), *node);
    symbol.dtype = type;
    symbol.declared = true;
    callee.symbols[parameter.name.text] = std::move(symbol);
  }
  return true;
}

/// In the callee a tensor has the shape that is declared there: require_shapes() has seen to it that the
/// argument has it too.
void FunctionChecker::bind_tensors(const CallSite& site, Frame& callee) {
  for (const Argument& argument : site.arguments) {
    if (!argument.view) continue;
    Symbol symbol;
    symbol.kind = Symbol::Kind::tensor;
    symbol.where = argument.parameter->name.range;
    symbol.view = *argument.view;
    for (std::size_t i = 0; i < symbol.view.shape.size(); ++i)
      if (const auto declared = size_in(callee, *argument.parameter->shape[i]))
        symbol.view.shape[i] = *declared;
    symbol.dtype = argument.dtype;
    symbol.declared = true;
    symbol.input = true;
    callee.symbols[argument.parameter->name.text] = std::move(symbol);
  }
}

/// Tensor arguments are read in the parameter's compute type.
bool FunctionChecker::same_compute_types(const CallSite& site, const Frame& callee) {
  for (const Argument& argument : site.arguments) {
    if (!argument.view) continue;
    const DType wanted = named_type(callee, argument.parameter->type);
    if (core::compute_type(wanted) == core::compute_type(argument.dtype)) continue;
    error(argument.expression->range,
          fmt::format("`{}` of `{}` holds {}, and this tensor {}", argument.parameter->name.text,
                      site.callee->name.text, core::dtype_name(wanted), core::dtype_name(argument.dtype)))
        .note(argument.parameter->range, "declared here");
    return false;
  }
  return true;
}

}  // namespace einkern::dsl
