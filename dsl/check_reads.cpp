// Reads: subscripts, `else`, gathers, and the proof that a computed index can stay inside its tensor.
#include "core/dtype.h"
#include "dsl/checker.h"
#include "dsl/linear_form.h"
#include "dsl/printer.h"

namespace einkern::dsl {

bool Checker::is_data_dependent(ExpressionId id) const {
  bool depends = false;
  visit_nodes(function_.arena, id, [&](ExpressionId node) {
    const Expression& e = function_.arena[node];
    if (e.op == Op::read || e.op == Op::scalar || e.op == Op::reduce || e.op == Op::bitcast ||
        e.op == Op::random)
      depends = true;
    if (e.op == Op::cast && core::is_float(function_.arena[e.operands[0]].type)) depends = true;
    if (e.op != Op::axis) return;  // `t in start[s]..s + 1` is as data-dependent as its bounds
    const Axis& axis = function_.arena[AxisId{e.index}];
    depends = depends || is_data_dependent(axis.low) || is_data_dependent(axis.high);
  });
  return depends;
}

const TensorSymbol* Checker::tensor_base(const ast::Expression& base, std::optional<TensorSymbol>& storage) {
  if (const auto* name = base.as<ast::Name>()) {
    if (find_variable(name->text)) {
      error(base.range, "`" + name->text + "` is an index variable, not a tensor");
      return nullptr;
    }
    Symbol* symbol = find(name->text);
    if (!symbol) {
      unknown_name(name->text, base.range);
      return nullptr;
    }
    symbol->used = true;
    const auto* tensor = std::get_if<TensorSymbol>(&symbol->meaning);
    if (!tensor) {
      error(base.range, "`" + name->text + "` is a scalar or dim, not a tensor: it takes no index");
      return nullptr;
    }
    if (tensor->is_result && !tensor->defined) {
      error(base.range, "`" + name->text +
                            "` is read before it is defined: a definition reads only what stands above it");
      return nullptr;
    }
    if (!tensor->tensor.valid() && !tensor->formula.valid()) return nullptr;
    return tensor;
  }
  const auto* call = base.as<ast::Call>();
  if (!functions_.contains(call->callee.text)) {
    error(base.range, "only a call of a function of this program may be indexed");
    return nullptr;
  }
  auto results = inline_call(*call, base.range);
  if (!results) return nullptr;
  if (results->size() != 1) {
    error(base.range, "`" + call->callee.text + "` gives " + std::to_string(results->size()) +
                          " results: define them first, as in `a, b = " + call->callee.text + "(…)`");
    return nullptr;
  }
  storage = std::move(results->front());
  return &*storage;
}

std::optional<std::vector<ExpressionId>> Checker::check_subscripts(const ast::Index& index, std::size_t rank,
                                                                   SourceRange range) {
  if (index.subscripts.size() != rank) {
    error(range, "the tensor has " + std::to_string(rank) + " dimensions, but " +
                     std::to_string(index.subscripts.size()) +
                     (index.subscripts.size() == 1 ? " index stands here" : " indices stand here"));
    return std::nullopt;
  }
  std::vector<ExpressionId> indices;
  bool failed = false;
  for (const ast::Subscript& subscript : index.subscripts) {
    if (!subscript.expression) {
      error(subscript.range, "`:` keeps a dimension only in a call's argument, as in `softmax(x[b, :, :])`");
      return std::nullopt;
    }
    const Value value = rules_.index(check_value(*subscript.expression), subscript.range);
    failed |= value.failed();
    indices.push_back(value.id);
  }
  if (failed) return std::nullopt;
  return indices;
}

Value Checker::check_index(const ast::Index& index, SourceRange range) {
  std::optional<TensorSymbol> storage;
  const TensorSymbol* symbol = tensor_base(*index.base, storage);
  if (!symbol) return {};
  const TensorSymbol copy = *symbol;  // checking the subscripts may grow the table
  const auto indices = check_subscripts(index, copy.shape.size(), range);
  if (!indices) return {};
  return read_element(copy, *indices, std::nullopt, range, expression_text(*index.base));
}

Value Checker::check_else(const ast::Else& node, SourceRange range) {
  const auto& index = *node.guarded->as<ast::Index>();
  std::optional<TensorSymbol> storage;
  const TensorSymbol* symbol = tensor_base(*index.base, storage);
  if (!symbol) return {};
  const TensorSymbol copy = *symbol;
  const auto indices = check_subscripts(index, copy.shape.size(), node.guarded->range);
  const Value alternative =
      rules_.convert(check_value(*node.otherwise), core::compute_type(copy.dtype), node.otherwise->range);
  if (!indices || alternative.failed()) return {};
  return read_element(copy, *indices, alternative, range, expression_text(*index.base));
}

Value Checker::read_element(const TensorSymbol& symbol, std::vector<ExpressionId> indices,
                            std::optional<Value> alternative, SourceRange range, const std::string& name) {
  bool gathers = false;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const bool depends = is_data_dependent(indices[i]);
    gathers |= depends;
    if (!alternative && !depends) check_inside(indices[i], symbol.shape[i], range, name);
  }
  if (!symbol.formula.valid()) {
    std::vector<ExpressionId> whole;
    std::size_t next = 0;
    for (ExpressionId fixed : symbol.fixed) whole.push_back(fixed.valid() ? fixed : indices[next++]);
    if (symbol.fixed.empty()) whole = indices;
    for (ExpressionId fixed : symbol.fixed)
      if (fixed.valid()) gathers = gathers || (!alternative && is_data_dependent(fixed));
    const Guard guard = alternative ? Guard::alternative : gathers ? Guard::gather : Guard::proven;
    return rules_.node(arena().read(symbol.tensor, symbol.dtype, std::move(whole), guard,
                                    alternative ? std::optional(alternative->id) : std::nullopt));
  }
  // A formula has no memory to guard: what a read outside gives is chosen instead.
  Substitution replace;
  for (std::size_t i = 0; i < indices.size(); ++i) replace.axes[symbol.axes[i]] = indices[i];
  ExpressionId value = substitute(arena(), symbol.formula, replace);
  const ExpressionId zero = arena().constant_integer(DType::i64, 0);
  std::optional<ExpressionId> inside;
  if (alternative || gathers)
    for (std::size_t i = 0; i < indices.size(); ++i)
      for (ExpressionId test : {arena().apply(Op::less_equal, DType::boolean, {zero, indices[i]}),
                                arena().apply(Op::less, DType::boolean, {indices[i], symbol.shape[i]})})
        inside = inside ? arena().apply(Op::logical_and, DType::boolean, {*inside, test}) : test;
  if (inside) {
    const DType type = arena()[value].type;
    const ExpressionId outside = alternative            ? alternative->id
                                 : core::is_float(type) ? arena().constant_float(type, 0)
                                                        : arena().constant_integer(type, 0);
    value = arena().apply(Op::where, type, {*inside, value, outside});
  }
  return rules_.node(value);
}

