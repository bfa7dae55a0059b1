#include "dsl/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "dsl/call_graph.h"
#include "dsl/check.h"
#include "dsl/function_printer.h"
#include "dsl/limits.h"
#include "dsl/parser.h"
#include "dsl/printer.h"

namespace einkern::dsl {

struct Program::State {
  std::vector<ast::Module> modules;
  FunctionTable table;
  std::vector<Signature> signatures;
  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Function>>
      instances;  // by name and types; guarded by the mutex
};

namespace {

std::string instance_key(std::string_view function, const TypeBinding& types) {
  std::string key(function);
  for (const auto& [name, type] : types) key += fmt::format(";{}={}", name, core::dtype_name(type));
  return key;
}

void register_functions(const std::vector<ast::Module>& modules, FunctionTable& table,
                        DiagnosticBag& diagnostics) {
  for (const ast::Module& module : modules)
    for (const ast::Function& function : module.functions) {
      const auto [place, added] = table.by_name.emplace(function.name.text, table.functions.size());
      if (added) {
        table.functions.push_back(&function);
        if (function.incomplete) table.failed.insert(&function);
        continue;
      }
      diagnostics.error(function.name.range, fmt::format("there are two functions `{}`", function.name.text))
          .note(table.functions[place->second]->name.range, "the first is here");
    }
}

std::string signature_text(const ast::Function& function) {
  const std::string text = canonical_text(function);
  const std::size_t begin = text.starts_with("fn ") ? 0 : text.find("\nfn ") + 1;
  return text.substr(begin, text.find(" {\n", begin) - begin);
}

std::vector<std::string> shape_texts(const std::vector<ast::ExpressionPointer>& shape) {
  std::vector<std::string> texts;
  for (const ast::ExpressionPointer& dimension : shape) texts.push_back(expression_text(*dimension));
  return texts;
}

void set_type(SignatureItem& item, const ast::Identifier& type) {
  if (const auto known = core::parse_dtype(type.text))
    item.dtype = *known;
  else
    item.generic = type.text;
}

Signature signature_of(const ast::Function& function) {
  Signature signature{function.name.text, function.documentation, {}, {}, {}, signature_text(function)};
  DiagnosticBag silent;
  for (const ast::TypeParameter& parameter : function.type_parameters)
    signature.generics.emplace_back(parameter.name.text, allowed_types(parameter, silent));
  for (const ast::Parameter& parameter : function.parameters) {
    SignatureItem item;
    const bool is_tensor = !parameter.shape.empty() || parameter.is_inout;
    item.kind = parameter.is_dim ? SignatureItem::Kind::dim
                : is_tensor      ? SignatureItem::Kind::tensor
                                 : SignatureItem::Kind::scalar;
    item.name = parameter.name.text;
    if (parameter.is_dim)
      item.dtype = DType::i64;
    else
      set_type(item, parameter.type);
    item.shape = shape_texts(parameter.shape);
    item.has_default = parameter.default_value != nullptr;
    item.inout = parameter.is_inout;
    signature.parameters.push_back(std::move(item));
  }
  for (const ast::ResultDeclaration& result : function.results) {
    SignatureItem item;
    item.name = result.name.text;
    set_type(item, result.type);
    item.shape = shape_texts(result.shape);
    signature.results.push_back(std::move(item));
  }
  return signature;
}

/// One type for each compute type that a generic name allows.
std::vector<DType> representatives(const std::vector<DType>& allowed) {
  std::vector<DType> chosen;
  for (const DType type : allowed) {
    const bool seen = std::any_of(chosen.begin(), chosen.end(), [&](DType other) {
      return core::compute_type(other) == core::compute_type(type);
    });
    if (!seen) chosen.push_back(type);
  }
  return chosen;
}

/// The choices of compute types of a generic function; nothing after an error.
std::optional<std::vector<TypeBinding>> type_choices(const ast::Function& function,
                                                     DiagnosticBag& diagnostics) {
  std::vector<TypeBinding> choices = {{}};
  bool complete = true;
  for (const ast::TypeParameter& parameter : function.type_parameters) {
    const std::vector<DType> types = representatives(allowed_types(parameter, diagnostics));
    complete = complete && !types.empty();
    if (choices.front().contains(parameter.name.text)) {
      diagnostics.error(parameter.name.range, fmt::format("`{}` is declared twice", parameter.name.text));
      return std::nullopt;
    }
    std::vector<TypeBinding> wider;
    for (const TypeBinding& choice : choices)
      for (const DType type : types) {
        wider.push_back(choice);
        wider.back().emplace(parameter.name.text, type);
      }
    choices = std::move(wider);
    if (choices.size() > limits::type_choices) {
      diagnostics.error(parameter.name.range,
                        fmt::format("`{}` has {}; allow fewer types", function.name.text,
                                    limits::exceeded("combinations of compute types", limits::type_choices)));
      return std::nullopt;
    }
    if (!complete) return std::nullopt;
  }
  return choices;
}

void append(DiagnosticBag& target, const DiagnosticBag& source) {
  for (const Diagnostic& diagnostic : source.all()) {
    if (diagnostic.severity == Severity::error)
      target.error(diagnostic.range, diagnostic.message) = diagnostic;
    else
      target.warning(diagnostic.range, diagnostic.message) = diagnostic;
  }
  if (source.full()) target.error({}, "");  // one too many: the target, having as many, is full too
}

std::string binding_text(const TypeBinding& types) {
  std::string text;
  for (const auto& [name, type] : types)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, core::dtype_name(type));
  return text;
}

/// Checks one function for each choice of its types, up to the first that has errors.
std::optional<Function> check_choices(const FunctionTable& table, const ast::Function& source,
                                      DiagnosticBag& diagnostics) {
  const auto choices = type_choices(source, diagnostics);
  if (!choices) return std::nullopt;
  std::optional<Function> checked;
  for (const TypeBinding& types : *choices) {
    DiagnosticBag found;
    checked = FunctionChecker(table, source, types, found).check();
    const bool report = !checked || &types == &choices->front();
    if (!checked && !types.empty() && !found.empty()) {
      DiagnosticBag noted;
      for (const Diagnostic& diagnostic : found.all()) {
        Diagnostic& copy = noted.error(diagnostic.range, diagnostic.message);
        copy = diagnostic;
        if (copy.severity == Severity::error && choices->size() > 1)
          copy.note(source.type_parameters.front().name.range, fmt::format("with {}", binding_text(types)));
      }
      append(diagnostics, noted);
    } else if (report) {
      append(diagnostics, found);
    }
    if (!checked) return std::nullopt;
  }
  return checked;
}

std::shared_ptr<const Function> finished(Function function) {
  function.canonical_text = canonical_text(function);
  return std::make_shared<const Function>(std::move(function));
}

}  // namespace

