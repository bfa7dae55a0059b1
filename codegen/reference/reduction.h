// Reductions of the reference: loops over axes, with the rules for empty ranges, NaN and ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "codegen/reference/nodes.h"

namespace einkern::codegen::reference {

template <typename V>
struct LoopAxis {
  std::size_t axis;
  NodePointer<V> low, high;
};

/// Calls `step()` for each point of the axes, the last running fastest; bounds may use outer axes.
template <typename V, typename Step>
void for_each_point(Frame& frame, const std::vector<LoopAxis<V>>& axes, const Step& step,
                    std::size_t level = 0) {
  if (level == axes.size()) return step();
  const LoopAxis<V>& loop = axes[level];
  const std::int64_t low = loop.low->evaluate(frame).integer, high = loop.high->evaluate(frame).integer;
  for (std::int64_t value = low; value < high && !frame.exhausted(); ++value) {
    frame.operations_left -= 1;
    frame.axes[loop.axis] = value;
    for_each_point(frame, axes, step, level + 1);
  }
}

/// Whether rounding may change a loop's bounds; then a reduction over it is uncertain.
template <typename V>
bool bounds_certain(Frame& frame, const std::vector<LoopAxis<V>>& axes) {
  if constexpr (V::tracked) {
    for (const LoopAxis<V>& loop : axes) {
      if (loop.low->evaluate(frame).error != 0 || loop.high->evaluate(frame).error != 0) return false;
    }
  }
  return true;
}

/// sum of floats. A body that is a product is multiplied and added in one rounding when arithmetic runs as
/// typed: this is where multiply-adds are fused, and nowhere else.
template <typename V>
class FloatSum final : public Node<V> {
 public:
  struct Options {
    DType type = DType::f32;
    bool round = false;        // to f32 after each addition
    double product_error = 0;  // relative, of each product: what @precision allows
  };
  /// `second` is null unless the body is the product of first and second.
  FloatSum(Options options, std::vector<LoopAxis<V>> axes, NodePointer<V> first, NodePointer<V> second)
      : options_(options), axes_(std::move(axes)), first_(std::move(first)), second_(std::move(second)) {}

  V evaluate(Frame& frame) override {
    if constexpr (V::tracked) return tracked(frame);
    V result;
    double& total = result.floating;
    if (!second_) {
      for_each_point(frame, axes_,
                     [&] { total = rounded(total + first_->evaluate(frame).floating, options_.round); });
    } else if (options_.round) {
      for_each_point(frame, axes_, [&] {
        const auto a = static_cast<float>(first_->evaluate(frame).floating);
        const auto b = static_cast<float>(second_->evaluate(frame).floating);
        total = std::fma(a, b, static_cast<float>(total));
      });
    } else {
      for_each_point(frame, axes_, [&] {
        const double a = first_->evaluate(frame).floating;
        total = std::fma(a, second_->evaluate(frame).floating, total);
      });
    }
    return result;
  }

 private:
  V tracked(Frame& frame) {
    V result;
    if constexpr (V::tracked) {
      double magnitudes = 0, errors = 0, terms = 0;
      for_each_point(frame, axes_, [&] {
        V term = first_->evaluate(frame);
        if (second_) {
          const V a = term, b = second_->evaluate(frame);
          term.floating = a.floating * b.floating;
          term.error = operation_error(dsl::Op::multiply, options_.type, options_.type, a, b, {}, term) +
                       (std::isfinite(term.floating) ? options_.product_error * std::fabs(term.floating) : 0);
        }
        result.floating += term.floating;
        magnitudes += std::fabs(term.floating);
        errors += term.error;
        terms += 1;
      });
      if (std::isfinite(result.floating)) errors += sum_error_factor(options_.type, terms) * magnitudes;
      result.error = bounds_certain(frame, axes_) ? errors : std::numeric_limits<double>::infinity();
    }
    return result;
  }

  Options options_;
  std::vector<LoopAxis<V>> axes_;
  NodePointer<V> first_, second_;
};

/// Every other reduction that combines one value at a time; `combine` is an operation of ops.def.
template <typename V>
class Fold final : public Node<V> {
 public:
  Fold(dsl::Op combine, DType type, V identity, bool round, std::vector<LoopAxis<V>> axes,
       NodePointer<V> body)
      : combine_(combine),
        type_(type),
        identity_(identity),
        round_(round),
        axes_(std::move(axes)),
        body_(std::move(body)) {}

