// Results against the reference: within which error an element counts as right, and which one is worst.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/reference/evaluator.h"

namespace einkern::codegen::reference {

/// How far an element may lie from the reference.
struct Tolerance {
  double relative = 0;  // times |reference|
  double absolute = 0;  // in the result's own unit
  const std::vector<double>* bounds =
      nullptr;              // from evaluate_with_bounds: one an element, added to the others
  double bound_factor = 1;  // what the bounds are multiplied with

  /// Bits must agree (values: 0 equals -0, NaN equals NaN).
  static Tolerance exact() { return {}; }
  /// The bounds of evaluate_with_bounds.
  static Tolerance bounded(const std::vector<double>& bounds) { return {0, 0, &bounds, 1}; }
  /// `units` in the last place of the dtype, as a share of the value and of 1e-3: for results without bounds.
  static Tolerance of(DType dtype, double units = 8);

  /// The error allowed to the element at `index`, whose right value is `reference`.
  double allowed(double reference, std::size_t index) const;
};

/// The comparison of two tensors of one dtype and shape.
struct Comparison {
  bool ok = true;
  std::int64_t elements = 0;
  std::int64_t wrong = 0;      // elements beyond their tolerance
  std::int64_t undecided = 0;  // elements whose bound is infinite: not compared
  std::int64_t worst = -1;  // row-major index of the worst element (error over allowed error); -1: all equal
  std::vector<std::int64_t> index;  // its position, one a dimension
  double expected = 0, actual = 0;  // its two values
  double error = 0, allowed = 0;    // its error, and what is allowed
  double largest_error = 0;         // over all finite elements

  /// One line: "y[3, 17] is 0.52, the reference 0.5: error 0.02, allowed 1e-06 (4 of 512 elements are
  /// wrong)".
  std::string text(const std::string& name) const;
};

/// Compares elementwise. NaN equals NaN, an infinity equals itself; tensors of another dtype or shape are
/// wrong as a whole.
Comparison compare(const HostTensor& reference, const HostTensor& actual, const Tolerance& tolerance);

}  // namespace einkern::codegen::reference