std::optional<Program> Program::compile(const SourceSet& sources, DiagnosticBag& diagnostics) {
  auto state = std::make_shared<State>();
  state->modules = parse(sources, diagnostics);
  register_functions(state->modules, state->table, diagnostics);
  if (state->table.functions.empty() && !diagnostics.has_errors() && sources.size() > 0)
    diagnostics.error({},
                      "there is no function in this source; one is written fn double(x: f32[N]) -> y: f32[N] "
                      "{ y[i] = 2 * x[i] }");
  for (const ast::Function* function : order_functions(state->table, diagnostics)) {
    if (diagnostics.full()) break;
    auto checked = state->table.failed.contains(function) && !function->incomplete
                       ? std::nullopt
                       : check_choices(state->table, *function, diagnostics);
    if (!checked)
      state->table.failed.insert(function);
    else if (function->type_parameters.empty())
      state->instances.emplace(instance_key(function->name.text, {}), finished(std::move(*checked)));
  }
  diagnostics.sort();
  if (diagnostics.has_errors()) return std::nullopt;
  for (const ast::Function* function : state->table.functions)
    state->signatures.push_back(signature_of(*function));
  Program program;
  program.state_ = std::move(state);
  return program;
}

const std::vector<Signature>& Program::signatures() const { return state_->signatures; }

