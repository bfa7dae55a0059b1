#include "dsl/element_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "dsl/binding.h"
#include "dsl/expression_text.h"
#include "dsl/function_printer.h"

namespace einkern::dsl {
namespace {

/// Under which condition a node is evaluated at a point of its axes; nothing: always.
using Condition = std::optional<ExpressionId>;
using Axes = std::vector<AxisId>;

/// Builds the checks' function beside a copy of the checked one, whose nodes keep their ids.
class CheckBuilder {
 public:
  explicit CheckBuilder(const Function& function) : source_(function), function_(function) {
    function_.definitions.clear();
    function_.results.clear();
    for (const Tensor& tensor : function.tensors) taken_.insert(tensor.name);
    for (const Scalar& scalar : function.scalars) taken_.insert(scalar.name);
    for (const Dim& dim : function.dims) taken_.insert(dim.name);
    mark_gathers();
  }

  std::optional<ElementChecks> build() {
    keep_arguments();
    for (const Definition& definition : source_.definitions) {
      // What a definition reads is there before it is defined, but for the steps of a recurrence.
      if (definition.recurrent) function_.definitions.push_back(definition);
      check(definition);
      if (!definition.recurrent) function_.definitions.push_back(definition);
    }
    if (checks_.empty()) return std::nullopt;
    function_.canonical_text = canonical_text(function_);
    return ElementChecks{std::make_shared<const Function>(std::move(function_)), std::move(checks_)};
  }

 private:
  ExpressionArena& arena() { return function_.arena; }
  const Expression& node(ExpressionId id) const { return function_.arena[id]; }
  ExpressionId number(std::int64_t value) { return arena().constant_integer(DType::i64, value); }
  ExpressionId test(Op op, std::vector<ExpressionId> operands) {
    return arena().apply(op, DType::boolean, std::move(operands));
  }

  /// Which nodes are, or hold, a read at data-dependent places. Operands are older than what uses them.
  void mark_gathers() {
    holds_gather_.resize(function_.arena.size());
    for (std::size_t i = 0; i < holds_gather_.size(); ++i) {
      const Expression& e = node({static_cast<std::int32_t>(i)});
      bool holds = e.guard == Guard::gather;
      for (const ExpressionId operand : e.operands) holds = holds || holds_gather(operand);
      for (const AxisId axis : e.axes)
        holds = holds || holds_gather(function_.arena[axis].low) || holds_gather(function_.arena[axis].high);
      holds_gather_[i] = holds;
    }
  }
  bool holds_gather(ExpressionId id) const { return holds_gather_[static_cast<std::size_t>(id.value)]; }

  std::string unique_name(const std::string& base) {
    std::string name = base;
    for (int number = 1; !taken_.insert(name).second; ++number) name = base + std::to_string(number);
    return name;
  }

  TensorId add_tensor(Tensor tensor) {
    function_.tensors.push_back(std::move(tensor));
    return {static_cast<std::int32_t>(function_.tensors.size()) - 1};
  }

  /// Axes over a tensor's shape, and the indices that they are.
  Axes axes_over(const std::vector<ExpressionId>& shape) {
    Axes axes;
    for (const ExpressionId extent : shape)
      axes.push_back(arena().add_axis("i" + std::to_string(axes.size()), number(0), extent));
    return axes;
  }
  std::vector<ExpressionId> values_of(const Axes& axes) {
    std::vector<ExpressionId> values;
    for (const AxisId axis : axes) values.push_back(arena().axis(axis));
    return values;
  }

  /// Results become locals. An `inout` tensor becomes the local copy of an input of its name, so that the
  /// updates before a check are seen by it and by nobody else.
  void keep_arguments() {
    for (Tensor& tensor : function_.tensors)
      if (tensor.role == TensorRole::output) tensor.role = TensorRole::local;
    for (Parameter& parameter : function_.parameters) {
      auto* id = std::get_if<TensorId>(&parameter);
      if (!id || function_[*id].role != TensorRole::inout) continue;
      const TensorId copy = *id;
      Tensor input = function_[copy];
      input.role = TensorRole::input;
      *id = add_tensor(input);
      Tensor& local = function_.tensors[static_cast<std::size_t>(copy.value)];
      local.role = TensorRole::local;
      local.name = unique_name(local.name + "_now");
      const Axes axes = axes_over(input.shape);
      function_.definitions.push_back(
          {.target = copy, .axes = axes, .value = arena().read(*id, input.dtype, values_of(axes))});
    }
  }

