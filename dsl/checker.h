// The checker: from one function's syntax tree and the types of its generic names to a dsl::Function.
// Private to dsl; program.h is the door. The parts stand in check_*.cpp, one concern a file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "dsl/ast.h"
#include "dsl/check_value.h"
#include "dsl/diagnostic.h"
#include "dsl/function.h"
#include "dsl/program.h"

namespace einkern::dsl {

using FunctionTable = std::map<std::string, const ast::Function*, std::less<>>;

/// The element types a generic parameter's choices stand for: named types, or the sets float, int, any.
std::vector<DType> expand_choices(const ast::TypeParameter& parameter);

/// A tensor as the body of a function sees it: a real one, a slice of a real one, or (of an inlined call) a
/// formula.
struct TensorSymbol {
  DType dtype = DType::f32;
  std::vector<ExpressionId> shape;
  TensorId tensor;
  std::vector<ExpressionId>
      fixed;  // a slice: per dimension of `tensor` the index it is cut at; not valid where it is kept
  std::vector<AxisId> axes;  // a formula: its variables …
  ExpressionId formula;      // … and its value; valid only then
  bool defined = false;
  bool is_result = false;
  bool is_inout = false;
};
struct ValueSymbol {  // a scalar, a dim, or an index variable
  enum class Kind { scalar, dim, axis } kind = Kind::scalar;
  Value value;
  AxisId axis;
};
struct Symbol {
  std::variant<TensorSymbol, ValueSymbol> meaning;
  SourceRange where;
  bool used = false;
};

/// One function's names while its body is checked: the function itself, or a call that is being inlined.
struct Frame {
  const ast::Function* function = nullptr;
  TypeBinding types;
  std::map<std::string, Symbol, std::less<>> symbols;
  std::vector<std::pair<std::string, AxisId>> variables;  // index variables in scope, innermost last
  std::vector<AxisId> context;  // of an inlined call: the caller's variables that its arguments use
  bool by_formula = false;      // of an inlined call: definitions become formulas, not tensors
  std::string prefix;           // of its locals' names
};

class Checker {
 public:
  Checker(const FunctionTable& functions, DiagnosticBag& bag)
      : functions_(functions), bag_(&bag), rules_(function_.arena, bag) {}

  /// The checked function, or nothing after an error.
  std::optional<Function> check(const ast::Function& function, const TypeBinding& types);

 private:
  // check_signature.cpp
  void declare_parameters(const ast::Function& function);
  void declare_dims(const ast::Function& function);
  void declare_where(const ast::Function& function);
  void declare_results(const ast::Function& function);
  void check_dims_are_bound(const ast::Function& function);
  void check_precision(const ast::Function& function);
  bool declare(const ast::Identifier& name, std::variant<TensorSymbol, ValueSymbol> meaning);
  std::optional<DType> resolve_type(const ast::Identifier& name);
  std::vector<ExpressionId> check_shape(const std::vector<ast::ExpressionPointer>& shape);

  // check_definitions.cpp
  void check_body(const ast::Function& function);
  void check_definition(const ast::Definition& definition);
  void check_whole_tensor(const ast::Definition& definition);
  void check_element_definition(const ast::Definition& definition, const ast::Target& target);
  void check_update(const ast::Definition& definition, const ast::Target& target, TensorSymbol symbol);
  bool is_update(const ast::Definition& definition, const ast::Target& target);
  std::optional<std::vector<AxisId>> target_axes(const ast::Definition& definition, const ast::Target& target,
                                                 const TensorSymbol* declared);
  void define(const ast::Target& target, const std::vector<AxisId>& axes,
              const std::vector<ExpressionId>& shape, std::optional<DType> declared_type,
              const ast::Expression& value);
  TensorSymbol* add_target(const ast::Target& target, DType dtype, std::vector<ExpressionId> shape);
  std::optional<int> recurrent_position(TensorId target, const std::vector<AxisId>& axes, ExpressionId value,
                                        SourceRange range);
  void require_equal(ExpressionId a, ExpressionId b, std::string text);

  // check_ranges.cpp
  struct RangeCandidate {
    ExpressionId extent;
    SourceRange where;
  };
  void collect_ranges(const ast::Expression& expression, const std::string& variable,
                      std::vector<RangeCandidate>& found);
  std::optional<ExpressionId> infer_extent(const ast::Identifier& variable,
                                           std::vector<RangeCandidate> candidates, SourceRange range);
  std::optional<AxisId> make_axis(const ast::Identifier& name, const std::optional<ast::Bounds>& bounds,
                                  const std::vector<RangeCandidate>& candidates);
  bool variable_name_is_free(const ast::Identifier& name);
  std::optional<std::vector<ExpressionId>> shape_of(const ast::Expression& base);
  std::string text_of(ExpressionId id) const;

  // check_expressions.cpp
  Value check_value(const ast::Expression& expression);
  Value check_name(const ast::Name& name, SourceRange range);
  Value check_binary(const ast::Binary& binary, const ast::Expression& expression);
  Value check_comparison(const ast::Comparison& comparison, SourceRange range);
  Value check_reduction(const ast::Reduction& reduction, SourceRange range);
  Value reduce(const std::string& operation, std::vector<AxisId> axes, const Value& body,
               std::optional<ExpressionId> nth, SourceRange range);
  Value unknown_name(const std::string& name, SourceRange range);

  // check_reads.cpp
  Value check_index(const ast::Index& index, SourceRange range);
  Value check_else(const ast::Else& node, SourceRange range);
  Value read_element(const TensorSymbol& symbol, std::vector<ExpressionId> indices,
                     std::optional<Value> alternative, SourceRange range, const std::string& name);
  std::optional<std::vector<ExpressionId>> check_subscripts(const ast::Index& index, std::size_t rank,
                                                            SourceRange range);
  const TensorSymbol* tensor_base(const ast::Expression& base, std::optional<TensorSymbol>& storage);
  bool is_data_dependent(ExpressionId id) const;
  void check_inside(ExpressionId index, ExpressionId extent, SourceRange range, const std::string& name);

  // check_builtins.cpp
  Value check_call(const ast::Call& call, SourceRange range);
  Value call_builtin(const ast::Call& call, SourceRange range);
  Value call_composite(std::string_view name, const Value& x, SourceRange range);
  Value call_type_property(const ast::Call& call, SourceRange range);

  // check_calls.cpp
  std::optional<std::vector<TensorSymbol>> inline_call(const ast::Call& call, SourceRange range);
  bool bind_argument(const ast::Parameter& parameter, const ast::Expression& argument, Frame& frame,
                     const Frame& caller);
  std::optional<TensorSymbol> tensor_argument(const ast::Expression& argument);
  bool bind_callee_dims(const ast::Function& callee, SourceRange range);
  std::vector<AxisId> context_of(const Frame& frame) const;
  bool is_scalar_function(const ast::Function& function) const;

  Symbol* find(std::string_view name);
  AxisId* find_variable(std::string_view name);
  Frame& frame() { return *frame_; }
  ExpressionArena& arena() { return function_.arena; }
  Diagnostic& error(SourceRange range, std::string message) { return bag_->error(range, std::move(message)); }

  const FunctionTable& functions_;
  DiagnosticBag* bag_;
  Function function_;
  ValueRules rules_;
  Frame* frame_ = nullptr;
  std::vector<const ast::Function*> call_stack_;
  std::set<std::string> tensor_names_;
};

}  // namespace einkern::dsl