const Signature* Program::find(std::string_view function) const {
  const auto found = state_->table.by_name.find(function);
  return found == state_->table.by_name.end() ? nullptr : &state_->signatures[found->second];
}

namespace {

core::Error usage(std::string message) { return {core::ErrorKind::usage, std::move(message)}; }

/// Each generic name set, and to a type that it may be.
core::Result<void> check_types(const Signature& signature, const TypeBinding& types) {
  for (const auto& [name, allowed] : signature.generics) {
    const auto chosen = types.find(name);
    if (chosen == types.end())
      return usage(fmt::format(
          "no argument tells type {0} of '{1}': set it, .with(\"{0}\", ek::{2}) or --type {0}={2}", name,
          signature.name, core::dtype_name(allowed.back())));
    if (std::find(allowed.begin(), allowed.end(), chosen->second) != allowed.end()) continue;
    std::string choices;
    for (const DType type : allowed)
      choices += fmt::format("{}{}", choices.empty() ? "" : ", ", core::dtype_name(type));
    return usage(fmt::format("type {} of '{}' may be {}, not {}", name, signature.name, choices,
                             core::dtype_name(chosen->second)));
  }
  for (const auto& [name, type] : types) {
    const bool declared =
        std::any_of(signature.generics.begin(), signature.generics.end(),
                    [&, &wanted = name](const auto& generic) { return generic.first == wanted; });
    if (!declared) return usage(fmt::format("'{}' has no type parameter {}", signature.name, name));
  }
  return {};
}

}  // namespace

core::Result<TypeBinding> Program::deduce(const Signature& signature,
                                          const std::vector<std::optional<DType>>& arguments,
                                          const TypeBinding& given) const {
  TypeBinding types = given;
  std::map<std::string, std::string> origins;
  for (std::size_t i = 0; i < std::min(arguments.size(), signature.parameters.size()); ++i) {
    const SignatureItem& parameter = signature.parameters[i];
    if (parameter.generic.empty() || !arguments[i]) continue;
    const auto [known, added] = types.emplace(parameter.generic, *arguments[i]);
    if (added) origins[parameter.generic] = fmt::format(" by argument '{}'", parameter.name);
    const bool converts = parameter.kind == SignatureItem::Kind::scalar;  // a host value takes any type
    if (known->second != *arguments[i] && !converts)
      return usage(fmt::format("type {} of '{}' is {}{}, but argument '{}' holds {}", parameter.generic,
                               signature.name, core::dtype_name(known->second), origins[parameter.generic],
                               parameter.name, core::dtype_name(*arguments[i])));
  }
  for (const auto& [name, allowed] : signature.generics)
    if (allowed.size() == 1) types.emplace(name, allowed.front());
  EINKERN_CHECK_OK(check_types(signature, types));
  return types;
}

core::Result<std::shared_ptr<const Function>> Program::instantiate(std::string_view function,
                                                                   const TypeBinding& types) const {
  const Signature* signature = find(function);
  if (!signature) return usage(fmt::format("there is no function '{}'", function));
  EINKERN_CHECK_OK(check_types(*signature, types));
  const std::string key = instance_key(function, types);
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto known = state_->instances.find(key); known != state_->instances.end())
      return known->second;
  }
  DiagnosticBag diagnostics;
  auto checked = FunctionChecker(state_->table, *state_->table.find(function), types, diagnostics).check();
  if (!checked)
    return core::Error{
        core::ErrorKind::compile,
        fmt::format("'{}' with {}: {}", function, binding_text(types), diagnostics.all().front().message)};
  auto instance = finished(std::move(*checked));
  const std::lock_guard lock(state_->mutex);
  return state_->instances.emplace(key, std::move(instance)).first->second;  // whoever came first wins
}

}  // namespace einkern::dsl
