// Shapes meet a function: every dim gets its value, and every constraint and computed index is checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/size_expression.h"
#include "dsl/function.h"
#include "dsl/interval.h"

namespace einkern::dsl {

/// Most elements of one tensor: 2^40.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 40;

/// What a caller gives: the shape of each input and inout tensor (in parameter order) and `dim` parameters by
/// name.
struct CallShapes {
  std::vector<std::vector<std::int64_t>> tensors;
  std::map<std::string, std::int64_t, std::less<>> dims;
};

/// All dims and shapes of one call.
struct Binding {
  std::vector<std::int64_t> dims;                 // by DimId
  std::vector<std::vector<std::int64_t>> shapes;  // by TensorId, locals and outputs included
  core::SymbolValues symbols;                     // dims by name

  std::int64_t elements(TensorId tensor) const;
};

/// Solves dims from the shapes, computes derivations and defaults, then checks shapes, constraints, element
/// counts (at most most_elements a tensor) and every computed index. Errors are ErrorKind::shape and name the
/// tensor, the dim and both values.
core::Result<Binding> bind(const Function& function, const CallShapes& shapes);

/// Input and inout tensors, in parameter order: what CallShapes::tensors lines up with.
std::vector<TensorId> argument_tensors(const Function& function);

/// Value of an i64 or bool expression over dims alone.
core::Result<std::int64_t> evaluate_dims(const Function& function, ExpressionId id,
                                         const std::vector<std::int64_t>& dims);
/// The default of a scalar: of a float, rounded to its type; an integer's as a double (exact below 2^53).
core::Result<double> default_value(const Function& function, ScalarId scalar,
                                   const std::vector<std::int64_t>& dims);

/// An i64 expression over dims as a size expression over the dims' names; nullopt if it holds anything else.
std::optional<core::SizeExpression> size_expression(const Function& function, ExpressionId id);

}  // namespace einkern::dsl