  void check(const Definition& definition) {
    definition_ = &definition;
    const std::size_t before = checks_.size();
    walk(definition.value, definition.axes, {});
    for (const ExpressionId index : definition.indices) walk(index, definition.axes, {});
    if (definition.update) {
      check_dropped_writes(definition);
      if (*definition.update == UpdateOperator::assign) check_repeated_writes(definition);
    }
    // Indices inside indices first: what they cause is no news.
    const auto first = static_cast<std::ptrdiff_t>(before);
    std::reverse(checks_.begin() + first, checks_.end());
    std::reverse(function_.results.begin() + first, function_.results.end());
  }

  const std::string& target_name() const { return source_[definition_->target].name; }

  // --- which reads are evaluated, and when ---

  /// Nodes of one point of `axes` that hold a gather, operands first: bodies of reductions have more axes.
  std::vector<ExpressionId> nodes_at_point(ExpressionId root) const {
    std::vector<ExpressionId> order, stack = {root};
    std::set<ExpressionId> entered, done;
    while (!stack.empty()) {
      const ExpressionId id = stack.back();
      if (!entered.insert(id).second) {
        stack.pop_back();
        if (done.insert(id).second) order.push_back(id);
        continue;
      }
      const Expression& e = node(id);
      const auto push = [&](ExpressionId next) {
        if (holds_gather(next) && !entered.contains(next)) stack.push_back(next);
      };
      if (e.op == Op::reduce) {
        push(function_.arena[e.axes.front()].low);
        push(function_.arena[e.axes.front()].high);
        if (e.operands.size() > 1) push(e.operands[1]);
      } else {
        for (const ExpressionId operand : e.operands) push(operand);
      }
    }
    return order;
  }

  /// Checks the gathers that evaluating `root` at every point of `axes` makes, where `condition` holds.
  void walk(ExpressionId root, const Axes& axes, Condition condition) {
    if (!holds_gather(root)) return;
    const std::vector<ExpressionId> order = nodes_at_point(root);
    reached_.emplace_back()[root] = condition;
    for (auto id = order.rbegin(); id != order.rend(); ++id) visit(*id, axes);
    reached_.pop_back();
  }

  /// The node `id` is evaluated where `condition` holds, and where it was known to be already.
  void reach(ExpressionId id, Condition condition) {
    if (!holds_gather(id)) return;
    const auto [known, added] = reached_.back().try_emplace(id, condition);
    if (added || !known->second) return;
    if (condition)
      *known->second = test(Op::logical_or, {*known->second, *condition});
    else
      known->second.reset();
  }

  Condition both(Condition condition, ExpressionId more) {
    return condition ? test(Op::logical_and, {*condition, more}) : more;
  }
  ExpressionId negated(ExpressionId condition) { return test(Op::logical_not, {condition}); }

  void visit(ExpressionId id, const Axes& axes) {
    const Expression e = node(id);  // a copy: the arena grows
    const Condition here = reached_.back().at(id);
    switch (e.op) {
      case Op::read:
        return visit_read(id, e, axes, here);
      case Op::reduce:
        return visit_reduction(e, axes, here);
      case Op::where:
        if (e.guard == Guard::gather) check_element_of_call(e, axes, here);
        reach(e.operands[0], here);
        reach(e.operands[1], both(here, e.operands[0]));
        reach(e.operands[2], both(here, negated(e.operands[0])));
        return;
      case Op::logical_and:
      case Op::logical_or:
        reach(e.operands[0], here);
        reach(e.operands[1], both(here, e.op == Op::logical_and ? e.operands[0] : negated(e.operands[0])));
        return;
      default:
        for (const ExpressionId operand : e.operands) reach(operand, here);
    }
  }

  void visit_read(ExpressionId id, const Expression& read, const Axes& axes, Condition here) {
    const std::vector<ExpressionId> shape = function_[TensorId{read.index}].shape;
    for (std::size_t d = 0; d < shape.size(); ++d) reach(read.operands[d], here);
    if (read.guard == Guard::alternative) {
      Condition outside;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const ExpressionId one = is_outside(read.operands[d], shape[d]);
        outside = outside ? test(Op::logical_or, {*outside, one}) : one;
      }
      if (outside) reach(read.operands.back(), both(here, *outside));
    }
    if (read.guard != Guard::gather) return;
    for (std::size_t d = 0; d < shape.size(); ++d)
      check_index({.kind = ElementCheck::Kind::read,
                   .access = expression_text(source_, id, 100),
                   .tensor = source_[TensorId{read.index}].name,
                   .dimension = static_cast<int>(d),
                   .extents = {shape[d]}},
                  read.operands[d], axes, here);
  }

