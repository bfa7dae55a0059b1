// The part of FunctionChecker that gives expressions their types: names, reads, operators, reductions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/check.h"
#include "dsl/printer.h"

namespace einkern::dsl {

namespace {

std::optional<Reduction> reduction_named(std::string_view name) {
  for (const Reduction reduction :
       {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum, Reduction::any,
        Reduction::all, Reduction::argmax, Reduction::argmin})
    if (reduction_name(reduction) == name) return reduction;
  return std::nullopt;  // mean
}

}  // namespace

Value FunctionChecker::check_expression(const ast::Expression& expression) {
  const SourceRange where = expression.range;
  if (const auto* number = expression.as<ast::Number>())
    return Value::literal(number->is_float ? Literal::of(number->real)
                                           : Literal::of(__int128{number->integer}));
  if (const auto* constant = expression.as<ast::Constant>()) {
    if (*constant == ast::Constant::infinity) return Value::literal(Literal::of(HUGE_VAL));
    if (*constant == ast::Constant::not_a_number) return Value::literal(Literal::of(std::nan("")));
    const bool value = *constant == ast::Constant::true_value;
    return Value::typed(arena(), arena().constant_integer(DType::boolean, value));
  }
  if (const auto* name = expression.as<ast::Name>()) return check_name(name->text, where);
  if (const auto* type = expression.as<ast::TypeName>()) {
    error(where, fmt::format("`{0}` is a type, not a value; a cast is written {0}(…)", type->text));
    return {};
  }
  if (const auto* unary = expression.as<ast::Unary>())
    return typing_.unary(unary->operation, operand(*unary->operand), where);
  if (const auto* binary = expression.as<ast::Binary>()) {
    const Operand left = operand(*binary->left), right = operand(*binary->right);
    return typing_.binary(*binary, left, right, expression);
  }
  if (const auto* comparison = expression.as<ast::Comparison>())
    return typing_.comparison(*comparison, operands(comparison->operands));
  if (const auto* guarded = expression.as<ast::Else>())
    return check_index(*guarded->guarded->as<ast::Index>(), guarded->guarded->range,
                       guarded->otherwise.get());
  if (const auto* index = expression.as<ast::Index>()) return check_index(*index, where, nullptr);
  if (const auto* reduction = expression.as<ast::Reduction>()) return check_reduction(*reduction, where);
  const auto& call = *expression.as<ast::Call>();
  return table_.find(call.callee.text) ? check_scalar_call(call, where) : check_builtin(call, where);
}

std::vector<Operand> FunctionChecker::operands(const std::vector<ast::ExpressionPointer>& expressions) {
  std::vector<Operand> result;
  for (const ast::ExpressionPointer& expression : expressions) result.push_back(operand(*expression));
  return result;
}

Value FunctionChecker::check_name(std::string_view name, SourceRange where) {
  if (const Variable* variable = frame().find_variable(name))
    return variable->axis.valid() ? Value::typed(arena(), arena().axis(variable->axis)) : Value{};
  Symbol* symbol = frame().find(name);
  if (!symbol) return unknown_name(name, where);
  symbol->used = true;
  if (symbol->failed) return {};
  if (frame().dims_only && symbol->kind != Symbol::Kind::dim) return unknown_name(name, where);
  if (symbol->kind != Symbol::Kind::tensor) return symbol->value;
  if (!symbol->defined) {
    error(where, fmt::format("`{}` is read above its definition", name)).note(symbol->where, "declared here");
    return {};
  }
  if (symbol->view.shape.empty()) return build_read(symbol->view, {}, where, nullptr);
  error(where, fmt::format("`{}` is a tensor of {} dimension{}; an element is read with indices", name,
                           symbol->view.shape.size(), symbol->view.shape.size() == 1 ? "" : "s"))
      .note(symbol->where, "declared here");
  return {};
}

std::vector<std::string_view> FunctionChecker::visible_names() const {
  std::vector<std::string_view> names;
  for (const Variable& variable : frame_->variables) names.push_back(variable.name);
  for (const auto& [name, symbol] : frame_->symbols) names.push_back(name);
  return names;
}

Value FunctionChecker::unknown_name(std::string_view name, SourceRange where) {
  const auto& parameters = frame().source->parameters;
  const bool is_parameter = std::any_of(parameters.begin(), parameters.end(),
                                        [&](const ast::Parameter& p) { return p.name.text == name; });
  if (frame().dims_only && is_parameter) {
    error(where,
          fmt::format("`{}` has no value yet when shapes bind; only dims and numbers may stand here", name));
    return {};
  }
  const auto later = frame().targets.find(name);
  if (later != frame().targets.end()) {
    error(where, fmt::format("`{}` is read above its definition", name)).note(later->second, "defined here");
    return {};
  }
  const auto names = visible_names();
  const std::string_view meant = nearest_name(name, names);
  if (meant.empty() && frame().dims_only) {
    error(where,
          fmt::format("nothing gives the dim `{0}` a value: it stands in no shape of a parameter; add the "
                      "parameter `{0}: dim`",
                      name));
    return {};
  }
  Diagnostic& diagnostic = error(where, fmt::format("`{}` is not defined here", name));
  if (!meant.empty()) diagnostic.replace(where, std::string(meant));
  return {};
}

Value FunctionChecker::check_index(const ast::Index& index, SourceRange where,
                                   const ast::Expression* alternative) {
  if (const auto* call = index.base->as<ast::Call>())
    return check_call_index(*call, index, where, alternative);
  const std::string& name = index.base->as<ast::Name>()->text;
  Symbol* symbol = frame().find(name);
  const Variable* variable = frame().find_variable(name);
  if (variable && !variable->axis.valid()) return {};  // it has had its error
  if (variable || (symbol && symbol->kind != Symbol::Kind::tensor)) {
    error(index.base->range, fmt::format("`{}` is no tensor and has no elements", name));
    return {};
  }
  if (!symbol) {
    for (const ast::Subscript& subscript : index.subscripts)
      if (subscript.expression) check_expression(*subscript.expression);
    return unknown_name(name, index.base->range);
  }
  symbol->used = true;
  if (frame().self && frame().self->name == name) return read_self(*symbol, index, where, alternative);
  if (!symbol->defined && !symbol->failed) {
    error(index.base->range, fmt::format("`{}` is read above its definition", name))
        .note(symbol->where, "declared here");
    return {};
  }
  const auto indices = check_subscripts(index, symbol->view.shape.size(), symbol->failed ? "" : name);
  if (!indices || symbol->failed) {
    if (alternative) check_expression(*alternative);
    return {};
  }
  return build_read(symbol->view, *indices, where, alternative);
}

Value FunctionChecker::check_call_index(const ast::Call& call, const ast::Index& index, SourceRange where,
                                        const ast::Expression* alternative) {
  if (!table_.find(call.callee.text)) {
    const Value value = check_builtin(call, index.base->range);
    if (value.known())
      error(where, fmt::format("`{}` gives a number, which has no elements", call.callee.text));
    return {};
  }
  const auto results = check_call(call, index.base->range, nullptr);
  const bool single = results && results->size() == 1;
  if (results && !single)
    error(index.base->range, fmt::format("`{}` has {} results; define tensors from them: q, s = {}(…)",
                                         call.callee.text, results->size(), call.callee.text));
  const bool known = single && !results->front().failed;
  const std::size_t rank = known ? results->front().view.shape.size() : 0;
  const auto indices = check_subscripts(index, rank, known ? call.callee.text : "");
  if (!indices || !known) return {};
  return build_read(results->front().view, *indices, where, alternative);
}

/// The indices as i64; `name` is empty where the tensor is unknown and its rank with it.
std::optional<std::vector<ExpressionId>> FunctionChecker::check_subscripts(const ast::Index& index,
                                                                           std::size_t rank,
                                                                           std::string_view name) {
  std::vector<ExpressionId> indices;
  bool complete = true;
  for (const ast::Subscript& subscript : index.subscripts) {
    if (!subscript.expression) {
      error(subscript.range, "a slice `:` may stand only in an argument of a function");
      complete = false;
      continue;
    }
    const auto value = typing_.convert_to_index(operand(*subscript.expression), "an index");
    complete = complete && value;
    if (value) indices.push_back(*value);
  }
  if (name.empty()) return std::nullopt;
  if (index.subscripts.size() != rank) {
    const Symbol* symbol = frame().find(name);
    Diagnostic& diagnostic = error(
        SourceRange::joining(index.base->range, index.subscripts.back().range),
        fmt::format("`{}` has {} dimension{}, and this read has {} ind{}", name, rank, rank == 1 ? "" : "s",
                    index.subscripts.size(), index.subscripts.size() == 1 ? "ex" : "ices"));
    if (symbol && index.base->as<ast::Name>()) diagnostic.note(symbol->where, "declared here");
    return std::nullopt;
  }
  return complete ? std::optional(std::move(indices)) : std::nullopt;
}

/// A read of a view at free positions `indices`, with its guard.
Value FunctionChecker::build_read(const TensorView& view, const std::vector<ExpressionId>& indices,
                                  SourceRange where, const ast::Expression* alternative) {
  std::vector<ExpressionId> positions;
  std::size_t next = 0;
  for (const auto& fixed : view.positions) positions.push_back(fixed ? *fixed : indices[next++]);
  const DType type =
      view.formula ? arena()[view.formula->value].type : core::compute_type(function_[view.tensor].dtype);
  std::optional<ExpressionId> otherwise;
  if (alternative) {
    otherwise = check_alternative(*alternative, type, where);
    if (!otherwise) return {};
  }
  const bool gathers = std::any_of(positions.begin(), positions.end(),
                                   [&](ExpressionId index) { return sizes_.is_data_dependent(index); });
  const Guard guard = otherwise ? Guard::alternative : gathers ? Guard::gather : Guard::proven;
  if (view.formula) return read_formula(*view.formula, positions, guard, otherwise);
  if (!otherwise && !check_inside(view, positions, where)) return {};
  const DType storage = function_[view.tensor].dtype;
  return Value::typed(arena(), arena().read(view.tensor, storage, std::move(positions), guard, otherwise));
}

/// What stands after `else`, in the type of the read before it.
std::optional<ExpressionId> FunctionChecker::check_alternative(const ast::Expression& alternative, DType type,
                                                               SourceRange read) {
  const Operand otherwise = operand(alternative);
  const Operand both[] = {{Value::typed({}, type), read}, otherwise};
  const auto common = typing_.unify(both, SourceRange::joining(read, alternative.range));
  if (!common) return std::nullopt;
  if (*common == type) return typing_.convert(otherwise, type);
  error(alternative.range, fmt::format("what stands after `else` has the type of the read, {}; this is {}",
                                       core::dtype_name(type), core::dtype_name(otherwise.value.type)))
      .also(read)
      .insert_before(alternative.range, fmt::format("{}(", core::dtype_name(type)))
      .insert_after(alternative.range, ")");
  return std::nullopt;
}

/// An element of a formula. It has no memory to guard: what a read outside gives is chosen instead.
Value FunctionChecker::read_formula(const Formula& formula, const std::vector<ExpressionId>& positions,
                                    Guard guard, std::optional<ExpressionId> otherwise) {
  Substitution indices;
  for (std::size_t i = 0; i < positions.size(); ++i) indices.axes[formula.axes[i]] = positions[i];
  const ExpressionId element = with_gathers(substitute(arena(), formula.value, indices));
  if (guard == Guard::proven || positions.empty()) return Value::typed(arena(), element);
  std::optional<ExpressionId> inside;
  const auto require_that = [&](ExpressionId test) {
    inside = inside ? arena().apply(Op::logical_and, DType::boolean, {*inside, test}) : test;
  };
  for (std::size_t i = 0; i < positions.size(); ++i) {
    require_that(arena().apply(Op::less_equal, DType::boolean, {index_constant(0), positions[i]}));
    require_that(arena().apply(Op::less, DType::boolean, {positions[i], arena()[formula.axes[i]].high}));
  }
  const DType type = arena()[element].type;
  const ExpressionId zero =
      core::is_float(type) ? arena().constant_float(type, 0) : arena().constant_integer(type, 0);
  // Marked as a gather, for make_element_checks: nothing else tells such a choice from one that was written.
  return Value::typed(arena(), arena().intern({.op = Op::where,
                                               .type = type,
                                               .guard = guard == Guard::gather ? guard : Guard::proven,
                                               .operands = {*inside, element, otherwise.value_or(zero)}}));
}

/// The expression with those reads made gathers whose indices have become data-dependent.
ExpressionId FunctionChecker::with_gathers(ExpressionId id) {
  std::vector<ExpressionId> nodes;
  visit_nodes(arena(), id, [&](ExpressionId node) { nodes.push_back(node); });
  Substitution gathers;
  for (const ExpressionId node : nodes) {
    Expression read = arena()[node];
    if (read.op != Op::read || read.guard != Guard::proven) continue;
    const bool depends = std::any_of(read.operands.begin(), read.operands.end(),
                                     [&](ExpressionId index) { return sizes_.is_data_dependent(index); });
    if (!depends) continue;
    read.guard = Guard::gather;
    for (ExpressionId& index : read.operands) index = substitute(arena(), index, gathers);
    gathers.nodes[node] = arena().intern(std::move(read));
  }
  return substitute(arena(), id, gathers);
}

/// Refuses computed indices that leave the tensor whatever the sizes are.
bool FunctionChecker::check_inside(const TensorView& view, const std::vector<ExpressionId>& positions,
                                   SourceRange where) {
  const Tensor& tensor = function_[view.tensor];
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (sizes_.is_data_dependent(positions[i])) continue;
    const auto leaving = sizes_.leaves(positions[i], tensor.shape[i]);
    if (!leaving) continue;
    error(where,
          fmt::format(
              "index {} of this read runs over {}, and dimension {} of `{}` is {}: it leaves the tensor "
              "whatever the sizes are; guard it with `else`, or keep it inside with `clamp`",
              i, leaving->interval, i, tensor.name, sizes_.text(sizes_.linear_form(tensor.shape[i]))))
        .note(tensor.where, "declared here")
        .insert_before(where, "(")
        .insert_after(where, " else 0)");
    return false;
  }
  return true;
}

