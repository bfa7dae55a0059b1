// The part of FunctionChecker that gives meaning to dims: what binds them, `where`, and dims made one.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/ast_names.h"
#include "dsl/check.h"
#include "dsl/dim_evaluation.h"
#include "dsl/printer.h"

namespace einkern::dsl {
void FunctionChecker::declare_dim(const ast::Identifier& name, DimSource source) {
  const DimId id{static_cast<std::int32_t>(function_.dims.size())};
  Symbol symbol;
  symbol.value = Value::typed(arena(), arena().dim(id));
  symbol.declared = true;
  if (declare(name, std::move(symbol)))
    function_.dims.push_back({name.text, source, std::nullopt, name.range});
}

/// Dims are known before any expression is checked: they are bound in any order.
void FunctionChecker::declare_dims(const ast::Function& source) {
  for (const ast::Parameter& parameter : source.parameters)
    if (parameter.is_dim) declare_dim(parameter.name, DimSource::parameter);
  for (const ast::WhereItem& item : source.where)
    if (item.derived) declare_dim(*item.derived, DimSource::derived);
  declare_shape_dims(source);
  merge_dims(source);
}

/// A name in a parameter's shape is a dim unless it is one already.
void FunctionChecker::declare_shape_dims(const ast::Function& source) {
  for (const ast::Parameter& parameter : source.parameters)
    for (const ast::ExpressionPointer& dimension : parameter.shape)
      for (const ast::Identifier& name : free_names(*dimension))
        if (!frame().find(name.text)) declare_dim(name, DimSource::shape);
}

/// `where A == B` makes two dims of shapes one, and gives a name that no shape has a meaning.
void FunctionChecker::merge_dims(const ast::Function& source) {
  const auto from_shape = [&](const Symbol& symbol) {
    return function_[DimId{arena()[symbol.value.id].index}].source == DimSource::shape;
  };
  for (const ast::WhereItem& item : source.where) {
    const auto names = equated_names(item);
    if (!names) continue;
    const auto& [left, right] = *names;
    const Symbol* a = frame().find(left);
    const Symbol* b = frame().find(right);
    if ((!a && !b) || left == right) continue;
    if (a && b && !(from_shape(*a) && from_shape(*b))) continue;
    const ExpressionId kept = a ? a->value.id : b->value.id;
    const ExpressionId dropped = a && b ? b->value.id : ExpressionId{};
    for (const std::string& name : {left, right})
      if (!frame().find(name))
        declare({name, item.expression->range}, *frame().find(left == name ? right : left));
    for (auto& [name, symbol] : frame().symbols)
      if (symbol.value.id == dropped) symbol.value.id = kept;
    if (dropped.valid()) dropped_dims_.insert(DimId{arena()[dropped].index});
  }
  renumber_dims();
}

/// Leaves out the dims that merging dropped, so that every dim of the function is one that shapes bind.
void FunctionChecker::renumber_dims() {
  if (dropped_dims_.empty()) return;
  std::vector<Dim> kept;
  std::map<std::int32_t, DimId> renumbered;
  for (std::size_t i = 0; i < function_.dims.size(); ++i) {
    const auto old = static_cast<std::int32_t>(i);
    if (dropped_dims_.contains(DimId{old})) continue;
    renumbered[old] = DimId{static_cast<std::int32_t>(kept.size())};
    kept.push_back(std::move(function_.dims[i]));
  }
  function_.dims = std::move(kept);
  for (auto& [name, symbol] : frame().symbols)
    symbol.value = Value::typed(arena(), arena().dim(renumbered.at(arena()[symbol.value.id].index)));
}

/// Derivations, then constraints, then the defaults of dims.
void FunctionChecker::check_where(const ast::Function& source) {
  for (const ast::WhereItem& item : source.where) {
    if (!item.derived) continue;
    const auto value = size(*item.expression, "a dim");
    const Symbol* symbol = frame().find(item.derived->text);
    if (value) function_.dims[static_cast<std::size_t>(arena()[symbol->value.id].index)].value = value;
  }
  refuse_cyclic_derivations();
  for (const ast::WhereItem& item : source.where) {
    if (item.derived) continue;
    const Operand value = operand(*item.expression);
    const auto condition = typing_.condition(value, "a constraint");
    if (!condition || constant_value(arena(), *condition) == 1) continue;
    const Expression& node = arena()[*condition];
    if (node.op == Op::equal && node.operands[0] == node.operands[1]) continue;  // two names of one dim
    function_.constraints.push_back(*condition);
    function_.constraint_texts.push_back(expression_text(*item.expression));
  }
  for (const ast::Parameter& parameter : source.parameters) {
    if (!parameter.is_dim || !parameter.default_value) continue;
    const auto value = size(*parameter.default_value, "a dim");
    const auto number = value ? constant_value(arena(), *value) : std::nullopt;
    if (number && *number < 0) error(parameter.default_value->range, "a dim is not negative");
    const Symbol* symbol = frame().find(parameter.name.text);
    if (value) function_.dims[static_cast<std::size_t>(arena()[symbol->value.id].index)].value = value;
  }
}

/// A derivation that needs its own dim could never be computed.
void FunctionChecker::refuse_cyclic_derivations() {
  std::vector<int> state(function_.dims.size());  // 0: not seen, 1: being followed, 2: done
  const std::function<bool(DimId)> follow = [&](DimId id) {
    int& mine = state[static_cast<std::size_t>(id.value)];
    if (mine == 1) return false;
    const Dim& dim = function_[id];
    const bool ends = mine == 2 || dim.source != DimSource::derived || !dim.value;
    if (ends) return true;
    mine = 1;
    bool fine = true;
    visit_nodes(arena(), *dim.value, [&](ExpressionId part) {
      const Expression& node = arena()[part];
      if (fine && node.op == Op::dim) fine = follow(DimId{node.index});
    });
    mine = 2;
    return fine;
  };
  for (std::size_t i = 0; i < function_.dims.size(); ++i) {
    Dim& dim = function_.dims[i];
    if (state[i] == 2 || follow(DimId{static_cast<std::int32_t>(i)})) continue;
    error(dim.where, fmt::format("the derivation of `{}` needs `{}` itself", dim.name, dim.name));
  }
}

/// Every dim of shapes must be what some dimension of an argument solves for, or equal to one that is.
void FunctionChecker::require_bound_dims() {
  std::vector<bool> bound(function_.dims.size());
  for (const Tensor& tensor : function_.tensors) {
    if (tensor.role == TensorRole::output) continue;
    for (const ExpressionId extent : tensor.shape)
      if (const auto solvable = solvable_dimension(function_, extent))
        bound[static_cast<std::size_t>(solvable->dim.value)] = true;
  }
  for (const ExpressionId constraint : function_.constraints) {
    const Expression& node = arena()[constraint];
    if (node.op != Op::equal) continue;
    const Expression &left = arena()[node.operands[0]], &right = arena()[node.operands[1]];
    if (left.op != Op::dim || right.op != Op::dim) continue;
    for (const Expression* side : {&left, &right}) bound[static_cast<std::size_t>(side->index)] = true;
  }
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const Dim& dim = function_.dims[i];
    if (bound[i] || dim.source != DimSource::shape) continue;
    error(
        dim.where,
        fmt::format("nothing gives the dim `{0}` a value: no dimension is `{0}` alone or `a * {0} + b`; add "
                    "the parameter `{0}: dim`",
                    dim.name));
  }
}

}  // namespace einkern::dsl
