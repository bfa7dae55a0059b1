// Calls of the program's own functions, by substitution: the callee's definitions become locals of the
// caller, with the caller's variables as leading dimensions where arguments depend on them; or formulas,
// where that costs nothing.
#include <algorithm>

#include "core/dtype.h"
#include "dsl/checker.h"
#include "dsl/printer.h"

namespace einkern::dsl {

bool Checker::is_scalar_function(const ast::Function& function) const {
  return std::all_of(function.parameters.begin(), function.parameters.end(),
                     [](const auto& p) { return p.shape.empty() && !p.is_inout; }) &&
         std::all_of(function.results.begin(), function.results.end(),
                     [](const auto& r) { return r.shape.empty(); }) &&
         std::all_of(function.body.begin(), function.body.end(), [](const ast::Definition& definition) {
           return definition.assignment == ast::Assignment::define && definition.targets.size() == 1 &&
                  definition.targets[0].indices.empty();
         });
}

std::optional<TensorSymbol> Checker::tensor_argument(const ast::Expression& argument) {
  const auto* index = argument.as<ast::Index>();
  const ast::Expression& base = index ? *index->base : argument;
  if (!base.as<ast::Name>()) {
    error(argument.range, "a tensor argument is a tensor's name or a slice, as in `x[b, :, :]`");
    return std::nullopt;
  }
  std::optional<TensorSymbol> storage;
  const TensorSymbol* symbol = tensor_base(base, storage);
  if (!symbol) return std::nullopt;
  TensorSymbol result = *symbol;
  if (!index) return result;
  if (index->subscripts.size() != result.shape.size()) {
    error(argument.range, "`" + expression_text(base) + "` has " + std::to_string(result.shape.size()) +
                              " dimensions, but " + std::to_string(index->subscripts.size()) + " stand here");
    return std::nullopt;
  }
  std::vector<ExpressionId> cut(result.shape.size());
  std::vector<ExpressionId> kept;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const ast::Subscript& subscript = index->subscripts[i];
    if (!subscript.expression) {
      kept.push_back(result.shape[i]);
      continue;
    }
    const Value value = rules_.index(check_value(*subscript.expression), subscript.range);
    if (value.failed()) return std::nullopt;
    if (!is_data_dependent(value.id))
      check_inside(value.id, result.shape[i], subscript.range, expression_text(base));
    cut[i] = value.id;
  }
  if (result.formula.valid()) {
    Substitution replace;
    std::vector<AxisId> axes;
    for (std::size_t i = 0; i < cut.size(); ++i)
      if (cut[i].valid())
        replace.axes[result.axes[i]] = cut[i];
      else
        axes.push_back(result.axes[i]);
    result.formula = substitute(arena(), result.formula, replace);
    result.axes = std::move(axes);
  } else {
    if (result.fixed.empty()) result.fixed.resize(cut.size());
    std::size_t next = 0;
    for (ExpressionId& fixed : result.fixed)
      if (!fixed.valid()) fixed = cut[next++];
  }
  result.shape = std::move(kept);
  return result;
}

bool Checker::bind_argument(const ast::Parameter& parameter, const ast::Expression& argument, Frame& callee,
                            const Frame& caller) {
  (void)caller;
  const auto generic =
      std::find_if(callee.function->type_parameters.begin(), callee.function->type_parameters.end(),
                   [&](const auto& t) { return t.name.text == parameter.type.text; });
  const bool is_generic = generic != callee.function->type_parameters.end();
  const auto bind_generic = [&](DType type) {
    const auto [it, inserted] = callee.types.emplace(parameter.type.text, type);
    const auto choices = expand_choices(*generic);
    if (it->second == type && std::find(choices.begin(), choices.end(), type) != choices.end()) return true;
    error(argument.range, "`" + parameter.type.text + "` of `" + callee.function->name.text +
                              "` cannot be `" + std::string(core::dtype_name(type)) + "` here")
        .note(generic->name.range, "its types are declared here");
    return false;
  };
  if (parameter.is_dim || (parameter.shape.empty() && !parameter.is_inout)) {
    Value value = rules_.settle(check_value(argument), argument.range);
    if (value.failed()) return false;
    if (parameter.is_dim) {
      value = rules_.index(value, argument.range);
      callee.symbols.emplace(parameter.name.text,
                             Symbol{ValueSymbol{ValueSymbol::Kind::dim, value, {}}, parameter.name.range});
      return !value.failed();
    }
    if (is_generic && !callee.types.contains(parameter.type.text) && !bind_generic(value.type)) return false;
    const auto type = is_generic ? callee.types[parameter.type.text]
                                 : core::parse_dtype(parameter.type.text).value_or(DType::f32);
    value = rules_.convert(value, core::compute_type(type), argument.range);
    if (value.failed()) return false;
    if (core::is_storage(type)) value = rules_.cast(value, type, argument.range);
    callee.symbols.emplace(parameter.name.text,
                           Symbol{ValueSymbol{ValueSymbol::Kind::scalar, value, {}}, parameter.name.range});
    return true;
  }
  if (parameter.is_inout) {
    error(argument.range, "a function with an `inout` tensor cannot be called from another");
    return false;
  }
  auto tensor = tensor_argument(argument);
  if (!tensor) return false;
  if (tensor->shape.size() != parameter.shape.size()) {
    error(argument.range, "`" + parameter.name.text + "` of `" + callee.function->name.text + "` has " +
                              std::to_string(parameter.shape.size()) + " dimensions, the argument " +
                              std::to_string(tensor->shape.size()))
        .note(parameter.range, "declared here");
    return false;
  }
  if (is_generic) {
    if (!bind_generic(tensor->dtype)) return false;
  } else {
    const auto declared = core::parse_dtype(parameter.type.text);
    if (declared && core::compute_type(*declared) != core::compute_type(tensor->dtype)) {
      error(argument.range, "`" + parameter.name.text + "` of `" + callee.function->name.text + "` is `" +
                                parameter.type.text + "`, the argument `" +
                                std::string(core::dtype_name(tensor->dtype)) + "`")
          .note(parameter.range, "declared here");
      return false;
    }
  }
  tensor->is_result = tensor->is_inout = false;
  callee.symbols.emplace(parameter.name.text, Symbol{std::move(*tensor), parameter.name.range});
  return true;
}