/// A read of the tensor that is being defined: a recurrence's step back.
Value FunctionChecker::read_self(const Symbol& symbol, const ast::Index& index, SourceRange where,
                                 const ast::Expression* alternative) {
  SelfReads& self = *frame().self;
  if (!alternative) {
    check_subscripts(index, symbol.view.shape.size(), "");
    error(where, fmt::format("`{}` reads itself; each such read needs an `else` for the start", self.name))
        .insert_before(where, "(")
        .insert_after(where, " else 0)");
    return {};
  }
  const auto indices = check_subscripts(index, symbol.view.shape.size(), self.name);
  if (!indices) {
    check_expression(*alternative);
    return {};
  }
  self.reads.emplace_back(*indices, where);
  return self.typed ? build_read(symbol.view, *indices, where, alternative) : check_expression(*alternative);
}

Value FunctionChecker::check_reduction(const ast::Reduction& reduction, SourceRange where) {
  if (frame().dims_only) {
    error(where, "only dims, numbers and functions of them may stand here");
    return {};
  }
  const std::size_t outer = frame().variables.size();
  std::vector<AxisId> axes;
  bool complete = declare_reduction_variables(reduction, axes);
  const Operand body = operand(*reduction.body);
  frame().variables.resize(outer);
  std::optional<ExpressionId> nth;
  if (reduction.nth) {
    const std::string& name = reduction.operation.text;
    if (name != "max" && name != "min" && name != "argmax" && name != "argmin") {
      error(reduction.nth->range, fmt::format("`{}` has no nth; max, min, argmax and argmin have", name));
      complete = false;
    }
    nth = typing_.convert_to_index(operand(*reduction.nth), "nth");
    complete = complete && nth;
  }
  const bool gives_index = reduction.operation.text.starts_with("arg");
  if (gives_index && reduction.variables.size() > 1) {
    error(reduction.variables[1].name.range,
          fmt::format("`{}` runs over one variable", reduction.operation.text));
    complete = false;
  }
  if (!complete || !body.value.known()) return {};
  return build_reduction(reduction, axes, body, nth);
}