  void visit_reduction(const Expression& reduction, const Axes& axes, Condition here) {
    Axes inside = axes;
    for (const AxisId axis : reduction.axes) {
      for (const ExpressionId bound : {function_.arena[axis].low, function_.arena[axis].high})
        if (inside.size() == axes.size())
          reach(bound, here);
        else
          walk(bound, inside, here);
      inside.push_back(axis);
    }
    if (reduction.operands.size() > 1) reach(reduction.operands[1], here);
    walk(reduction.operands[0], inside, here);
  }

  // --- the checks ---

  ExpressionId is_outside(ExpressionId index, ExpressionId extent) {
    const ExpressionId place = arena().cast(DType::i64, index);
    return test(Op::logical_or, {test(Op::less, {place, number(0)}), test(Op::less_equal, {extent, place})});
  }

  /// A variable over exactly the dimension cannot leave it.
  bool covers(ExpressionId index, ExpressionId extent) const {
    if (node(index).op != Op::axis) return false;
    const Axis& axis = function_.arena[AxisId{node(index).index}];
    return constant_value(function_.arena, axis.low) == std::optional<std::int64_t>(0) && axis.high == extent;
  }

  void check_index(ElementCheck check, ExpressionId index, const Axes& axes, Condition condition) {
    const ExpressionId extent = check.extents.front();
    if (covers(index, extent)) return;
    const ExpressionId place = arena().cast(DType::i64, index);
    const ExpressionId fault = *both(condition, is_outside(index, extent));
    // An index may be the greatest integer itself, as a cast of infinity is.
    const ExpressionId shown = arena().apply(Op::minimum, DType::i64, {place, number(no_fault - 1)});
    add_check(std::move(check), arena().apply(Op::where, DType::i64, {fault, shown, number(no_fault)}), axes);
  }

  /// `where(0 <= p and p < E and …, element, 0)`, as the checker writes an element of a call.
  void check_element_of_call(const Expression& choice, const Axes& axes, Condition condition) {
    std::vector<ExpressionId> tests, pending = {choice.operands[0]};
    while (!pending.empty()) {
      const Expression& e = node(pending.back());
      const ExpressionId id = pending.back();
      pending.pop_back();
      if (e.op == Op::logical_and)
        pending.insert(pending.end(), {e.operands[1], e.operands[0]});
      else
        tests.push_back(id);
    }
    int dimension = 0;
    for (const ExpressionId id : tests) {
      const Expression e = node(id);
      if (e.op != Op::less) continue;
      check_index(
          {.kind = ElementCheck::Kind::element_of_call, .dimension = dimension++, .extents = {e.operands[1]}},
          e.operands[0], axes, condition);
    }
  }

  void check_dropped_writes(const Definition& update) {
    const std::vector<ExpressionId> shape = source_[update.target].shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      check_index({.kind = ElementCheck::Kind::dropped_write,
                   .access = access_text(update),
                   .tensor = target_name(),
                   .dimension = static_cast<int>(d),
                   .extents = {shape[d]}},
                  update.indices[d], update.axes, {});
  }

  std::string access_text(const Definition& update) const {
    std::vector<std::string> indices;
    for (const ExpressionId index : update.indices) indices.push_back(expression_text(source_, index, 100));
    return fmt::format("{}[{}]", target_name(), fmt::join(indices, ", "));
  }

