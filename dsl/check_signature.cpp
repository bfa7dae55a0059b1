// The signature: types, dims and where they come from, parameters, results, constraints.
#include <algorithm>

#include "core/dtype.h"
#include "dsl/checker.h"
#include "dsl/printer.h"

namespace einkern::dsl {
namespace {

const std::vector<DType> float_types = {DType::f8e4m3, DType::f8e5m2, DType::f16,
                                        DType::bf16,   DType::f32,    DType::f64};
const std::vector<DType> integer_types = {DType::i8, DType::i16, DType::i32, DType::i64,
                                          DType::u8, DType::u16, DType::u32, DType::u64};

/// The names in an expression over dims, in order.
void names_in(const ast::Expression& expression, std::vector<ast::Identifier>& names) {
  if (const auto* name = expression.as<ast::Name>()) names.push_back({name->text, expression.range});
  for (const ast::Expression* child : ast::children(expression)) names_in(*child, names);
}

/// Whether a dimension is `a * N + b` with literals a and b (either may be missing), so that it gives N its
/// value.
bool solves(const ast::Expression& dimension, std::string_view name) {
  if (const auto* bare = dimension.as<ast::Name>()) return bare->text == name;
  const auto* binary = dimension.as<ast::Binary>();
  if (!binary) return false;
  const bool left_number = binary->left->as<ast::Number>() != nullptr;
  const bool right_number = binary->right->as<ast::Number>() != nullptr;
  switch (binary->operation) {
    case ast::BinaryOperator::add:
    case ast::BinaryOperator::multiply:
      return (left_number && solves(*binary->right, name)) || (right_number && solves(*binary->left, name));
    case ast::BinaryOperator::subtract:
      return right_number && solves(*binary->left, name);
    default:
      return false;
  }
}

}  // namespace

std::vector<DType> expand_choices(const ast::TypeParameter& parameter) {
  std::vector<DType> types;
  for (const ast::Identifier& choice : parameter.choices) {
    const auto add = [&](const std::vector<DType>& set) {
      types.insert(types.end(), set.begin(), set.end());
    };
    if (choice.text == "float" || choice.text == "any") add(float_types);
    if (choice.text == "int" || choice.text == "any") add(integer_types);
    if (choice.text == "any") types.push_back(DType::boolean);
    if (const auto type = core::parse_dtype(choice.text)) types.push_back(*type);
  }
  return types;
}

std::optional<Function> Checker::check(const ast::Function& function, const TypeBinding& types) {
  const int errors_before = bag_->error_count();
  Frame top{.function = &function, .types = types};
  frame_ = &top;
  call_stack_ = {&function};
  function_.name = function.name.text;
  function_.documentation = function.documentation;
  check_precision(function);
  declare_dims(function);
  declare_where(function);
  declare_parameters(function);
  declare_results(function);
  check_dims_are_bound(function);
  if (!function.incomplete && bag_->error_count() == errors_before) check_body(function);
  frame_ = nullptr;
  if (function.incomplete || bag_->error_count() != errors_before) return std::nullopt;
  return std::move(function_);
}

bool Checker::declare(const ast::Identifier& name, std::variant<TensorSymbol, ValueSymbol> meaning) {
  const auto [it, inserted] = frame().symbols.emplace(name.text, Symbol{std::move(meaning), name.range});
  if (!inserted)
    error(name.range, "`" + name.text + "` is declared twice").note(it->second.where, "first declared here");
  return inserted;
}

std::optional<DType> Checker::resolve_type(const ast::Identifier& name) {
  if (const auto type = core::parse_dtype(name.text)) return type;
  const auto it = frame().types.find(name.text);
  if (it != frame().types.end()) return it->second;
  std::vector<std::string_view> candidates;
  for (int i = 0; i < core::dtype_count; ++i) candidates.push_back(core::dtype_name(static_cast<DType>(i)));
  for (const auto& [generic, type] : frame().types) candidates.push_back(generic);
  Diagnostic& diagnostic = error(name.range, "no type is called `" + name.text + "`");
  if (const auto near = nearest_name(name.text, candidates); !near.empty())
    diagnostic.replace(name.range, std::string(near));
  return std::nullopt;
}

void Checker::check_precision(const ast::Function& function) {
  using Kind = Precision::Kind;
  for (const ast::Attribute& attribute : function.attributes) {
    if (attribute.name.text == "atomics") continue;  // it permits; updates in order are always allowed
    if (attribute.name.text != "precision") {
      error(attribute.name.range,
            "no attribute is called `@" + attribute.name.text + "`: there are @precision and @atomics");
      continue;
    }
    const ast::Expression* argument =
        attribute.arguments.size() == 1 ? attribute.arguments[0].get() : nullptr;
    const auto* comparison = argument ? argument->as<ast::Comparison>() : nullptr;
    const auto* name = argument ? argument->as<ast::Name>() : nullptr;
    const auto* type = argument ? argument->as<ast::TypeName>() : nullptr;
    const std::string word = name ? name->text : type ? type->text : "";
    if (word == "exact") {
      function_.precision = {};
    } else if (word == "tf32" || word == "bf16" || word == "f16") {
      function_.precision.kind = word == "tf32" ? Kind::tf32 : word == "bf16" ? Kind::bf16 : Kind::f16;
    } else if (const auto* bound = comparison && comparison->operands.size() == 2 &&
                                           comparison->comparators[0] == ast::Comparator::less &&
                                           comparison->operands[0]->as<ast::Name>() &&
                                           comparison->operands[0]->as<ast::Name>()->text == "error"
                                       ? comparison->operands[1]->as<ast::Number>()
                                       : nullptr) {
      function_.precision = {.kind = Kind::bounded, .bound = bound->real};
    } else {
      error(attribute.range, "@precision takes exact, tf32, bf16, f16, or a bound as in `error < 1e-5`");
    }
  }
}

void Checker::declare_dims(const ast::Function& function) {
  // `where A == B` makes two dims one: B then is another name of A.
  std::map<std::string, std::string> same;
  for (const ast::WhereItem& item : function.where) {
    const auto* comparison = item.derived ? nullptr : item.expression->as<ast::Comparison>();
    if (!comparison || comparison->operands.size() != 2 ||
        comparison->comparators[0] != ast::Comparator::equal)
      continue;
    const auto* left = comparison->operands[0]->as<ast::Name>();
    const auto* right = comparison->operands[1]->as<ast::Name>();
    if (left && right && !same.contains(right->text)) same[right->text] = left->text;
  }
  const auto add = [&](const ast::Identifier& name, DimSource source) {
    const DimId id{static_cast<std::int32_t>(function_.dims.size())};
    if (!declare(name, ValueSymbol{ValueSymbol::Kind::dim, rules_.node(arena().dim(id)), {}})) return;
    function_.dims.push_back({name.text, source, std::nullopt, name.range});
  };
  for (const ast::Parameter& parameter : function.parameters)
    if (parameter.is_dim) add(parameter.name, DimSource::parameter);
  for (const ast::WhereItem& item : function.where)
    if (item.derived) add(*item.derived, DimSource::derived);
  std::vector<ast::Identifier> names;
  for (const ast::Parameter& parameter : function.parameters)
    for (const auto& dimension : parameter.shape) names_in(*dimension, names);
  for (const ast::Identifier& name : names)
    if (!frame().symbols.contains(name.text) && !same.contains(name.text)) add(name, DimSource::shape);
  for (const ast::Identifier& name : names) {
    if (frame().symbols.contains(name.text)) continue;
    std::string root = name.text;
    for (std::size_t hops = 0; same.contains(root) && hops < same.size(); ++hops) root = same[root];
    const Symbol* symbol = find(root);
    if (symbol && root != name.text)
      declare(name, symbol->meaning);
    else
      add(name, DimSource::shape);
  }
}

void Checker::declare_where(const ast::Function& function) {
  for (const ast::WhereItem& item : function.where) {
    const Value value = check_value(*item.expression);
    if (!item.derived) {
      const Value condition = rules_.boolean(value, item.range);
      if (condition.failed()) continue;
      function_.constraints.push_back(condition.id);
      function_.constraint_texts.push_back(expression_text(*item.expression));
      continue;
    }
    const Value extent = rules_.index(value, item.range);
    if (extent.failed()) continue;
    for (Dim& dim : function_.dims)
      if (dim.name == item.derived->text) dim.value = extent.id;
  }
}

std::vector<ExpressionId> Checker::check_shape(const std::vector<ast::ExpressionPointer>& shape) {
  std::vector<ExpressionId> ids;
  for (const auto& dimension : shape) {
    const Value value = rules_.index(check_value(*dimension), dimension->range);
    ids.push_back(value.failed() ? arena().constant_integer(DType::i64, 0) : value.id);
  }
  return ids;
}

void Checker::declare_parameters(const ast::Function& function) {
  for (const ast::Parameter& parameter : function.parameters) {
    if (parameter.is_dim) {
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(function_.dims.size()); ++i) {
        Dim& dim = function_.dims[static_cast<std::size_t>(i)];
        if (dim.name != parameter.name.text) continue;
        function_.parameters.emplace_back(DimId{i});
        if (!parameter.default_value) continue;
        const Value value =
            rules_.index(check_value(*parameter.default_value), parameter.default_value->range);
        if (!value.failed()) dim.value = value.id;
      }
      continue;
    }
    const auto type = resolve_type(parameter.type);
    if (!type) continue;
    if (parameter.shape.empty() && !parameter.is_inout) {
      Scalar scalar{parameter.name.text, *type, std::nullopt, parameter.name.range};
      if (parameter.default_value) {
        const Value value = rules_.convert(check_value(*parameter.default_value), core::compute_type(*type),
                                           parameter.default_value->range);
        if (!value.failed()) scalar.default_value = value.id;
      }
      const ScalarId id{static_cast<std::int32_t>(function_.scalars.size())};
      const Value value = rules_.node(arena().scalar(id, core::compute_type(*type)));
      if (!declare(parameter.name, ValueSymbol{ValueSymbol::Kind::scalar, value, {}})) continue;
      function_.scalars.push_back(std::move(scalar));
      function_.parameters.emplace_back(id);
      continue;
    }
    const TensorId id{static_cast<std::int32_t>(function_.tensors.size())};
    TensorSymbol symbol{.dtype = *type,
                        .shape = check_shape(parameter.shape),
                        .tensor = id,
                        .defined = true,
                        .is_inout = parameter.is_inout};
    function_.tensors.push_back({parameter.name.text, *type, symbol.shape,
                                 parameter.is_inout ? TensorRole::inout : TensorRole::input,
                                 parameter.name.range});
    tensor_names_.insert(parameter.name.text);
    function_.parameters.emplace_back(id);
    declare(parameter.name, std::move(symbol));
  }
}