bool FunctionChecker::declare_reduction_variables(const ast::Reduction& reduction,
                                                  std::vector<AxisId>& axes) {
  bool complete = true;
  const std::size_t outer = frame().variables.size();
  for (const ast::ReductionVariable& variable : reduction.variables) {
    bool valid = may_name_variable(variable.name);
    for (std::size_t i = outer; i < frame().variables.size(); ++i)
      if (frame().variables[i].name == variable.name.text) {
        error(variable.name.range, fmt::format("`{}` stands twice in this reduction", variable.name.text))
            .note(frame().variables[i].where, "here first");
        valid = false;
      }
    std::optional<ExpressionId> low, high;
    if (variable.bounds) {
      low = typing_.convert_to_index(operand(*variable.bounds->begin), "a bound");
      high = typing_.convert_to_index(operand(*variable.bounds->end), "a bound");
    } else if (valid) {
      Ranges ranges;
      collect_ranges(*reduction.body, variable.name.text, false, ranges);
      low = index_constant(0);
      high = decide_range(variable.name, ranges, nullptr);
    }
    valid = valid && low && high;
    complete = complete && valid;
    const AxisId axis = valid ? arena().add_axis(variable.name.text, *low, *high) : AxisId{};
    if (valid) axes.push_back(axis);
    frame().variables.push_back({variable.name.text, axis, variable.name.range});
  }
  return complete;
}

