#include "dsl/program.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "core/dtype.h"
#include "dsl/checker.h"
#include "dsl/parser.h"
#include "dsl/printer.h"

namespace einkern::dsl {

struct Program::State {
  std::vector<ast::Module> modules;
  FunctionTable functions;
  std::vector<Signature> signatures;
  std::mutex mutex;
  std::map<std::pair<std::string, TypeBinding>, std::shared_ptr<const Function>> instances;
};

namespace {

std::string one_line(std::string_view text) {
  std::string result;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

SignatureItem item_of(const ast::Function& function, const ast::Identifier& name, const ast::Identifier& type,
                      const std::vector<ast::ExpressionPointer>& shape) {
  SignatureItem item{.name = name.text};
  for (const auto& dimension : shape) item.shape.push_back(expression_text(*dimension));
  item.dtype = core::parse_dtype(type.text).value_or(DType::f32);
  for (const ast::TypeParameter& parameter : function.type_parameters)
    if (parameter.name.text == type.text) item.generic = type.text;
  return item;
}

Signature signature_of(const ast::Function& function, const SourceSet& sources) {
  Signature signature{.name = function.name.text, .documentation = function.documentation};
  for (const ast::TypeParameter& parameter : function.type_parameters)
    signature.generics.emplace_back(parameter.name.text, expand_choices(parameter));
  for (const ast::Parameter& parameter : function.parameters) {
    SignatureItem item = item_of(function, parameter.name, parameter.type, parameter.shape);
    item.kind = parameter.is_dim                                 ? SignatureItem::Kind::dim
                : parameter.shape.empty() && !parameter.is_inout ? SignatureItem::Kind::scalar
                                                                 : SignatureItem::Kind::tensor;
    item.has_default = parameter.default_value != nullptr;
    item.inout = parameter.is_inout;
    signature.parameters.push_back(std::move(item));
  }
  for (const ast::ResultDeclaration& result : function.results)
    signature.results.push_back(item_of(function, result.name, result.type, result.shape));
  signature.text = one_line(sources.text(function.signature));
  return signature;
}

/// Functions that `function` calls, and so on, in the order of their names.
void callees(const ast::Expression& expression, const FunctionTable& functions,
             std::set<std::string>& names) {
  if (const auto* call = expression.as<ast::Call>()) {
    const auto it = functions.find(call->callee.text);
    if (it != functions.end() && names.insert(call->callee.text).second)
      for (const ast::Definition& definition : it->second->body) callees(*definition.value, functions, names);
  }
  for (const ast::Expression* child : ast::children(expression)) callees(*child, functions, names);
}

std::string canonical_text_of(const ast::Function& function, const TypeBinding& types,
                              const FunctionTable& functions) {
  std::set<std::string> names;
  for (const ast::Definition& definition : function.body) callees(*definition.value, functions, names);
  std::string text;
  for (const auto& [generic, type] : types)
    text += "# " + generic + " = " + std::string(core::dtype_name(type)) + "\n";
  text += canonical_text(function);
  for (const std::string& name : names)
    if (name != function.name.text) text += "\n" + canonical_text(*functions.find(name)->second);
  return text;
}

/// One binding for each choice of compute types that the generics allow, at most 64: more choices check the
/// same rules.
std::vector<TypeBinding> representative_bindings(const ast::Function& function) {
  std::vector<TypeBinding> bindings = {{}};
  for (const ast::TypeParameter& parameter : function.type_parameters) {
    std::vector<TypeBinding> next;
    std::set<DType> seen;
    for (DType type : expand_choices(parameter)) {
      if (!seen.insert(core::compute_type(type)).second) continue;
      for (const TypeBinding& binding : bindings) {
        if (next.size() >= 64) break;
        TypeBinding more = binding;
        more[parameter.name.text] = type;
        next.push_back(std::move(more));
      }
    }
    bindings = std::move(next);
  }
  return bindings;
}

void check_generics(const ast::Function& function, DiagnosticBag& bag) {
  std::set<std::string> names;
  for (const ast::TypeParameter& parameter : function.type_parameters) {
    if (!names.insert(parameter.name.text).second)
      bag.error(parameter.name.range, "the type `" + parameter.name.text + "` is declared twice");
    for (const ast::Identifier& choice : parameter.choices)
      if (!core::parse_dtype(choice.text) && choice.text != "float" && choice.text != "int" &&
          choice.text != "any")
        bag.error(choice.range, "no type is called `" + choice.text +
                                    "`: a choice is an element type, or float, int or any");
  }
}

/// Adds one check's diagnostics, once each: other type choices find the same faults.
void merge(const DiagnosticBag& found, DiagnosticBag& into) {
  for (const Diagnostic& diagnostic : found.all()) {
    const auto same = [&](const Diagnostic& d) {
      return d.range == diagnostic.range && d.message == diagnostic.message;
    };
    if (std::any_of(into.all().begin(), into.all().end(), same)) continue;
    Diagnostic& added = diagnostic.severity == Severity::error
                            ? into.error(diagnostic.range, diagnostic.message)
                            : into.warning(diagnostic.range, diagnostic.message);
    added = diagnostic;
  }
}

}  // namespace

std::optional<Program> Program::compile(const SourceSet& sources, DiagnosticBag& diagnostics) {
  Program program;
  program.state_ = std::make_shared<State>();
  State& state = *program.state_;
  state.modules = parse(sources, diagnostics);
  for (const ast::Module& module : state.modules)
    for (const ast::Function& function : module.functions) {
      const auto [it, inserted] = state.functions.emplace(function.name.text, &function);
      if (!inserted) {
        diagnostics.error(function.name.range, "the function `" + function.name.text + "` is defined twice")
            .note(it->second->name.range, "first defined here");
        continue;
      }
      check_generics(function, diagnostics);
      state.signatures.push_back(signature_of(function, sources));
    }
  if (state.functions.empty() && !diagnostics.has_errors() && sources.size() > 0)
    diagnostics.error(
        {},
        "no function stands here: write one, as in `fn double(x: f32[N]) -> y: f32[N] { y[i] = 2 * x[i] }`");
  for (const ast::Module& module : state.modules)
    for (const ast::Function& function : module.functions)
      for (const TypeBinding& types : representative_bindings(function)) {
        if (diagnostics.full()) return std::nullopt;
        DiagnosticBag found;
        (void)Checker(state.functions, found).check(function, types);
        merge(found, diagnostics);
      }
  if (diagnostics.has_errors()) return std::nullopt;
  return program;
}

const std::vector<Signature>& Program::signatures() const { return state_->signatures; }

const Signature* Program::find(std::string_view function) const {
  const auto it = std::find_if(state_->signatures.begin(), state_->signatures.end(),
                               [&](const Signature& signature) { return signature.name == function; });
  return it == state_->signatures.end() ? nullptr : &*it;
}

core::Result<TypeBinding> Program::deduce(const Signature& signature,
                                          const std::vector<std::optional<DType>>& arguments,
                                          const TypeBinding& given) const {
  TypeBinding types = given;
  const auto usage = [](std::string message) {
    return core::Error{core::ErrorKind::usage, std::move(message)};
  };
  for (const auto& [name, type] : given)
    if (std::none_of(signature.generics.begin(), signature.generics.end(),
                     [&](const auto& g) { return g.first == name; }))
      return usage(signature.name + " has no generic type `" + name + "`: " + signature.text);
  for (std::size_t i = 0; i < signature.parameters.size() && i < arguments.size(); ++i) {
    const SignatureItem& item = signature.parameters[i];
    if (item.generic.empty() || !arguments[i] || item.kind != SignatureItem::Kind::tensor) continue;
    const auto [it, inserted] = types.emplace(item.generic, *arguments[i]);
    if (it->second != *arguments[i])
      return usage("argument " + item.name + " of " + signature.name + " is " +
                   std::string(core::dtype_name(*arguments[i])) + ", but " + item.generic + " is " +
                   std::string(core::dtype_name(it->second)) + " already");
  }
  for (const auto& [generic, allowed] : signature.generics) {
    const auto it = types.find(generic);
    if (it == types.end())
      return usage("the type " + generic + " of " + signature.name +
                   " cannot be deduced: set it with --type " + generic + "=f32 or .with(\"" + generic +
                   "\", ek::f32)");
    if (std::find(allowed.begin(), allowed.end(), it->second) == allowed.end())
      return usage(generic + " of " + signature.name + " may not be " +
                   std::string(core::dtype_name(it->second)) + ": " + signature.text);
  }
  return types;
}

core::Result<std::shared_ptr<const Function>> Program::instantiate(std::string_view function,
                                                                   const TypeBinding& types) const {
  const auto it = state_->functions.find(function);
  if (it == state_->functions.end())
    return core::Error{core::ErrorKind::usage, "the program has no function `" + std::string(function) + "`"};
  const std::lock_guard lock(state_->mutex);
  auto& instance = state_->instances[{std::string(function), types}];
  if (instance) return instance;
  DiagnosticBag found;
  auto checked = Checker(state_->functions, found).check(*it->second, types);
  if (!checked) {
    std::string message = "`" + std::string(function) + "` does not hold for these types";
    for (const Diagnostic& diagnostic : found.all()) message += "; " + diagnostic.message;
    return core::Error{core::ErrorKind::compile, message};
  }
  checked->canonical_text = canonical_text_of(*it->second, types, state_->functions);
  instance = std::make_shared<const Function>(std::move(*checked));
  return instance;
}

}  // namespace einkern::dsl