  V evaluate(Frame& frame) override {
    V total = identity_;
    for_each_point(frame, axes_, [&] {
      const V value = body_->evaluate(frame);
      V next{dsl::apply_scalar(combine_, type_, type_, total, value, {})};
      next.floating = rounded(next.floating, round_);
      if constexpr (V::tracked) next.error = combined_error(total, value, next);
      total = next;
    });
    if constexpr (V::tracked) {
      if (!bounds_certain(frame, axes_)) total.error = std::numeric_limits<double>::infinity();
    }
    return total;
  }

 private:
  /// any and all are certain once one certain value decides.
  double combined_error(const Tracked& total, const Tracked& value, const dsl::ScalarBits& next) const {
    if (type_ != DType::boolean) return operation_error(combine_, type_, type_, total, value, {}, next);
    const bool decisive = combine_ == dsl::Op::logical_or;
    for (const Tracked* part : {&total, &value}) {
      if (part->error == 0 && (part->integer != 0) == decisive) return 0;
    }
    return std::max(total.error, value.error);
  }

  dsl::Op combine_;
  DType type_;
  V identity_;
  bool round_;
  std::vector<LoopAxis<V>> axes_;
  NodePointer<V> body_;
};

/// argmax, argmin, and max, min with nth: all values in order (NaN first, then by value, then by position),
/// and the nth.
template <typename V>
class Ranked final : public Node<V> {
 public:
  struct Options {
    DType type = DType::f32;  // of the body
    bool descending = true;   // max, argmax
    bool gives_index = true;  // argmax, argmin
    V missing;                // what an nth beyond the range gives
  };
  Ranked(Options options, std::vector<LoopAxis<V>> axes, NodePointer<V> body, NodePointer<V> nth)
      : options_(options), axes_(std::move(axes)), body_(std::move(body)), nth_(std::move(nth)) {}

  V evaluate(Frame& frame) override {
    std::vector<Entry> entries;
    for_each_point(frame, axes_, [&] {
      const std::int64_t position =
          axes_.size() == 1 ? frame.axes[axes_[0].axis] : static_cast<std::int64_t>(entries.size());
      entries.push_back({body_->evaluate(frame), position});
    });
    const std::int64_t nth = nth_ ? nth_->evaluate(frame).integer : 0;
    if (nth < 0 || nth >= static_cast<std::int64_t>(entries.size())) return options_.missing;
    const auto place = entries.begin() + nth;
    std::nth_element(entries.begin(), place, entries.end(),
                     [this](const Entry& a, const Entry& b) { return before(a, b); });
    V result = options_.gives_index ? integer_value<V>(place->position) : place->value;
    if constexpr (V::tracked) {
      result.error = error_of(entries, *place);
      if (!bounds_certain(frame, axes_)) result.error = std::numeric_limits<double>::infinity();
    }
    return result;
  }

 private:
  struct Entry {
    V value;
    std::int64_t position;
  };

  bool value_less(const V& a, const V& b) const {
    if (core::is_float(options_.type)) return a.floating < b.floating;
    return dsl::apply_integer(dsl::Op::less, options_.type, a.integer, b.integer) != 0;
  }

  bool before(const Entry& a, const Entry& b) const {
    if (core::is_float(options_.type)) {
      const bool a_nan = std::isnan(a.value.floating), b_nan = std::isnan(b.value.floating);
      if (a_nan != b_nan) return a_nan;
      if (a_nan) return a.position < b.position;
    }
    const V &first = options_.descending ? b.value : a.value,
            &second = options_.descending ? a.value : b.value;
    if (value_less(first, second)) return true;
    if (value_less(second, first)) return false;
    return a.position < b.position;
  }

  /// A value moves by at most the largest error; a position is uncertain if another value is too near.
  double error_of(const std::vector<Entry>& entries, const Entry& chosen) const {
    double largest = 0;
    if constexpr (V::tracked) {
      for (const Entry& entry : entries) {
        if (&entry == &chosen) continue;
        const double error = entry.value.error + chosen.value.error;
        if (options_.gives_index && error > 0 &&
            std::fabs(entry.value.floating - chosen.value.floating) <= error) {
          return std::numeric_limits<double>::infinity();
        }
        largest = std::max(largest, entry.value.error);
      }
      if (!options_.gives_index) return std::max(largest, chosen.value.error);
    }
    return 0;
  }

  Options options_;
  std::vector<LoopAxis<V>> axes_;
  NodePointer<V> body_, nth_;
};

}  // namespace einkern::codegen::reference