  /// Counts the writes of each element in a tensor of its own.
  void check_repeated_writes(const Definition& update) {
    std::set<AxisId> alone;
    for (const ExpressionId index : update.indices)
      if (node(index).op == Op::axis) alone.insert(AxisId{node(index).index});
    if (alone.size() == update.axes.size()) return;  // each point has a place of its own
    const std::vector<ExpressionId> shape = source_[update.target].shape;
    const TensorId writes = add_tensor({.name = unique_name("writes"), .dtype = DType::i32, .shape = shape});
    function_.definitions.push_back(
        {.target = writes, .axes = axes_over(shape), .value = arena().constant_integer(DType::i32, 0)});
    function_.definitions.push_back({.target = writes,
                                     .axes = update.axes,
                                     .value = arena().constant_integer(DType::i32, 1),
                                     .update = UpdateOperator::add,
                                     .indices = update.indices});
    const Axes axes = axes_over(shape);
    ExpressionId place = number(0);
    for (std::size_t d = 0; d < axes.size(); ++d)
      place =
          arena().apply(Op::add, DType::i64,
                        {arena().apply(Op::multiply, DType::i64, {place, shape[d]}), arena().axis(axes[d])});
    const ExpressionId count = arena().read(writes, DType::i32, values_of(axes));
    const ExpressionId again = test(Op::less, {arena().constant_integer(DType::i32, 1), count});
    add_check({.kind = ElementCheck::Kind::repeated_write, .tensor = target_name(), .extents = shape},
              arena().apply(Op::where, DType::i64, {again, place, number(no_fault)}), axes);
  }

  /// A result: the least value over all points.
  void add_check(ElementCheck check, ExpressionId value, const Axes& axes) {
    // The definition's own axes outside, which have no dependent bounds and run in parallel.
    const auto own = static_cast<std::ptrdiff_t>(std::min(axes.size(), definition_->axes.size()));
    const bool nested = check.kind != ElementCheck::Kind::repeated_write;
    const auto split = axes.begin() + (nested ? own : static_cast<std::ptrdiff_t>(axes.size()));
    for (const Axes& over : {Axes(split, axes.end()), Axes(axes.begin(), split)})
      if (!over.empty()) value = arena().reduce(Reduction::minimum, DType::i64, over, value);
    check.definition = target_name();
    const TensorId result =
        add_tensor({.name = unique_name("fault"), .dtype = DType::i64, .role = TensorRole::output});
    function_.definitions.push_back({.target = result, .value = value});
    function_.results.push_back(result);
    checks_.push_back(std::move(check));
  }

  const Function& source_;
  Function function_;
  std::vector<ElementCheck> checks_;
  std::set<std::string> taken_;     // names
  std::vector<bool> holds_gather_;  // by ExpressionId of the checked function
  const Definition* definition_ = nullptr;
  std::vector<std::map<ExpressionId, Condition>> reached_;  // of each walk under way
};

std::string fault_text(const Function& function, const ElementCheck& check, std::int64_t found,
                       const std::vector<std::int64_t>& extents) {
  const auto size = [&] {
    const std::string text = expression_text(function, check.extents.front());
    const std::string number = std::to_string(extents.front());
    return text == number ? text : fmt::format("{} = {}", text, number);
  };
  switch (check.kind) {
    case ElementCheck::Kind::read:
      return fmt::format(
          "the definition of `{}` reads `{}` outside `{}`: dimension {} is {}, and the index is {}",
          check.definition, check.access, check.tensor, check.dimension, size(), found);
    case ElementCheck::Kind::element_of_call:
      return fmt::format(
          "the definition of `{}` takes an element of a call outside its result: dimension {} is {}, and the "
          "index is {}",
          check.definition, check.dimension, size(), found);
    case ElementCheck::Kind::dropped_write:
      return fmt::format(
          "the update of `{}` writes `{}` outside: dimension {} is {}, and the index is {}, so that the "
          "write is dropped",
          check.definition, check.access, check.dimension, size(), found);
    case ElementCheck::Kind::repeated_write:
      break;
  }
  std::vector<std::int64_t> element(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; found /= extents[d]) element[d] = found % extents[d];
  return fmt::format(
      "the update of `{}` assigns the element `{}[{}]` more than once, and which value stays is not said",
      check.definition, check.tensor, fmt::join(element, ", "));
}

}  // namespace

std::optional<ElementChecks> make_element_checks(const Function& function) {
  return CheckBuilder(function).build();
}

core::Result<void> judge_elements(const ElementChecks& checks, std::span<const std::int64_t> results,
                                  const std::vector<std::int64_t>& dims) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == no_fault) continue;
    const ElementCheck& check = checks.checks[i];
    std::vector<std::int64_t> extents;
    for (const ExpressionId extent : check.extents) {
      EINKERN_TRY(const std::int64_t value, evaluate_dims(*checks.function, extent, dims));
      extents.push_back(value);
    }
    return core::Error{core::ErrorKind::shape,
                       fmt::format("EINKERN_CHECK: in `{}`, {}.", checks.function->name,
                                   fault_text(*checks.function, check, results[i], extents))};
  }
  return {};
}

}  // namespace einkern::dsl
