// What names mean while a function is checked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "dsl/check_value.h"

namespace einkern::dsl {

/// A tensor that has no memory: what each element is, over axes that stand for its indices.
struct Formula {
  std::vector<AxisId> axes;
  ExpressionId value;
};

/// A tensor, or a slice of one: positions that are fixed, and the others, which take the indices of a read in
/// order. `shape` holds the extents of those others.
struct TensorView {
  TensorId tensor;
  std::optional<Formula> formula;  // instead of the tensor
  std::vector<std::optional<ExpressionId>> positions;
  std::vector<ExpressionId> shape;
};

/// A name of a function: a dim, a scalar or a tensor. Index variables are not symbols.
struct Symbol {
  enum class Kind { dim, scalar, tensor } kind = Kind::dim;
  SourceRange where;
  Value value;      // of dims and scalars
  TensorView view;  // of tensors
  DType dtype = DType::f32;
  bool declared = false;  // a tensor of the signature: its type and shape are given
  bool input = false;     // a tensor that is only read
  bool inout = false;
  bool defined = true;  // results and locals: false until their definition
  bool failed = false;  // its definition had an error: what reads it is unknown
  bool used = false;
  bool updated = false;  // an inout tensor: something writes it
};

/// An index variable in scope. An invalid axis: its range had an error.
struct Variable {
  std::string name;
  AxisId axis;
  SourceRange where;
};

/// The definition that is being checked, as far as reads of its own target need it.
struct SelfReads {
  std::string name;
  bool typed = false;  // whether the target has its type yet; else a self-read takes the type of the rest
  std::vector<std::pair<std::vector<ExpressionId>, SourceRange>> reads;
};

/// One function's names: the function that is being checked, or one inlined into it.
struct Frame {
  const ast::Function* source = nullptr;
  std::map<std::string, DType, std::less<>> types;
  std::map<std::string, Symbol, std::less<>> symbols;
  std::map<std::string, SourceRange, std::less<>> targets;  // what the body defines, and where first
  std::vector<Variable> variables;                          // innermost last
  /// Axes of the caller on which the arguments depend: every tensor defined here has them in front.
  std::vector<AxisId> leading;
  /// Set before the names of local tensors; empty in the function that is being checked.
  std::string prefix;
  /// A function of scalars: its definitions are values, not tensors.
  bool scalars_only = false;
  /// A function whose tensors would have a size that depends on data: its definitions are formulas.
  bool formulas = false;
  /// In shapes, constraints and defaults, where only dims have values.
  bool dims_only = false;
  std::optional<SelfReads> self;

  Symbol* find(std::string_view name) {
    const auto found = symbols.find(name);
    return found == symbols.end() ? nullptr : &found->second;
  }
  const Variable* find_variable(std::string_view name) const {
    for (const Variable& variable : std::ranges::reverse_view(variables))
      if (variable.name == name) return &variable;
    return nullptr;
  }
};

}  // namespace einkern::dsl