namespace {

/// An i64 expression as a linear form over axes, dims and whatever is no sum.
LinearForm symbolic_form(const ExpressionArena& arena, ExpressionId id) {
  const Expression& e = arena[id];
  LinearForm form;
  if (const auto value = constant_value(arena, id)) {
    form.constant = *value;
    return form;
  }
  if (e.op == Op::add || e.op == Op::subtract) {
    form = symbolic_form(arena, e.operands[0]);
    if (form.add(symbolic_form(arena, e.operands[1]), e.op == Op::add ? 1 : -1)) return form;
  } else if (e.op == Op::negate) {
    if (form.add(symbolic_form(arena, e.operands[0]), -1)) return form;
  } else if (e.op == Op::multiply) {
    for (int side : {0, 1}) {
      const auto factor = constant_value(arena, e.operands[static_cast<std::size_t>(side)]);
      form = {};
      if (factor && form.add(symbolic_form(arena, e.operands[static_cast<std::size_t>(1 - side)]), *factor))
        return form;
    }
  }
  return LinearForm::term(id);
}

/// The form of an i64 expression's greatest (or least) value over its axes, when those are simple: each axis
/// is replaced by its end. Nothing if an axis has a range that is not over dims, or stands inside a term that
/// is not linear.
std::optional<LinearForm> extreme(ExpressionArena& arena, ExpressionId id, bool greatest) {
  LinearForm result;
  const LinearForm form = symbolic_form(arena, id);
  result.constant = form.constant;
  for (const auto& [term, coefficient] : form.terms) {
    const Expression e = arena[term];
    if (e.op != Op::axis) {
      if (!free_axes(arena, term).empty() || !result.add(LinearForm::term(term), coefficient))
        return std::nullopt;
      continue;
    }
    const Axis axis = arena[AxisId{e.index}];
    const bool at_high = greatest == (coefficient > 0);
    const ExpressionId end =
        at_high ? arena.apply(Op::subtract, DType::i64, {axis.high, arena.constant_integer(DType::i64, 1)})
                : axis.low;
    const auto bound = extreme(arena, end, at_high);
    if (!bound || !result.add(*bound, coefficient)) return std::nullopt;
  }
  return result;
}

}  // namespace

void Checker::check_inside(ExpressionId index, ExpressionId extent, SourceRange range,
                           const std::string& name) {
  const auto report = [&](const std::string& which, std::int64_t by) {
    error(range, "this index of `" + name + "` leaves the tensor whatever the sizes: its " + which +
                     " value is " + std::to_string(by) +
                     (which == "greatest" ? " past the end" : " before the start"))
        .note(range, "`(" + name +
                         "[…] else 0)` gives a value outside, `clamp` keeps the index inside, or say the "
                         "variable's range with `in a..b`");
  };
  const auto greatest = extreme(arena(), index, true);
  if (greatest) {
    LinearForm over = *greatest;  // how far the greatest index lies past extent - 1
    const LinearForm size = symbolic_form(arena(), extent);
    if (over.add(size, -1) && over.is_constant() && over.constant >= 0) {
      report("greatest", over.constant + 1);
      return;
    }
  }
  const auto least = extreme(arena(), index, false);
  if (least && least->is_constant() && least->constant < 0) report("least", -least->constant);
}

}  // namespace einkern::dsl