void Checker::declare_results(const ast::Function& function) {
  for (const ast::ResultDeclaration& result : function.results) {
    const auto type = resolve_type(result.type);
    if (!type) continue;
    const TensorId id{static_cast<std::int32_t>(function_.tensors.size())};
    TensorSymbol symbol{.dtype = *type, .shape = check_shape(result.shape), .tensor = id, .is_result = true};
    function_.tensors.push_back(
        {result.name.text, *type, symbol.shape, TensorRole::output, result.name.range});
    tensor_names_.insert(result.name.text);
    function_.results.push_back(id);
    declare(result.name, std::move(symbol));
  }
  if (function.results.empty() && std::none_of(function.parameters.begin(), function.parameters.end(),
                                               [](const ast::Parameter& p) { return p.is_inout; }))
    error(function.name.range,
          "`" + function.name.text + "` has neither a result (`-> y: f32[N]`) nor an `inout` tensor");
}

void Checker::check_dims_are_bound(const ast::Function& function) {
  for (const Dim& dim : function_.dims) {
    if (dim.source != DimSource::shape) continue;
    const bool bound =
        std::any_of(function.parameters.begin(), function.parameters.end(), [&](const ast::Parameter& p) {
          return std::any_of(p.shape.begin(), p.shape.end(),
                             [&](const auto& dimension) { return solves(*dimension, dim.name); });
        });
    if (!bound)
      error(dim.where, "nothing gives `" + dim.name + "` its value: a shape must hold it alone (or as `2 * " +
                           dim.name + " + 1`), or derive it with `where " + dim.name +
                           " = …`, or pass it as `" + dim.name + ": dim`");
  }
  // A derivation that needs itself has no value.
  std::vector<int> state(function_.dims.size(), 0);  // 0 new, 1 being visited, 2 done
  const std::function<bool(std::size_t)> acyclic = [&](std::size_t i) {
    if (state[i] == 2) return true;
    if (state[i] == 1) return false;
    state[i] = 1;
    bool fine = true;
    if (function_.dims[i].value)
      visit_nodes(arena(), *function_.dims[i].value, [&](ExpressionId id) {
        if (arena()[id].op == Op::dim) fine = fine && acyclic(static_cast<std::size_t>(arena()[id].index));
      });
    state[i] = 2;
    return fine;
  };
  for (std::size_t i = 0; i < function_.dims.size(); ++i)
    if (!acyclic(i))
      error(function_.dims[i].where, "`" + function_.dims[i].name + "` is derived from itself");
}

}  // namespace einkern::dsl
