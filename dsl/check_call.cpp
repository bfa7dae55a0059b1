// The part of FunctionChecker that inlines calls of the user's functions. A callee's tensors become local
// tensors; where the arguments depend on axes of the caller, those axes stand in front of each of them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dsl/ast_names.h"
#include "dsl/check.h"
#include "dsl/limits.h"

namespace einkern::dsl {

namespace {

/// Whether every name of the function is a number: then its calls are expressions.
bool is_scalars_only(const ast::Function& function) {
  const bool scalar_parameters = std::all_of(function.parameters.begin(), function.parameters.end(),
                                             [](const auto& p) { return p.shape.empty() && !p.is_inout; });
  const bool scalar_results = std::all_of(function.results.begin(), function.results.end(),
                                          [](const auto& r) { return r.shape.empty(); });
  const bool scalar_body =
      std::all_of(function.body.begin(), function.body.end(), [&](const ast::Definition& d) {
        return d.targets.size() == 1 && d.targets[0].indices.empty() &&
               d.assignment == ast::Assignment::define;
      });
  return scalar_parameters && scalar_results && scalar_body;
}

}  // namespace

bool FunctionChecker::is_whole_definition(const ast::Definition& definition) const {
  const auto* call = definition.value->as<ast::Call>();
  const ast::Function* callee = call ? table_.find(call->callee.text) : nullptr;
  if (!callee || definition.assignment != ast::Assignment::define) return false;
  const bool bare = std::all_of(definition.targets.begin(), definition.targets.end(),
                                [](const auto& t) { return t.indices.empty(); });
  return bare && (definition.targets.size() > 1 || !is_scalars_only(*callee));
}

/// `y = softmax(z)`, `q, s = quantise(x)`.
void FunctionChecker::define_whole(const ast::Definition& definition) {
  const auto& call = *definition.value->as<ast::Call>();
  bool fine = true;
  for (const ast::Target& target : definition.targets) {
    const Symbol* symbol = frame().find(target.name.text);
    if (symbol && (symbol->defined || symbol->kind != Symbol::Kind::tensor)) {
      refuse_target(definition, target, *symbol);
      fine = false;
    }
  }
  const auto leading = frame().leading;
  const auto results = check_call(call, definition.value->range, &leading);
  if (results && results->size() != definition.targets.size()) {
    const ast::Function& callee = *table_.find(call.callee.text);
    error(definition.operator_range,
          fmt::format("`{}` has {} result{}, and {} name{} on the left", call.callee.text, results->size(),
                      results->size() == 1 ? "" : "s", definition.targets.size(),
                      definition.targets.size() == 1 ? " stands" : "s stand"))
        .note(callee.signature, "declared here");
    fine = false;
  }
  for (std::size_t i = 0; i < definition.targets.size(); ++i) {
    const bool known = fine && results && !(*results)[i].failed;
    if (!known || !define_result(definition.targets[i], (*results)[i])) fail_target(definition.targets[i]);
  }
}

/// Makes a call's result the value of a target: element for element.
bool FunctionChecker::define_result(const ast::Target& target, const Symbol& result) {
  Symbol* symbol = frame().find(target.name.text);
  if (symbol && symbol->view.shape.size() != result.view.shape.size()) {
    error(target.name.range, fmt::format("`{}` is declared {}, and the call gives {}", target.name.text,
                                         shape_text(symbol->view.shape), shape_text(result.view.shape)))
        .note(symbol->where, "declared here");
    return false;
  }
  const std::vector<ExpressionId> shape = symbol ? symbol->view.shape : result.view.shape;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!require_equal(shape[i], result.view.shape[i], target.name.range)) return false;
  std::optional<DType> type = symbol ? std::optional(symbol->dtype) : std::nullopt;
  if (target.type) type = type_named(*target.type);
  if (target.type && !type) return false;
  if (!type) type = result.dtype;
  std::vector<AxisId> axes;
  std::vector<ExpressionId> indices;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(arena().add_axis(fmt::format("i{}", i), index_constant(0), shape[i]));
    indices.push_back(arena().axis(axes.back()));
  }
  const Operand element{build_read(result.view, indices, target.range, nullptr), target.range};
  const auto stored = typing_.convert_for_store(element, *type, target.name.text);
  if (!stored) return false;
  Definition definition;
  definition.axes = std::move(axes);
  definition.value = *stored;
  finish_definition(target, *type, std::move(definition));
  return true;
}

