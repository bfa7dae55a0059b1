// Checked expressions: immutable, hash-consed nodes in an arena. Two equal expressions have one id.
//
// A node's `type` is always a compute type (bool, i32, i64, u32, u64, f32, f64). Dims, axes and index
// arithmetic are i64; backends narrow them where bounds prove it. Storage types appear only in tensors (a
// read converts) and in `cast`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dtype.h"
#include "dsl/identifiers.h"

namespace einkern::dsl {

enum class Op : std::uint8_t {
  constant,  // `bits`
  dim,       // `index`: DimId; i64
  scalar,    // `index`: ScalarId
  axis,      // `index`: AxisId; i64
  read,  // `index`: TensorId; operands: one integer index a dimension, then the alternative of a guarded read
  reduce,   // `reduction` over `axes`; operands: the body, then the optional nth
  cast,     // to `target`; a storage type rounds (or wraps) and the result has its compute type
  bitcast,  // same width, from the operand's type to `target`
#define EINKERN_OP(id, ...) id,
#include "dsl/ops.def"
};

enum class TypeRule : std::uint8_t {
  number,
  integer,
  shift,
  comparison,
  ordering,
  boolean,
  where,
  floating,
  float_to_boolean,
  count_bits,
  random,
  uniform
};

/// One row of ops.def.
struct OpFacts {
  std::string_view id, spelling;
  int arity;
  TypeRule rule;
  int cost;
  std::string_view documentation;
};
inline constexpr Op first_scalar_op = static_cast<Op>(static_cast<int>(Op::bitcast) + 1);
/// All rows of ops.def, in order.
const std::vector<OpFacts>& all_op_facts();
/// Facts of an operation of ops.def; not for constant … bitcast.
const OpFacts& facts(Op op);

/// What a reduction does. The checker lowers mean to sum / extent.
enum class Reduction : std::uint8_t { sum, product, maximum, minimum, any, all, argmax, argmin };
std::string_view reduction_name(Reduction reduction);

/// How a read is kept inside its tensor.
enum class Guard : std::uint8_t {
  proven,       // indices are computed, and proven inside at compile time or when shapes bind
  gather,       // data-dependent: outside reads 0, with no access
  alternative,  // `x[…] else e`: outside gives the last operand
};

struct Expression {
  Op op = Op::constant;
  DType type = DType::f32;
  DType target = DType::f32;  // cast, bitcast
  Reduction reduction = Reduction::sum;
  Guard guard = Guard::proven;
  std::int32_t index = -1;
  std::uint64_t bits =
      0;  // constant: integers and bool as two's complement i64, floats as the bits of a double
  std::vector<AxisId> axes;
  std::vector<ExpressionId> operands;

  double float_value() const;
  std::int64_t integer_value() const { return static_cast<std::int64_t>(bits); }
  friend bool operator==(const Expression&, const Expression&) = default;
};

/// An index variable with its half-open range. Bounds are i64 expressions over dims, and for a reduction's
/// axis also over outer axes, scalars and reads. Axes of definitions begin at 0.
struct Axis {
  std::string name;
  ExpressionId low, high;
};

/// Owner of nodes and axes. Builders give the existing id of an equal node. Integer arithmetic on constants
/// folds, as do x + 0, x - 0, x * 1 and x / 1 in i64, so that index expressions stay small; floats are never
/// rewritten.
class ExpressionArena {
 public:
  ExpressionId constant_integer(DType type, std::int64_t value);  // any integer compute type, or bool
  ExpressionId constant_float(DType type, double value);          // f32 (rounded) or f64
  ExpressionId dim(DimId id);
  ExpressionId scalar(ScalarId id, DType type);
  ExpressionId axis(AxisId id);
  /// `storage` is the tensor's element type; the node has its compute type.
  ExpressionId read(TensorId tensor, DType storage, std::vector<ExpressionId> indices,
                    Guard guard = Guard::proven, std::optional<ExpressionId> alternative = {});
  ExpressionId reduce(Reduction reduction, DType type, std::vector<AxisId> axes, ExpressionId body,
                      std::optional<ExpressionId> nth = {});
  ExpressionId cast(DType target, ExpressionId operand);  // the operand itself if that is already its type
  ExpressionId bitcast(DType target, ExpressionId operand);
  ExpressionId apply(Op op, DType type, std::vector<ExpressionId> operands);
  ExpressionId intern(Expression expression);
  AxisId add_axis(std::string name, ExpressionId low, ExpressionId high);

  const Expression& operator[](ExpressionId id) const { return nodes_[static_cast<std::size_t>(id.value)]; }
  const Axis& operator[](AxisId id) const { return axes_[static_cast<std::size_t>(id.value)]; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t axis_count() const { return axes_.size(); }

 private:
  std::vector<Expression> nodes_;
  std::vector<Axis> axes_;
  std::unordered_multimap<std::size_t, ExpressionId> index_;
};

/// Axes that occur free in an expression (bounds of inner reductions included), ascending.
std::vector<AxisId> free_axes(const ExpressionArena& arena, ExpressionId id);

/// Calls `visit` once for each distinct node reachable from `id` (bounds of reductions' axes included),
/// operands first. Iterative: the depth of an expression never overflows the stack.
void visit_nodes(const ExpressionArena& arena, ExpressionId id,
                 const std::function<void(ExpressionId)>& visit);

/// What `substitute` replaces: axes by expressions, and whole nodes by nodes (looked up before axes).
struct Substitution {
  std::map<AxisId, ExpressionId> axes;
  std::map<ExpressionId, ExpressionId> nodes;
};
/// The expression with the replacements made. Reductions whose bounds or bodies change get fresh axes of the
/// same names.
ExpressionId substitute(ExpressionArena& arena, ExpressionId id, const Substitution& replacements);

/// The value if the expression is a constant integer.
std::optional<std::int64_t> constant_value(const ExpressionArena& arena, ExpressionId id);

}  // namespace einkern::dsl
