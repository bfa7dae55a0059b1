// The part of FunctionChecker that reads signatures: attributes, dims, parameters, results.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dsl/check.h"
#include "dsl/limits.h"
#include "dsl/printer.h"

namespace einkern::dsl {
namespace {

std::optional<Precision::Kind> precision_named(std::string_view name) {
  if (name == "exact") return Precision::Kind::exact;
  if (name == "tf32") return Precision::Kind::tf32;
  if (name == "bf16") return Precision::Kind::bf16;
  if (name == "f16") return Precision::Kind::f16;
  return std::nullopt;
}

/// `error < 1e-5` with a positive bound.
std::optional<double> error_bound(const ast::Expression& argument) {
  const auto* comparison = argument.as<ast::Comparison>();
  if (!comparison || comparison->comparators != std::vector{ast::Comparator::less}) return std::nullopt;
  const auto* word = comparison->operands[0]->as<ast::Name>();
  const auto* bound = comparison->operands[1]->as<ast::Number>();
  if (!word || word->text != "error" || !bound || !(bound->real > 0)) return std::nullopt;
  return bound->real;
}

std::optional<Precision> precision_of(const ast::Attribute& attribute) {
  if (attribute.arguments.size() != 1) return std::nullopt;
  const ast::Expression& argument = *attribute.arguments[0];
  if (const auto bound = error_bound(argument)) return Precision{Precision::Kind::bounded, *bound};
  std::string word;
  if (const auto* name = argument.as<ast::Name>()) word = name->text;
  if (const auto* type = argument.as<ast::TypeName>()) word = type->text;
  const auto kind = precision_named(word);
  return kind ? std::optional(Precision{*kind, 0}) : std::nullopt;
}

std::string_view kind_name(Symbol::Kind kind) {
  return kind == Symbol::Kind::dim ? "a dim" : kind == Symbol::Kind::scalar ? "a scalar" : "a tensor";
}

}  // namespace

std::optional<Precision> find_precision(const ast::Function& source) {
  for (const ast::Attribute& attribute : source.attributes)
    if (attribute.name.text == "precision") return precision_of(attribute);
  return std::nullopt;
}

std::vector<DType> allowed_types(const ast::TypeParameter& parameter, DiagnosticBag& diagnostics) {
  static const std::vector<DType> floats = {DType::f8e4m3, DType::f8e5m2, DType::f16,
                                            DType::bf16,   DType::f32,    DType::f64};
  static const std::vector<DType> integers = {DType::i8, DType::i16, DType::i32, DType::i64,
                                              DType::u8, DType::u16, DType::u32, DType::u64};
  std::vector<DType> types;
  const auto add = [&](DType type) {
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  };
  for (const ast::Identifier& choice : parameter.choices) {
    const auto type = core::parse_dtype(choice.text);
    const bool any = choice.text == "any";
    if (type) add(*type);
    if (any) add(DType::boolean);
    if (any || choice.text == "int") std::for_each(integers.begin(), integers.end(), add);
    if (any || choice.text == "float") std::for_each(floats.begin(), floats.end(), add);
    if (!type && !any && choice.text != "int" && choice.text != "float")
      diagnostics.error(choice.range, fmt::format("`{}` is no type; the sets of types are float, int and any",
                                                  choice.text));
  }
  return types;
}

FunctionChecker::FunctionChecker(const FunctionTable& table, const ast::Function& source,
                                 const std::map<std::string, DType, std::less<>>& types,
                                 DiagnosticBag& diagnostics)
    : table_(table),
      source_(source),
      diagnostics_(&diagnostics),
      typing_(function_.arena, diagnostics_),
      sizes_(function_) {
  function_.name = source.name.text;
  function_.documentation = source.documentation;
  top_.source = &source;
  top_.types = types;
  frame_ = &top_;
}

std::optional<Function> FunctionChecker::check() {
  const int errors_before = diagnostics_->error_count();
  check_attributes(source_);
  for (const ast::TypeParameter& parameter : source_.type_parameters)
    taken_names_.insert(parameter.name.text);
  top_.dims_only = true;
  const int errors_before_signature = diagnostics_->error_count();
  declare_dims(source_);
  std::vector<std::vector<ExpressionId>> shapes;
  for (const ast::Parameter& parameter : source_.parameters) shapes.push_back(shape_of(parameter.shape));
  check_where(source_);
  declare_parameters(source_, shapes);
  declare_results(source_);
  require_bound_dims();
  top_.dims_only = false;
  // In a body whose shapes or types are unknown, one mistake would be told many times.
  const bool unclear = source_.incomplete || diagnostics_->error_count() > errors_before_signature;
  if (unclear) return std::nullopt;
  check_body(source_);
  require_defined_results();
  const bool fine = diagnostics_->error_count() == errors_before && !diagnostics_->full();
  if (!fine) return std::nullopt;
  warn_about_unused();
  return std::move(function_);
}

void FunctionChecker::check_attributes(const ast::Function& source) {
  static constexpr std::string_view known[] = {"precision", "atomics"};
  std::set<std::string_view> seen;
  for (const ast::Attribute& attribute : source.attributes) {
    const std::string_view name = attribute.name.text;
    if (std::find(std::begin(known), std::end(known), name) == std::end(known)) {
      Diagnostic& diagnostic = error(attribute.name.range, fmt::format("there is no attribute `@{}`", name));
      const std::string_view meant = nearest_name(name, known);
      if (!meant.empty()) diagnostic.replace(attribute.name.range, std::string(meant));
      continue;
    }
    if (!seen.insert(name).second) error(attribute.range, fmt::format("`@{}` stands twice", name));
    // `@atomics` allows any order of the terms of a float `+=`. All schedules add in order, which it allows
    // too, so it changes nothing in a function.
    if (name == "atomics") {
      if (!attribute.arguments.empty()) error(attribute.range, "`@atomics` takes no arguments");
    } else if (const auto precision = precision_of(attribute)) {
      function_.precision = *precision;
    } else {
      error(attribute.range, "`@precision` takes exact, tf32, bf16, f16, or a bound such as error < 1e-5");
    }
  }
}

std::optional<DType> FunctionChecker::type_named(const ast::Identifier& name) {
  if (const auto generic = frame().types.find(name.text); generic != frame().types.end())
    return generic->second;
  if (const auto type = core::parse_dtype(name.text)) return type;
  Diagnostic& diagnostic = error(name.range, fmt::format("`{}` is no type", name.text));
  std::vector<std::string_view> names;
  for (int i = 0; i < core::dtype_count; ++i) names.push_back(core::dtype_name(static_cast<DType>(i)));
  for (const auto& [generic, type] : frame().types) names.push_back(generic);
  const std::string_view meant = nearest_name(name.text, names);
  if (!meant.empty()) diagnostic.replace(name.range, std::string(meant));
  return std::nullopt;
}

/// Makes a name known; an error if it already is.
bool FunctionChecker::declare(const ast::Identifier& name, Symbol symbol) {
  symbol.where = name.range;
  const auto [place, added] = frame().symbols.emplace(name.text, std::move(symbol));
  if (frame_ == &top_) taken_names_.insert(name.text);
  if (added) return true;
  error(name.range, fmt::format("`{}` is already {}", name.text, kind_name(place->second.kind)))
      .note(place->second.where, "declared here");
  return false;
}

/// A dimension, or another integer over dims.
std::optional<ExpressionId> FunctionChecker::size(const ast::Expression& expression, std::string_view what) {
  return typing_.convert_to_index(operand(expression), what);
}

std::vector<ExpressionId> FunctionChecker::shape_of(const std::vector<ast::ExpressionPointer>& shape) {
  std::vector<ExpressionId> extents;
  for (const ast::ExpressionPointer& dimension : shape) {
    const auto extent = size(*dimension, "a dimension");
    const auto number = extent ? constant_value(arena(), *extent) : std::nullopt;
    if (number && *number < 0) error(dimension->range, "a dimension is not negative");
    extents.push_back(extent ? *extent : index_constant(0));  // an error has been reported
  }
  return extents;
}

void FunctionChecker::declare_parameters(const ast::Function& source,
                                         const std::vector<std::vector<ExpressionId>>& shapes) {
  const ast::Parameter* optional = nullptr;
  for (std::size_t i = 0; i < source.parameters.size(); ++i) {
    const ast::Parameter& parameter = source.parameters[i];
    if (parameter.default_value) optional = &parameter;
    if (optional && !parameter.default_value)
      error(parameter.name.range, fmt::format("`{}` has no default, but stands after `{}`, which has one",
                                              parameter.name.text, optional->name.text))
          .note(optional->name.range, "only trailing parameters may have defaults");
    if (parameter.is_dim) {
      function_.parameters.emplace_back(DimId{arena()[frame().find(parameter.name.text)->value.id].index});
      continue;
    }
    const auto type = type_named(parameter.type);
    const bool is_tensor = !parameter.shape.empty() || parameter.is_inout;
    if (is_tensor && parameter.default_value)
      error(parameter.default_value->range,
            "a tensor has no default; trailing scalars and dims may have one");
    if (is_tensor)
      declare_tensor(parameter.name, type.value_or(DType::f32), shapes[i],
                     parameter.is_inout ? TensorRole::inout : TensorRole::input);
    else
      declare_scalar(parameter, type.value_or(DType::f32));
    if (!type)
      if (Symbol* symbol = frame().find(parameter.name.text)) symbol->failed = true;
  }
}

void FunctionChecker::declare_scalar(const ast::Parameter& parameter, DType type) {
  Scalar scalar{parameter.name.text, type, std::nullopt, parameter.name.range};
  if (parameter.default_value) {
    const Operand value = operand(*parameter.default_value);
    scalar.default_value = typing_.convert_for_store(value, type, parameter.name.text);
  }
  const ScalarId id{static_cast<std::int32_t>(function_.scalars.size())};
  function_.scalars.push_back(std::move(scalar));
  function_.parameters.emplace_back(id);
  Symbol symbol;
  symbol.kind = Symbol::Kind::scalar;
  symbol.value = Value::typed(arena(), arena().scalar(id, core::compute_type(type)));
  symbol.dtype = type;
  symbol.declared = true;
  declare(parameter.name, std::move(symbol));
}

void FunctionChecker::declare_tensor(const ast::Identifier& name, DType type, std::vector<ExpressionId> shape,
                                     TensorRole role) {
  const TensorId id{static_cast<std::int32_t>(function_.tensors.size())};
  Symbol symbol;
  symbol.kind = Symbol::Kind::tensor;
  symbol.view.tensor = id;
  symbol.view.positions.resize(shape.size());
  symbol.view.shape = shape;
  symbol.dtype = type;
  symbol.declared = true;
  symbol.input = role == TensorRole::input;
  symbol.inout = role == TensorRole::inout;
  symbol.defined = role != TensorRole::output;
  function_.tensors.push_back({name.text, type, std::move(shape), role, name.range});
  if (role == TensorRole::output)
    function_.results.push_back(id);
  else
    function_.parameters.emplace_back(id);
  declare(name, std::move(symbol));
}

void FunctionChecker::declare_results(const ast::Function& source) {
  for (const ast::ResultDeclaration& result : source.results) {
    const auto type = type_named(result.type);
    declare_tensor(result.name, type.value_or(DType::f32), shape_of(result.shape), TensorRole::output);
  }
  const bool writes =
      !source.results.empty() || std::any_of(source.parameters.begin(), source.parameters.end(),
                                             [](const auto& p) { return p.is_inout; });
  if (!writes && !source.incomplete)
    error(source.name.range,
          fmt::format("`{}` has neither a result nor an inout tensor, so it computes nothing",
                      source.name.text));
}

void FunctionChecker::require_defined_results() {
  for (const ast::ResultDeclaration& result : source_.results) {
    const Symbol* symbol = frame().find(result.name.text);
    if (!symbol->defined && !symbol->failed)
      error(result.name.range, fmt::format("the result `{}` is never defined", result.name.text));
  }
  for (const ast::Parameter& parameter : source_.parameters)
    if (parameter.is_inout && !frame().find(parameter.name.text)->updated)
      error(parameter.name.range, fmt::format("`{}` is inout, but nothing updates it", parameter.name.text));
}

void FunctionChecker::warn_about_unused() {
  for (const auto& [name, symbol] : top_.symbols) {
    const bool is_result =
        symbol.kind == Symbol::Kind::tensor && function_[symbol.view.tensor].role == TensorRole::output;
    if (symbol.used || is_result || symbol.inout) continue;
    const bool from_shape = symbol.kind == Symbol::Kind::dim &&
                            function_[DimId{arena()[symbol.value.id].index}].source == DimSource::shape;
    if (from_shape) continue;  // it says that the shape does not matter
    diagnostics_->warning(symbol.where, fmt::format("`{}` is never used", name));
  }
}

}  // namespace einkern::dsl