std::string FunctionChecker::shape_text(const std::vector<ExpressionId>& shape) {
  std::string text;
  for (const ExpressionId extent : shape)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", sizes_.text(sizes_.linear_form(extent)));
  return "[" + text + "]";
}

/// A call where an element stands: a function of scalars, or one whose result has rank 0.
Value FunctionChecker::check_scalar_call(const ast::Call& call, SourceRange where) {
  const auto results = check_call(call, where, nullptr);
  if (!results) return {};
  if (results->size() != 1) {
    error(where, fmt::format("`{0}` has {1} results; define tensors from them: q, s = {0}(…)",
                             call.callee.text, results->size()));
    return {};
  }
  const Symbol& result = results->front();
  if (result.failed) return {};
  if (result.kind == Symbol::Kind::scalar) return result.value;
  if (result.view.shape.empty()) return build_read(result.view, {}, where, nullptr);
  error(where,
        fmt::format("`{0}` gives a tensor of {1} dimension{2}; read an element, {0}(…)[…], or define a "
                    "tensor, z = {0}(…)",
                    call.callee.text, result.view.shape.size(), result.view.shape.size() == 1 ? "" : "s"));
  return {};
}

/// The results of a call, inlined; nothing after an error. `leading`: the axes that its tensors shall have in
/// front; null: those on which the arguments depend.
std::optional<std::vector<Symbol>> FunctionChecker::check_call(const ast::Call& call, SourceRange where,
                                                               const std::vector<AxisId>* leading) {
  auto site = call_site(call, where);
  if (!site) return std::nullopt;
  Frame callee;
  callee.source = site->callee;
  callee.scalars_only = is_scalars_only(*site->callee);
  if (!deduce_types(*site, callee) || !bind_dims(*site, callee) || !bind_scalars(*site, callee))
    return std::nullopt;
  bind_tensors(*site, callee);
  if (!callee.scalars_only) callee.leading = leading ? *leading : leading_axes(callee);
  callee.formulas = frame().formulas || !leading_are_sizes(callee.leading);
  if (callee.formulas && !may_be_formulas(*site)) return std::nullopt;
  const std::string key = call_key(callee);
  if (const auto known = inlined_.find(key); known != inlined_.end()) return known->second;
  if (inlined_calls_ == limits::calls || depth_ == limits::call_depth) {
    const bool many = inlined_calls_ == limits::calls;
    error(where,
          many ? fmt::format("`{}` inlines {}", source_.name.text, limits::exceeded("calls", limits::calls))
               : fmt::format("this call nests {}", limits::exceeded("calls", limits::call_depth)));
    return std::nullopt;
  }
  ++inlined_calls_;
  callee.prefix = fmt::format("{}_{}_", site->callee->name.text.substr(0, 40), inlined_calls_);
  auto results = inline_body(*site, std::move(callee));
  if (results) inlined_.emplace(key, *results);
  return results;
}

/// Checks the callee's body with its names bound. Its errors are told at the call: by itself it is fine.
std::optional<std::vector<Symbol>> FunctionChecker::inline_body(const CallSite& site, Frame callee) {
  DiagnosticBag inner;
  Frame* const caller = std::exchange(frame_, &callee);
  DiagnosticBag* const outer = std::exchange(diagnostics_, &inner);
  ++depth_;
  for (const ast::ResultDeclaration& result : site.callee->results) declare_callee_result(result);
  check_body(*site.callee);
  --depth_;
  diagnostics_ = outer;
  frame_ = caller;
  if (inner.has_errors()) {
    report_inside(site, inner);
    return std::nullopt;
  }
  std::vector<Symbol> results;
  for (const ast::ResultDeclaration& result : site.callee->results)
    results.push_back(*callee.find(result.name.text));
  return results;
}

/// Tells the first error of a callee's body at the call. One that came from a call deeper down is told as it
/// is.
void FunctionChecker::report_inside(const CallSite& site, const DiagnosticBag& inner) {
  static constexpr std::string_view prefix = "in this call of ";
  const auto first = std::find_if(inner.all().begin(), inner.all().end(),
                                  [](const auto& d) { return d.severity == Severity::error; });
  std::string message = first->message;
  const bool from_below = message.starts_with(prefix);
  if (from_below) message.erase(0, message.find("`: ") + 3);
  Diagnostic& diagnostic =
      error(site.where, fmt::format("{}`{}`: {}", prefix, site.callee->name.text, message));
  if (from_below)
    diagnostic.notes = first->notes;
  else
    diagnostic.note(first->range, "in this definition");
}

