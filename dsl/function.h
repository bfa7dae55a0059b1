// A checked function with all types known: what codegen reads.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dsl/expression.h"
#include "dsl/source.h"

namespace einkern::dsl {

enum class TensorRole { input, inout, output, local, temporary };  // temporary: added by the planner

struct Tensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<ExpressionId> shape;  // i64 expressions over dims
  TensorRole role = TensorRole::local;
  SourceRange where;
};

/// A scalar argument; its default, if any, is an expression over dims.
struct Scalar {
  std::string name;
  DType dtype = DType::f32;
  std::optional<ExpressionId> default_value;
  SourceRange where;
};

/// How a dim gets its value when shapes bind.
enum class DimSource {
  shape,      // solved from an argument's shape
  parameter,  // `C: dim`, passed by the caller or its default
  derived,    // `where G = H / HK`
};

struct Dim {
  std::string name;
  DimSource source = DimSource::shape;
  std::optional<ExpressionId> value;  // the derivation, or the default of a parameter
  SourceRange where;
};

/// One place in the signature, in order.
using Parameter = std::variant<TensorId, ScalarId, DimId>;

enum class UpdateOperator { assign, add, maximum, minimum };

/// `target[axes] = value` for all axes in their ranges; axis i runs over 0..shape[i].
/// An update (`y[t[n], d] += …`) has `indices`, one a dimension, and runs over `axes` in order. A recurrence
/// reads its own target, moved by a positive literal along `axes[recurrent]`, and runs in that order.
struct Definition {
  TensorId target;
  std::vector<AxisId> axes;
  ExpressionId value;
  std::optional<UpdateOperator> update;
  std::vector<ExpressionId> indices;
  std::optional<int> recurrent;
  SourceRange where;
};

/// What `@precision(…)` allows.
struct Precision {
  enum class Kind { exact, tf32, bf16, f16, bounded } kind = Kind::exact;
  double bound = 0;  // of `error < bound`
};

/// A function instantiated for concrete element types. Calls are inlined: a callee's definitions are locals
/// here.
struct Function {
  std::string name;
  std::string documentation;
  Precision precision;
  ExpressionArena arena;
  std::vector<Dim> dims;
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<Parameter> parameters;
  std::vector<TensorId> results;
  std::vector<ExpressionId> constraints;  // bool, over dims
  std::vector<std::string> constraint_texts;
  std::vector<Definition> definitions;  // in order: each reads only what stands above it
  std::string canonical_text;           // prints and parses back; the fingerprint of this instantiation

  const Tensor& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id.value)]; }
  const Scalar& operator[](ScalarId id) const { return scalars[static_cast<std::size_t>(id.value)]; }
  const Dim& operator[](DimId id) const { return dims[static_cast<std::size_t>(id.value)]; }
};

}  // namespace einkern::dsl