Value FunctionChecker::build_reduction(const ast::Reduction& reduction, const std::vector<AxisId>& axes,
                                       const Operand& body, std::optional<ExpressionId> nth) {
  const auto kind = reduction_named(reduction.operation.text);
  const bool logical = kind == Reduction::any || kind == Reduction::all;
  if (logical) {
    const auto node = typing_.condition(body, fmt::format("`{}`", reduction.operation.text));
    return node ? Value::typed(arena(), arena().reduce(*kind, DType::boolean, axes, *node)) : Value{};
  }
  if (body.value.type == DType::boolean) {
    error(body.range, fmt::format("`{}` reduces numbers, and this is bool; counting is sum(i) i32(…)",
                                  reduction.operation.text))
        .insert_before(body.range, "i32(")
        .insert_after(body.range, ")");
    return {};
  }
  if (!kind) return build_mean(axes, body);
  const Value value = typing_.settled(body.value);
  const bool gives_index = kind == Reduction::argmax || kind == Reduction::argmin;
  const DType type = gives_index ? DType::i64 : value.type;
  return Value::typed(arena(), arena().reduce(*kind, type, axes, value.id, nth));
}

/// sum / count, in f32 for integers; of an empty range 0 / 0, which is NaN.
Value FunctionChecker::build_mean(const std::vector<AxisId>& axes, const Operand& body) {
  const DType type = core::is_float(body.value.type) ? body.value.type : DType::f32;
  const auto summand = typing_.convert(body, type);
  if (!summand) return {};
  const ExpressionId total = arena().reduce(Reduction::sum, type, axes, *summand);
  const ExpressionId count = arena().cast(type, count_of(axes));
  return Value::typed(arena(), arena().apply(Op::divide, type, {total, count}));
}

/// How many points a reduction has: the product of its extents where none depends on another of its axes.
ExpressionId FunctionChecker::count_of(const std::vector<AxisId>& axes) {
  ExpressionId product = index_constant(1);
  for (const AxisId axis : axes) {
    const Axis range = arena()[axis];
    for (const ExpressionId end : {range.low, range.high})
      for (const AxisId used : free_axes(arena(), end))
        if (std::find(axes.begin(), axes.end(), used) != axes.end())
          return arena().reduce(Reduction::sum, DType::i64, axes, index_constant(1));
    ExpressionId extent = arena().apply(Op::subtract, DType::i64, {range.high, range.low});
    const bool from_zero = constant_value(arena(), range.low) == 0;
    if (!from_zero || arena()[range.high].op != Op::dim)
      extent = arena().apply(Op::maximum, DType::i64, {extent, index_constant(0)});
    product = arena().apply(Op::multiply, DType::i64, {product, extent});
  }
  return product;
}

}  // namespace einkern::dsl
