// Expressions compiled to a tree of small objects, each of which gives its value when asked: the reference's
// evaluator. V is Plain or Tracked.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "codegen/reference/error_propagation.h"
#include "codegen/reference/evaluator.h"
#include "codegen/reference/value.h"

namespace einkern::codegen::reference {

/// One tensor during evaluation, with its elements' errors where they are tracked.
struct Storage {
  HostTensor tensor;
  std::vector<double> errors;

  void allocate(DType dtype, const std::vector<std::int64_t>& shape, bool with_errors);
  std::int64_t size() const {
    return static_cast<std::int64_t>(core::is_float(tensor.dtype) ? tensor.floats.size()
                                                                  : tensor.integers.size());
  }
};

/// Where evaluation stands: the axes' values, and how much work is still allowed.
struct Frame {
  std::vector<std::int64_t> axes;  // by AxisId
  double operations_left = 0;

  bool exhausted() const { return operations_left < 0; }
};

template <typename V>
class Node {
 public:
  virtual ~Node() = default;
  virtual V evaluate(Frame& frame) = 0;
};
template <typename V>
using NodePointer = std::shared_ptr<Node<V>>;

template <typename V>
V integer_value(std::int64_t value) {
  V result;
  result.integer = value;
  return result;
}

template <typename V>
class Constant final : public Node<V> {
 public:
  explicit Constant(V value) : value_(value) {}
  V evaluate(Frame&) override { return value_; }

 private:
  V value_;
};

template <typename V>
class AxisValue final : public Node<V> {
 public:
  explicit AxisValue(dsl::AxisId axis) : axis_(static_cast<std::size_t>(axis.value)) {}
  V evaluate(Frame& frame) override { return integer_value<V>(frame.axes[axis_]); }

 private:
  std::size_t axis_;
};

template <typename V>
V element(const Storage& storage, std::int64_t offset) {
  const auto at = static_cast<std::size_t>(offset);
  V result;
  if (storage.tensor.floats.empty()) {
    result.integer = storage.tensor.integers[at];
  } else {
    result.floating = storage.tensor.floats[at];
  }
  if constexpr (V::tracked) result.error = storage.errors[at];
  return result;
}

/// A read whose indices are affine in the axes and proven inside: one dot product gives the offset.
template <typename V>
class AffineRead final : public Node<V> {
 public:
  struct Term {
    std::size_t axis;
    std::int64_t stride;
  };
  AffineRead(const Storage& storage, std::int64_t start, std::vector<Term> terms)
      : storage_(storage), start_(start), terms_(std::move(terms)) {}
  V evaluate(Frame& frame) override {
    std::int64_t offset = start_;
    for (const Term& term : terms_) offset += term.stride * frame.axes[term.axis];
    return element<V>(storage_, offset);
  }

 private:
  const Storage& storage_;
  std::int64_t start_;
  std::vector<Term> terms_;
};

/// Any other read: outside its tensor it gives the alternative, or 0.
template <typename V>
class GuardedRead final : public Node<V> {
 public:
  GuardedRead(const Storage& storage, std::vector<NodePointer<V>> indices, NodePointer<V> alternative)
      : storage_(storage), indices_(std::move(indices)), alternative_(std::move(alternative)) {}
  V evaluate(Frame& frame) override {
    const std::vector<std::int64_t>& shape = storage_.tensor.shape;
    std::int64_t offset = 0;
    bool inside = true, certain = true;
    for (std::size_t i = 0; i < indices_.size() && inside; ++i) {
      const V index = indices_[i]->evaluate(frame);
      if constexpr (V::tracked) certain = certain && index.error == 0;
      inside = index.integer >= 0 && index.integer < shape[i];
      offset = offset * shape[i] + index.integer;
    }
    V result = inside ? element<V>(storage_, offset) : alternative_ ? alternative_->evaluate(frame) : V{};
    if constexpr (V::tracked) {
      if (!certain) result.error = std::numeric_limits<double>::infinity();
    }
    return result;
  }

