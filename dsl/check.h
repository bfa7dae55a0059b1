// The checker: from the syntax tree of one function, and types for its generic names, to a dsl::Function.
//
// Its parts stand in files by concern: check_signature (dims, parameters, where), check_definition and
// check_update (the body), check_ranges (what index variables run over), check_expression, check_builtin and
// check_call (the right sides). check_types holds the type rules, check_sizes the reasoning about sizes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/check_scope.h"
#include "dsl/check_sizes.h"
#include "dsl/check_types.h"
#include "dsl/compositions.h"
#include "dsl/diagnostic.h"
#include "dsl/function.h"

namespace einkern::dsl {

/// All functions of the sources by name, and what is known of them.
struct FunctionTable {
  std::vector<const ast::Function*> functions;
  std::map<std::string, std::size_t, std::less<>> by_name;
  /// Functions that had an error of their own: calls of them are unknown, silently.
  std::set<const ast::Function*> failed;

  const ast::Function* find(std::string_view name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : functions[found->second];
  }
};

/// Types that a generic name may take, sets written out; unknown words are reported.
std::vector<DType> allowed_types(const ast::TypeParameter& parameter, DiagnosticBag& diagnostics);

/// What `@precision(…)` of a function says; nothing without it.
std::optional<Precision> find_precision(const ast::Function& source);

/// Checks one function for one choice of types.
class FunctionChecker {
 public:
  FunctionChecker(const FunctionTable& table, const ast::Function& source,
                  const std::map<std::string, DType, std::less<>>& types, DiagnosticBag& diagnostics);
  /// The function; nothing if there was an error.
  std::optional<Function> check();

 private:
  // check_signature.cpp
  void check_attributes(const ast::Function& source);
  void declare_parameters(const ast::Function& source, const std::vector<std::vector<ExpressionId>>& shapes);
  void declare_scalar(const ast::Parameter& parameter, DType type);
  void declare_tensor(const ast::Identifier& name, DType type, std::vector<ExpressionId> shape,
                      TensorRole role);
  void declare_results(const ast::Function& source);
  void require_defined_results();
  void warn_about_unused();
  std::vector<ExpressionId> shape_of(const std::vector<ast::ExpressionPointer>& shape);
  std::optional<ExpressionId> size(const ast::Expression& expression, std::string_view what);
  std::optional<DType> type_named(const ast::Identifier& name);
  bool declare(const ast::Identifier& name, Symbol symbol);

  // check_dims.cpp
  void declare_dims(const ast::Function& source);
  void declare_shape_dims(const ast::Function& source);
  void declare_dim(const ast::Identifier& name, DimSource source);
  void merge_dims(const ast::Function& source);
  void renumber_dims();
  void check_where(const ast::Function& source);
  void refuse_cyclic_derivations();
  void require_bound_dims();

  // check_definition.cpp
  void check_body(const ast::Function& source);
  void check_definition(const ast::Definition& definition);
  void define(const ast::Definition& definition, const ast::Target& target, Symbol* declared);
  std::optional<std::vector<AxisId>> left_axes(const ast::Definition& definition, const ast::Target& target,
                                               const Symbol* declared);
  std::optional<ExpressionId> left_extent(const ast::Definition& definition, const ast::Target& target,
                                          std::size_t position, const Symbol* declared);
  std::optional<ExpressionId> explicit_extent(const ast::Bounds& bounds);
  bool check_left_names(const ast::Target& target, const Symbol* declared);
  bool may_name_variable(const ast::Identifier& name);
  void refuse_target(const ast::Definition& definition, const ast::Target& target, const Symbol& symbol);
  void define_scalar(const ast::Target& target, const Operand& value, std::optional<DType> type);
  void define_value(const ast::Definition& definition, const ast::Target& target,
                    const std::vector<AxisId>& axes);
  std::optional<DType> local_type(const ast::Definition& definition, const ast::Target& target,
                                  bool reads_itself);
  void finish_definition(const ast::Target& target, DType type, Definition definition);
  std::optional<int> recurrent_position(const ast::Target& target, const std::vector<AxisId>& axes);
  Symbol& declare_local(const ast::Target& target, DType type, const std::vector<ExpressionId>& shape);
  void fail_target(const ast::Target& target);
  void add_definition(Definition definition);
  bool within_limits(ExpressionId value, SourceRange where);

