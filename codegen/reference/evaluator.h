// The reference: every function computed slowly and obviously right, floats in f64, integers exactly, stores
// rounded as declared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "dsl/binding.h"
#include "dsl/function.h"

namespace einkern::codegen::reference {

/// A dense row-major tensor of the reference: floats as doubles that the dtype can hold, everything else as
/// integers.
struct HostTensor {
  DType dtype = DType::f64;
  std::vector<std::int64_t> shape;
  std::vector<double> floats;          // of float dtypes
  std::vector<std::int64_t> integers;  // of integers and bool (u64 as two's complement)

  /// A tensor of zeros.
  static HostTensor zeros(DType dtype, std::vector<std::int64_t> shape);
  std::int64_t elements() const;
};

/// A scalar argument's value.
struct HostScalar {
  DType dtype = DType::f32;
  double floating = 0;
  std::int64_t integer = 0;
};

struct Arguments {
  std::map<dsl::TensorId, HostTensor> tensors;  // every input and inout
  std::map<dsl::ScalarId, HostScalar> scalars;  // those without a default, and those to override
};

/// How f32 arithmetic runs: in double without rounding (the oracle), or rounded to f32 at each step as
/// backends do.
enum class Arithmetic { wide, as_typed };

/// Results (and inout tensors after the call) by TensorId.
using Results = std::map<dsl::TensorId, HostTensor>;

/// Evaluates a bound function. Floats that end in a storage or f32 result are rounded to it.
/// `limit_operations` bounds the work, counted in elements and terms: an error says so when it would be
/// exceeded.
core::Result<Results> evaluate(const dsl::Function& function, const dsl::Binding& binding,
                               const Arguments& arguments, Arithmetic arithmetic = Arithmetic::wide,
                               double limit_operations = 1e11);

/// Results, and for each of their elements how far a correct backend's may lie from it: rounding in the
/// declared types, sums in any order, elementary functions within 4 units in the last place, products as
/// @precision allows, all carried through to the result. 0: must be equal. Infinity: rounding decides (an
/// argmax between near ties).
struct BoundedResults {
  Results values;
  std::map<dsl::TensorId, std::vector<double>> bounds;  // by element, row-major
};

/// evaluate() in wide arithmetic with error bounds: about 3 times slower.
core::Result<BoundedResults> evaluate_with_bounds(const dsl::Function& function, const dsl::Binding& binding,
                                                  const Arguments& arguments, double limit_operations = 1e11);

}  // namespace einkern::codegen::reference