/// Gives each dim of the callee (the current frame) the caller's expression, and keeps what must agree as
/// constraints.
bool Checker::bind_callee_dims(const ast::Function& callee, SourceRange range) {
  const auto bind_dim = [&](const std::string& name, ExpressionId extent, SourceRange where) {
    frame().symbols.emplace(name,
                            Symbol{ValueSymbol{ValueSymbol::Kind::dim, rules_.node(extent), {}}, where});
  };
  const auto each_dimension = [&](const auto& visit) {
    for (const ast::Parameter& parameter : callee.parameters) {
      if (parameter.shape.empty()) continue;
      const auto shape = std::get<TensorSymbol>(find(parameter.name.text)->meaning).shape;
      for (std::size_t i = 0; i < shape.size(); ++i) visit(*parameter.shape[i], shape[i]);
    }
  };
  each_dimension([&](const ast::Expression& dimension, ExpressionId extent) {
    if (const auto* name = dimension.as<ast::Name>(); name && !find(name->text))
      bind_dim(name->text, extent, dimension.range);
  });
  each_dimension([&](const ast::Expression& dimension, ExpressionId extent) {  // a * N, N + b
    const auto* binary = dimension.as<ast::Binary>();
    if (!binary) return;
    for (const auto& [side, other] : {std::pair{binary->left.get(), binary->right.get()},
                                      std::pair{binary->right.get(), binary->left.get()}}) {
      const auto* name = side->as<ast::Name>();
      const auto* number = other->as<ast::Number>();
      if (!name || !number || find(name->text)) continue;
      const ExpressionId amount =
          arena().constant_integer(DType::i64, static_cast<std::int64_t>(number->integer));
      if (binary->operation == ast::BinaryOperator::multiply)
        bind_dim(name->text, arena().apply(Op::divide, DType::i64, {extent, amount}), side->range);
      else if (binary->operation == ast::BinaryOperator::add)
        bind_dim(name->text, arena().apply(Op::subtract, DType::i64, {extent, amount}), side->range);
    }
  });
  const int errors_before = bag_->error_count();
  for (const ast::WhereItem& item : callee.where) {
    const Value value = check_value(*item.expression);
    if (value.failed()) continue;
    if (item.derived) {
      bind_dim(item.derived->text, rules_.index(value, item.range).id, item.derived->range);
    } else if (constant_value(arena(), value.id) != 1) {
      function_.constraints.push_back(value.id);
      function_.constraint_texts.push_back("in " + callee.name.text + ": " +
                                           expression_text(*item.expression));
    }
  }
  each_dimension([&](const ast::Expression& dimension, ExpressionId extent) {
    const Value declared = rules_.index(check_value(dimension), dimension.range);
    if (!declared.failed())
      require_equal(declared.id, extent,
                    "in " + callee.name.text + ": " + expression_text(dimension) + " == " + text_of(extent));
  });
  if (bag_->error_count() != errors_before) error(range, "the sizes of this call cannot be worked out");
  return bag_->error_count() == errors_before;
}

std::vector<AxisId> Checker::context_of(const Frame& callee) const {
  std::set<AxisId> used;
  const auto add = [&](ExpressionId id) {
    if (!id.valid()) return;
    const auto axes = free_axes(function_.arena, id);
    used.insert(axes.begin(), axes.end());
  };
  for (const auto& [name, symbol] : callee.symbols) {
    if (const auto* value = std::get_if<ValueSymbol>(&symbol.meaning)) {
      add(value->value.id);
      continue;
    }
    const auto& tensor = std::get<TensorSymbol>(symbol.meaning);
    for (ExpressionId fixed : tensor.fixed) add(fixed);
    if (!tensor.formula.valid()) continue;
    for (AxisId axis : free_axes(function_.arena, tensor.formula))
      if (std::find(tensor.axes.begin(), tensor.axes.end(), axis) == tensor.axes.end()) used.insert(axis);
  }
  return {used.begin(), used.end()};
}