void FunctionChecker::declare_callee_result(const ast::ResultDeclaration& result) {
  const DType type = type_named(result.type).value_or(DType::f32);
  frame().dims_only = true;
  const std::vector<ExpressionId> shape = shape_of(result.shape);
  frame().dims_only = false;
  if (frame().scalars_only) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::tensor;
    symbol.where = result.name.range;
    symbol.dtype = type;
    symbol.declared = true;
    symbol.defined = false;
    declare(result.name, std::move(symbol));
    return;
  }
  ast::Target target;
  target.name = result.name;
  declare_local(target, type, shape).declared = true;
}

/// What a call is, for the sake of equal calls: callee, types, arguments and leading axes.
std::string FunctionChecker::call_key(const Frame& callee) {
  std::string key = callee.source->name.text;
  for (const auto& [name, type] : callee.types) key += fmt::format(";{}={}", name, core::dtype_name(type));
  for (const auto& [name, symbol] : callee.symbols) {
    const int formula = symbol.view.formula ? symbol.view.formula->value.value : -1;
    key += fmt::format(";{}={},{},{}", name, symbol.value.id.value, symbol.view.tensor.value, formula);
    for (const auto& fixed : symbol.view.positions) key += fmt::format(",{}", fixed ? fixed->value : -1);
    key += fmt::format(",{}", versions_[symbol.view.tensor]);
  }
  for (const AxisId axis : callee.leading) key += fmt::format(";{}", axis.value);
  return key;
}

/// The axes of the caller that stand in the arguments, outermost first.
std::vector<AxisId> FunctionChecker::leading_axes(const Frame& callee) {
  std::set<AxisId> axes;
  const auto add = [&](ExpressionId id) {
    const auto used = free_axes(arena(), id);
    axes.insert(used.begin(), used.end());
  };
  for (const auto& [name, symbol] : callee.symbols) {
    if (symbol.kind == Symbol::Kind::scalar) add(symbol.value.id);
    for (const auto& fixed : symbol.view.positions)
      if (fixed) add(*fixed);
  }
  return {axes.begin(), axes.end()};
}

/// Tensors have sizes over dims. Where a leading axis runs over another range, a callee's definitions stay
/// formulas.
bool FunctionChecker::leading_are_sizes(const std::vector<AxisId>& leading) {
  return std::all_of(leading.begin(), leading.end(), [&](AxisId axis) {
    return sizes_.is_over_dims(arena()[axis].low) && sizes_.is_over_dims(arena()[axis].high);
  });
}

/// Updates and recurrences need memory, which a tensor without a size cannot have.
bool FunctionChecker::may_be_formulas(const CallSite& site) {
  const auto& body = site.callee->body;
  const bool plain = std::all_of(body.begin(), body.end(), [](const ast::Definition& definition) {
    const auto reads = free_names(*definition.value);
    return definition.assignment == ast::Assignment::define &&
           std::all_of(definition.targets.begin(), definition.targets.end(), [&](const ast::Target& target) {
             const bool bare =
                 std::all_of(target.indices.begin(), target.indices.end(),
                             [](const auto& index) { return index.expression->template as<ast::Name>(); });
             return bare && std::none_of(reads.begin(), reads.end(),
                                         [&](const auto& name) { return name.text == target.name.text; });
           });
  });
  if (!plain)
    error(site.where,
          fmt::format(
              "the arguments of `{0}` depend on a variable whose range depends on more than dims, and `{0}` "
              "updates a tensor or reads one back, which needs a size; let it take the whole tensor",
              site.callee->name.text));
  return plain;
}

ExpressionId FunctionChecker::leading_extent(AxisId axis) {
  const Axis range = arena()[axis];
  return arena().apply(Op::subtract, DType::i64, {range.high, range.low});
}

ExpressionId FunctionChecker::leading_position(AxisId axis) {
  return arena().apply(Op::subtract, DType::i64, {arena().axis(axis), arena()[axis].low});
}

/// A name for a local tensor: as written, or behind its callee's prefix, and unlike all others.
std::string FunctionChecker::local_name(std::string_view name) {
  if (frame().prefix.empty()) return std::string(name);
  std::string candidate = frame().prefix + std::string(name.substr(0, 40));
  while (!taken_names_.insert(candidate).second) candidate += "_";
  return candidate;
}

}  // namespace einkern::dsl