  // check_update.cpp
  void update(const ast::Definition& definition, const ast::Target& target, Symbol& symbol);
  std::vector<ast::Identifier> update_variables(const ast::Target& target);
  std::optional<std::vector<AxisId>> update_axes(const ast::Definition& definition, const ast::Target& target,
                                                 const Symbol& symbol);
  std::optional<ExpressionId> update_extent(const ast::Definition& definition, const ast::Target& target,
                                            const Symbol& symbol, const ast::Identifier& variable);

  // check_ranges.cpp
  struct Evidence {
    ExpressionId extent;
    SourceRange where;
    std::string what;  // "dimension 1 of `x`"
  };
  struct Ranges {
    std::vector<Evidence> reads;  // unguarded reads with the variable alone in a position
    std::vector<Evidence>
        bounds;               // the same in the bounds of reductions: they count only where no other does
    bool incomplete = false;  // a read of something that had an error
  };
  void collect_ranges(const ast::Expression& expression, std::string_view variable, bool in_bounds,
                      Ranges& ranges);
  void collect_read_ranges(const ast::Index& index, std::string_view variable, bool in_bounds,
                           Ranges& ranges);
  void collect_reduction_ranges(const ast::Reduction& reduction, std::string_view variable, bool in_bounds,
                                Ranges& ranges);
  std::optional<ExpressionId> decide_range(const ast::Identifier& variable, const Ranges& ranges,
                                           const Evidence* declared);
  std::optional<std::vector<ExpressionId>> shape_of_read(const ast::Expression& base, bool& failed);

  // check_expression.cpp
  Value check_expression(const ast::Expression& expression);
  Operand operand(const ast::Expression& expression) {
    return {check_expression(expression), expression.range};
  }
  std::vector<Operand> operands(const std::vector<ast::ExpressionPointer>& expressions);
  Value check_name(std::string_view name, SourceRange where);
  Value check_index(const ast::Index& index, SourceRange where, const ast::Expression* alternative);
  Value check_call_index(const ast::Call& call, const ast::Index& index, SourceRange where,
                         const ast::Expression* alternative);
  Value check_reduction(const ast::Reduction& reduction, SourceRange where);
  bool declare_reduction_variables(const ast::Reduction& reduction, std::vector<AxisId>& axes);
  Value build_reduction(const ast::Reduction& reduction, const std::vector<AxisId>& axes, const Operand& body,
                        std::optional<ExpressionId> nth);
  Value build_mean(const std::vector<AxisId>& axes, const Operand& body);
  ExpressionId count_of(const std::vector<AxisId>& axes);
  std::optional<std::vector<ExpressionId>> check_subscripts(const ast::Index& index, std::size_t rank,
                                                            std::string_view name);
  Value build_read(const TensorView& view, const std::vector<ExpressionId>& indices, SourceRange where,
                   const ast::Expression* alternative);
  std::optional<ExpressionId> check_alternative(const ast::Expression& alternative, DType type,
                                                SourceRange read);
  Value read_formula(const Formula& formula, const std::vector<ExpressionId>& positions, Guard guard,
                     std::optional<ExpressionId> otherwise);
  ExpressionId with_gathers(ExpressionId id);
  Value read_self(const Symbol& symbol, const ast::Index& index, SourceRange where,
                  const ast::Expression* alternative);
  bool check_inside(const TensorView& view, const std::vector<ExpressionId>& positions, SourceRange where);
  Value unknown_name(std::string_view name, SourceRange where);
  std::vector<std::string_view> visible_names() const;

  // check_builtin.cpp
  Value check_builtin(const ast::Call& call, SourceRange where);
  Value fold_extremes(Op op, std::vector<Operand> arguments, SourceRange where);
  Value compose(const Composition& composition, const Operand& argument);
  Value check_type_function(const ast::Call& call, SourceRange where);
  Value check_bitcast(const ast::Call& call);
  std::optional<DType> type_argument(const ast::Expression& argument);
  Value unknown_function(const ast::Call& call);