std::optional<std::vector<TensorSymbol>> Checker::inline_call(const ast::Call& call, SourceRange range) {
  const ast::Function& callee = *functions_.find(call.callee.text)->second;
  const std::string& name = callee.name.text;
  if (std::find(call_stack_.begin(), call_stack_.end(), &callee) != call_stack_.end()) {
    Diagnostic& diagnostic =
        error(range, "`" + name + "` calls itself: functions are inlined, so none may recur");
    for (const ast::Function* caller : call_stack_)
      diagnostic.note(caller->name.range, "by way of `" + caller->name.text + "`");
    return std::nullopt;
  }
  if (callee.incomplete) return std::nullopt;
  const std::size_t least = static_cast<std::size_t>(std::count_if(
      callee.parameters.begin(), callee.parameters.end(), [](const auto& p) { return !p.default_value; }));
  if (call.arguments.size() > callee.parameters.size() || call.arguments.size() < least) {
    error(range, "`" + name + "` takes " + std::to_string(callee.parameters.size()) + " arguments, not " +
                     std::to_string(call.arguments.size()))
        .note(callee.signature, "declared here");
    return std::nullopt;
  }
  Frame inner{.function = &callee};
  inner.prefix = frame().prefix + name + ".";
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (!bind_argument(callee.parameters[i], *call.arguments[i], inner, frame())) return std::nullopt;
  for (const ast::TypeParameter& parameter : callee.type_parameters)
    if (!inner.types.contains(parameter.name.text)) {
      error(range, "the type `" + parameter.name.text + "` of `" + name +
                       "` cannot be deduced from this call's arguments");
      return std::nullopt;
    }
  inner.context = context_of(inner);
  const bool rectangular = std::all_of(inner.context.begin(), inner.context.end(), [&](AxisId axis) {
    if (constant_value(arena(), arena()[axis].low) != 0) return false;
    bool dims_only = free_axes(arena(), arena()[axis].high).empty() && !is_data_dependent(arena()[axis].high);
    return dims_only;
  });
  inner.by_formula = is_scalar_function(callee) || !rectangular;

  // Faults of the callee's own body were reported when it was checked; here only this call is at fault.
  DiagnosticBag inside;
  Frame* const caller = frame_;
  DiagnosticBag* const bag = bag_;
  frame_ = &inner;
  bag_ = &inside;
  rules_.redirect(inside);
  call_stack_.push_back(&callee);
  bool fine = bind_callee_dims(callee, range);
  for (std::size_t i = call.arguments.size(); fine && i < callee.parameters.size(); ++i) {
    const ast::Parameter& parameter = callee.parameters[i];
    const auto type = parameter.is_dim ? DType::i64 : resolve_type(parameter.type).value_or(DType::f32);
    const Value value =
        rules_.convert(check_value(*parameter.default_value), core::compute_type(type), range);
    const auto kind = parameter.is_dim ? ValueSymbol::Kind::dim : ValueSymbol::Kind::scalar;
    inner.symbols.emplace(parameter.name.text, Symbol{ValueSymbol{kind, value, {}}, parameter.name.range});
  }
  if (fine) {
    for (const ast::ResultDeclaration& result : callee.results) {
      TensorSymbol symbol{.dtype = resolve_type(result.type).value_or(DType::f32),
                          .shape = check_shape(result.shape),
                          .is_result = true};
      if (!inner.by_formula) {
        std::vector<ExpressionId> whole;
        for (AxisId axis : inner.context) whole.push_back(arena()[axis].high);
        whole.insert(whole.end(), symbol.shape.begin(), symbol.shape.end());
        std::string local = inner.prefix + result.name.text;
        for (int i = 2; !tensor_names_.insert(local).second; ++i)
          local = inner.prefix + result.name.text + "_" + std::to_string(i);
        symbol.tensor = {static_cast<std::int32_t>(function_.tensors.size())};
        for (AxisId axis : inner.context) symbol.fixed.push_back(arena().axis(axis));
        if (!inner.context.empty()) symbol.fixed.resize(whole.size());
        function_.tensors.push_back(
            {local, symbol.dtype, std::move(whole), TensorRole::local, result.name.range});
      }
      inner.symbols.emplace(result.name.text, Symbol{std::move(symbol), result.name.range});
    }
    check_body(callee);
    fine = !inside.has_errors();
  }
  call_stack_.pop_back();
  frame_ = caller;
  bag_ = bag;
  rules_.redirect(*bag);
  if (!fine) {
    Diagnostic& diagnostic = error(range, "this call of `" + name + "` does not hold");
    for (const Diagnostic& fault : inside.all())
      if (fault.severity == Severity::error) {
        diagnostic.note(fault.range, fault.message);
        break;
      }
    return std::nullopt;
  }
  std::vector<TensorSymbol> results;
  for (const ast::ResultDeclaration& result : callee.results)
    results.push_back(std::get<TensorSymbol>(inner.symbols.find(result.name.text)->second.meaning));
  return results;
}

}  // namespace einkern::dsl