 private:
  const Storage& storage_;
  std::vector<NodePointer<V>> indices_;
  NodePointer<V> alternative_;
};

/// What an operation or cast gives is rounded to f32 where arithmetic runs as typed.
inline double rounded(double value, bool to_f32) {
  return to_f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// Any operation of ops.def but the lazy ones.
template <typename V>
class Operation final : public Node<V> {
 public:
  Operation(dsl::Op op, DType operand_type, DType type, bool round, std::vector<NodePointer<V>> operands)
      : op_(op), operand_type_(operand_type), type_(type), round_(round), operands_(std::move(operands)) {}
  V evaluate(Frame& frame) override {
    V values[3];
    for (std::size_t i = 0; i < operands_.size(); ++i) values[i] = operands_[i]->evaluate(frame);
    V result{dsl::apply_scalar(op_, operand_type_, type_, values[0], values[1], values[2])};
    result.floating = rounded(result.floating, round_);
    if constexpr (V::tracked) {
      result.error = operation_error(op_, operand_type_, type_, values[0], values[1], values[2], result);
    }
    return result;
  }

 private:
  dsl::Op op_;
  DType operand_type_, type_;
  bool round_;
  std::vector<NodePointer<V>> operands_;
};

/// fma on f32 as typed: one rounding to f32, which double arithmetic would make two.
template <typename V>
class NarrowFusedMultiplyAdd final : public Node<V> {
 public:
  explicit NarrowFusedMultiplyAdd(std::vector<NodePointer<V>> operands) : operands_(std::move(operands)) {}
  V evaluate(Frame& frame) override {
    float values[3];
    for (std::size_t i = 0; i < 3; ++i)
      values[i] = static_cast<float>(operands_[i]->evaluate(frame).floating);
    V result;
    result.floating = std::fma(values[0], values[1], values[2]);
    return result;
  }

 private:
  std::vector<NodePointer<V>> operands_;
};

template <typename V>
class Cast final : public Node<V> {
 public:
  Cast(DType from, DType to, NodePointer<V> operand) : from_(from), to_(to), operand_(std::move(operand)) {}
  V evaluate(Frame& frame) override {
    const V operand = operand_->evaluate(frame);
    V result{dsl::cast_scalar(from_, to_, operand)};
    if constexpr (V::tracked) result.error = cast_error(from_, to_, operand, result);
    return result;
  }

 private:
  DType from_, to_;
  NodePointer<V> operand_;
};

template <typename V>
class Bitcast final : public Node<V> {
 public:
  Bitcast(DType from, DType to, NodePointer<V> operand)
      : from_(from), to_(to), operand_(std::move(operand)) {}
  V evaluate(Frame& frame) override {
    const V operand = operand_->evaluate(frame);
    V result{dsl::bitcast_scalar(from_, to_, operand)};
    if constexpr (V::tracked) result.error = operand.error == 0 ? 0 : std::numeric_limits<double>::infinity();
    return result;
  }

 private:
  DType from_, to_;
  NodePointer<V> operand_;
};

/// where: only what is chosen is evaluated (and read), unless rounding may change the choice.
template <typename V>
class Where final : public Node<V> {
 public:
  Where(DType type, std::vector<NodePointer<V>> operands) : type_(type), operands_(std::move(operands)) {}
  V evaluate(Frame& frame) override {
    const V condition = operands_[0]->evaluate(frame);
    V result = operands_[condition.integer != 0 ? 1 : 2]->evaluate(frame);
    if constexpr (V::tracked) {
      if (condition.error != 0) {
        const V other = operands_[condition.integer != 0 ? 2 : 1]->evaluate(frame);
        const bool first = condition.integer != 0;
        result.error = operation_error(dsl::Op::where, type_, type_, condition, first ? result : other,
                                       first ? other : result, result);
      }
    }
    return result;
  }

 private:
  DType type_;
  std::vector<NodePointer<V>> operands_;
};

/// and, or: the second operand is evaluated only where the first does not decide.
template <typename V>
class LazyLogical final : public Node<V> {
 public:
  LazyLogical(bool decisive, NodePointer<V> first, NodePointer<V> second)
      : decisive_(decisive), first_(std::move(first)), second_(std::move(second)) {}
  V evaluate(Frame& frame) override {
    V result = first_->evaluate(frame);
    if constexpr (V::tracked) {
      if (result.error != 0) {
        const V second = second_->evaluate(frame);
        const bool second_decides = second.error == 0 && (second.integer != 0) == decisive_;
        result.error = second_decides ? 0 : 1;
        if ((result.integer != 0) != decisive_) result.integer = second.integer;
        return result;
      }
    }
    if ((result.integer != 0) == decisive_) return result;
    return second_->evaluate(frame);
  }

 private:
  bool decisive_;
  NodePointer<V> first_, second_;
};

/// Keeps the last value for as long as the axes in the expression stand still: a reduction that several
/// elements share, or an expression that occurs more than once, is not computed again.
template <typename V>
class Remembered final : public Node<V> {
 public:
  Remembered(NodePointer<V> node, const std::vector<dsl::AxisId>& axes) : node_(std::move(node)) {
    for (const dsl::AxisId axis : axes) axes_.push_back(static_cast<std::size_t>(axis.value));
    at_.resize(axes_.size());
  }
  V evaluate(Frame& frame) override {
    bool same = known_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      same = same && at_[i] == frame.axes[axes_[i]];
      at_[i] = frame.axes[axes_[i]];
    }
    if (!same) {
      value_ = node_->evaluate(frame);
      known_ = true;
    }
    return value_;
  }

 private:
  NodePointer<V> node_;
  std::vector<std::size_t> axes_;
  std::vector<std::int64_t> at_;
  V value_{};
  bool known_ = false;
};

}  // namespace einkern::codegen::reference
