// From a checked expression to the objects of nodes.h that evaluate it.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/reference/nodes.h"
#include "codegen/reference/reduction.h"
#include "dsl/interval.h"

namespace einkern::codegen::reference {

/// What expressions of one call refer to.
struct Scope {
  const dsl::Function& function;
  const dsl::Binding& binding;
  const std::vector<Storage>& tensors;          // by TensorId; must not move while nodes live
  const std::vector<dsl::ScalarBits>& scalars;  // by ScalarId
  Arithmetic arithmetic = Arithmetic::wide;
};

template <typename V>
class Compiler {
 public:
  explicit Compiler(const Scope& scope) : scope_(scope), analysis_(scope.function, scope.binding.dims) {}

  NodePointer<V> compile(dsl::ExpressionId root) {
    count_uses(root);
    dsl::visit_nodes(arena(), root, [this](dsl::ExpressionId id) {
      if (nodes_.contains(id)) return;
      NodePointer<V> node = make(id);
      const dsl::Expression& expression = arena()[id];
      int height = 0;
      for (const dsl::ExpressionId operand : expression.operands)
        height = std::max(height, heights_[operand] + 1);
      heights_[id] = height;
      const bool shared = uses_[id] > 1 && height >= least_height_worth_remembering;
      if (shared || expression.op == dsl::Op::reduce) {
        node = std::make_shared<Remembered<V>>(std::move(node), dsl::free_axes(arena(), id));
      }
      nodes_.emplace(id, std::move(node));
    });
    return nodes_.at(root);
  }

 private:
  static constexpr int least_height_worth_remembering = 3;

  const dsl::ExpressionArena& arena() const { return scope_.function.arena; }
  NodePointer<V> node(dsl::ExpressionId id) const { return nodes_.at(id); }
  DType type_of(dsl::ExpressionId id) const { return arena()[id].type; }
  bool rounds(DType type) const { return scope_.arithmetic == Arithmetic::as_typed && type == DType::f32; }

  void count_uses(dsl::ExpressionId root) {
    dsl::visit_nodes(arena(), root, [this](dsl::ExpressionId id) {
      for (const dsl::ExpressionId operand : arena()[id].operands) ++uses_[operand];
    });
  }

  std::vector<NodePointer<V>> operands_of(const dsl::Expression& expression) const {
    std::vector<NodePointer<V>> operands;
    for (const dsl::ExpressionId operand : expression.operands) operands.push_back(node(operand));
    return operands;
  }

  NodePointer<V> constant(dsl::ScalarBits value) const { return std::make_shared<Constant<V>>(V{value}); }

  NodePointer<V> make(dsl::ExpressionId id) {
    const dsl::Expression& expression = arena()[id];
    using dsl::Op;
    switch (expression.op) {
      case Op::constant:
        if (core::is_float(expression.type)) return constant({expression.float_value(), 0});
        return constant({0, expression.integer_value()});
      case Op::dim:
        return constant({0, scope_.binding.dims[static_cast<std::size_t>(expression.index)]});
      case Op::scalar:
        return constant(scope_.scalars[static_cast<std::size_t>(expression.index)]);
      case Op::axis:
        return std::make_shared<AxisValue<V>>(dsl::AxisId{expression.index});
      case Op::read:
        return make_read(expression);
      case Op::reduce:
        return make_reduction(expression);
      case Op::cast:
        return std::make_shared<Cast<V>>(type_of(expression.operands[0]), expression.target,
                                         node(expression.operands[0]));
      case Op::bitcast:
        return std::make_shared<Bitcast<V>>(type_of(expression.operands[0]), expression.target,
                                            node(expression.operands[0]));
      default:
        return make_operation(expression);
    }
  }

  NodePointer<V> make_operation(const dsl::Expression& expression) {
    using dsl::Op;
    std::vector<NodePointer<V>> operands = operands_of(expression);
    if (expression.op == Op::where) return std::make_shared<Where<V>>(expression.type, std::move(operands));
    if (expression.op == Op::logical_and || expression.op == Op::logical_or) {
      return std::make_shared<LazyLogical<V>>(expression.op == Op::logical_or, operands[0], operands[1]);
    }
    if (expression.op == Op::fma && rounds(expression.type)) {
      return std::make_shared<NarrowFusedMultiplyAdd<V>>(std::move(operands));
    }
    return std::make_shared<Operation<V>>(expression.op, type_of(expression.operands[0]), expression.type,
                                          rounds(expression.type), std::move(operands));
  }