  // check_call.cpp
  struct Argument {
    const ast::Parameter* parameter = nullptr;
    const ast::Expression* expression = nullptr;  // null: the parameter's default
    std::optional<TensorView> view;               // of tensors
    DType dtype = DType::f32;
    Operand operand;  // of scalars
  };
  struct CallSite {
    const ast::Function* callee = nullptr;
    const ast::Call* call = nullptr;
    SourceRange where;
    std::vector<Argument> arguments;
  };
  Value check_scalar_call(const ast::Call& call, SourceRange where);
  std::optional<std::vector<Symbol>> check_call(const ast::Call& call, SourceRange where,
                                                const std::vector<AxisId>* leading);
  void define_whole(const ast::Definition& definition);
  bool define_result(const ast::Target& target, const Symbol& result);
  std::string shape_text(const std::vector<ExpressionId>& shape);
  bool is_whole_definition(const ast::Definition& definition) const;
  std::optional<std::vector<Symbol>> inline_body(const CallSite& site, Frame callee);
  void report_inside(const CallSite& site, const DiagnosticBag& inner);
  void declare_callee_result(const ast::ResultDeclaration& result);
  std::string call_key(const Frame& callee);
  std::vector<AxisId> leading_axes(const Frame& callee);
  bool leading_are_sizes(const std::vector<AxisId>& leading);
  bool may_be_formulas(const CallSite& site);
  ExpressionId leading_extent(AxisId axis);
  ExpressionId leading_position(AxisId axis);
  std::string local_name(std::string_view name);

  // check_arguments.cpp
  std::optional<CallSite> call_site(const ast::Call& call, SourceRange where);
  bool same_precision(const CallSite& site);
  std::optional<Argument> check_argument(const ast::Function& callee, const ast::Parameter& parameter,
                                         const ast::Expression* expression);
  std::optional<Argument> tensor_argument(const ast::Function& callee, const ast::Parameter& parameter,
                                          const ast::Expression& expression);
  bool slice(const ast::Index& index, const std::string& name, TensorView& view);
  bool deduce_types(const CallSite& site, Frame& callee);
  bool bind_scalars(const CallSite& site, Frame& callee);
  void bind_tensors(const CallSite& site, Frame& callee);
  bool same_compute_types(const CallSite& site, const Frame& callee);

  // check_call_dims.cpp
  bool bind_dims(const CallSite& site, Frame& callee);
  bool bind_dim_arguments(const CallSite& site, Frame& callee);
  void solve_dims(const CallSite& site, Frame& callee);
  bool solve_dimension(const ast::Expression& dimension, ExpressionId extent, Frame& callee);
  bool solve_where(const ast::WhereItem& item, Frame& callee);
  bool bind_dim(Frame& callee, const std::string& name, SourceRange where, ExpressionId value);
  Value default_in(Frame& callee, const ast::Expression& expression);
  std::optional<ExpressionId> size_in(Frame& callee, const ast::Expression& expression);
  bool require_shapes(const CallSite& site, Frame& callee);
  bool require_equal(ExpressionId left, ExpressionId right, SourceRange where);
  bool require(ExpressionId condition, SourceRange where);
  ExpressionId divide_exactly(ExpressionId extent, std::int64_t factor, std::int64_t offset);
  ExpressionId expression_of(const LinearForm& form);
  std::optional<std::vector<ExpressionId>> result_shape(const ast::Call& call);
  std::optional<TensorView> shape_of_argument(const ast::Expression& expression);

  Frame& frame() { return *frame_; }
  ExpressionArena& arena() { return function_.arena; }
  Diagnostic& error(SourceRange where, std::string message) {
    return diagnostics_->error(where, std::move(message));
  }
  ExpressionId index_constant(std::int64_t value) { return arena().constant_integer(DType::i64, value); }

  const FunctionTable& table_;
  const ast::Function& source_;
  DiagnosticBag* diagnostics_;
  Function function_;
  Typing typing_;
  SizeAnalysis sizes_;
  Frame top_;
  Frame* frame_ = nullptr;
  std::set<DimId> dropped_dims_;
  std::size_t inlined_calls_ = 0;
  std::size_t depth_ = 0;
  std::set<std::string, std::less<>> taken_names_;
  std::map<std::string, std::vector<Symbol>> inlined_;  // results by callee and arguments
  std::map<TensorId, int> versions_;                    // how often a tensor was updated
};

}  // namespace einkern::dsl