  NodePointer<V> make_read(const dsl::Expression& read) {
    const Storage& storage = scope_.tensors[static_cast<std::size_t>(read.index)];
    if (read.guard == dsl::Guard::proven) {
      if (NodePointer<V> affine = make_affine_read(read, storage)) return affine;
    }
    std::vector<NodePointer<V>> indices = operands_of(read);
    NodePointer<V> alternative;
    if (read.guard == dsl::Guard::alternative) {
      alternative = indices.back();
      indices.pop_back();
    }
    return std::make_shared<GuardedRead<V>>(storage, std::move(indices), std::move(alternative));
  }

  NodePointer<V> make_affine_read(const dsl::Expression& read, const Storage& storage) {
    const std::vector<std::int64_t>& shape = scope_.binding.shapes[static_cast<std::size_t>(read.index)];
    dsl::LinearForm offset;
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (type_of(read.operands[i]) != DType::i64) return nullptr;
      offset.add(analysis_.linear_form(read.operands[i]), stride);
      stride *= shape[i];
    }
    std::vector<typename AffineRead<V>::Term> terms;
    for (const auto& [term, coefficient] : offset.terms) {
      if (arena()[term].op != dsl::Op::axis) return nullptr;
      terms.push_back({static_cast<std::size_t>(arena()[term].index), coefficient});
    }
    return std::make_shared<AffineRead<V>>(storage, offset.constant, std::move(terms));
  }

  std::vector<LoopAxis<V>> loops(const dsl::Expression& reduce) const {
    std::vector<LoopAxis<V>> axes;
    for (const dsl::AxisId id : reduce.axes) {
      const dsl::Axis& axis = arena()[id];
      axes.push_back({static_cast<std::size_t>(id.value), node(axis.low), node(axis.high)});
    }
    return axes;
  }

  NodePointer<V> make_reduction(const dsl::Expression& reduce) {
    using dsl::Reduction;
    const Reduction kind = reduce.reduction;
    const bool gives_index = kind == Reduction::argmax || kind == Reduction::argmin;
    if (gives_index || reduce.operands.size() > 1) return make_ranked(reduce, gives_index);
    if (kind == Reduction::sum && core::is_float(reduce.type)) return make_float_sum(reduce);
    dsl::Op combine = dsl::Op::add;
    if (kind == Reduction::product) combine = dsl::Op::multiply;
    if (kind == Reduction::maximum) combine = dsl::Op::maximum;
    if (kind == Reduction::minimum) combine = dsl::Op::minimum;
    if (kind == Reduction::any) combine = dsl::Op::logical_or;
    if (kind == Reduction::all) combine = dsl::Op::logical_and;
    return std::make_shared<Fold<V>>(combine, reduce.type, V{identity(kind, reduce.type)},
                                     rounds(reduce.type), loops(reduce), node(reduce.operands[0]));
  }

  /// What an empty range gives.
  static dsl::ScalarBits identity(dsl::Reduction kind, DType type) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (kind) {
      case dsl::Reduction::product:
        return {1, 1};
      case dsl::Reduction::all:
        return {0, 1};
      case dsl::Reduction::maximum:
        return {-infinity, core::float_to_integer(integer_type(type), -infinity)};
      case dsl::Reduction::minimum:
        return {infinity, core::float_to_integer(integer_type(type), infinity)};
      case dsl::Reduction::argmax:
      case dsl::Reduction::argmin:
        return {0, -1};
      default:
        return {};
    }
  }
  static DType integer_type(DType type) { return core::is_integer(type) ? type : DType::i64; }

  NodePointer<V> make_ranked(const dsl::Expression& reduce, bool gives_index) {
    typename Ranked<V>::Options options;
    options.type = type_of(reduce.operands[0]);
    options.descending =
        reduce.reduction == dsl::Reduction::argmax || reduce.reduction == dsl::Reduction::maximum;
    options.gives_index = gives_index;
    options.missing = V{identity(reduce.reduction, reduce.type)};
    return std::make_shared<Ranked<V>>(options, loops(reduce), node(reduce.operands[0]),
                                       reduce.operands.size() > 1 ? node(reduce.operands[1]) : nullptr);
  }

  NodePointer<V> make_float_sum(const dsl::Expression& reduce) {
    const dsl::Expression& body = arena()[reduce.operands[0]];
    typename FloatSum<V>::Options options;
    options.type = reduce.type;
    options.round = rounds(reduce.type);
    options.product_error = product_error_factor(scope_.function.precision);
    const bool product = body.op == dsl::Op::multiply;
    return std::make_shared<FloatSum<V>>(options, loops(reduce),
                                         node(product ? body.operands[0] : reduce.operands[0]),
                                         product ? node(body.operands[1]) : nullptr);
  }

  Scope scope_;
  dsl::IntervalAnalysis analysis_;
  std::unordered_map<dsl::ExpressionId, NodePointer<V>> nodes_;
  std::unordered_map<dsl::ExpressionId, int> uses_, heights_;
};

}  // namespace einkern::codegen::reference
