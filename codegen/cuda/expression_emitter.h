// From expressions to CUDA C++: statements in a kernel's body, and the text of values.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codegen/cuda/kernel_writer.h"

namespace einkern::codegen::cuda {

/// Emits values of expressions into a kernel's body. What an expression's axes and already computed nodes are
/// called in the text is bound beforehand. Values that are used again, reads and calls become named
/// constants; the rest stays inline.
///
/// Bindings and named values live in scopes, which must follow the text's braces: open a block, open a scope,
/// bind, emit, let the scope end, close the block.
///
/// i64 arithmetic over axes, dims and literals alone is written in the kernel's index type; every other i64
/// value in `long long`. `where`, `and` and `or` read only what is chosen: a branch that reads or is costly
/// becomes an `if`.
class ExpressionEmitter {
 public:
  explicit ExpressionEmitter(KernelWriter& kernel);

  /// Ends at its destruction: bindings and values made inside are forgotten.
  class Scope {
   public:
    explicit Scope(ExpressionEmitter& emitter);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ExpressionEmitter& emitter_;
  };

  /// `text` is a primary expression (an identifier, a literal, or in parentheses), of the index type, and
  /// cheap.
  void bind_axis(AxisId axis, std::string text);
  /// `text` holds the node's value in value_type(node's type).
  void bind_node(ExpressionId id, std::string text);

  /// The text an axis is bound to; every axis of a kernel is bound before it is used.
  const std::string& axis_text(AxisId axis) const;

  /// A primary expression with the value, of value_type(type of the node) (an index may be of the narrower
  /// index type).
  std::string value(ExpressionId root);
  /// The value as a named constant or variable, for use in several places.
  std::string named_value(ExpressionId id);
  /// Emits the values that do not depend on `inner` and are certain to be needed, so that a loop over `inner`
  /// finds them.
  void hoist(ExpressionId root, const std::vector<AxisId>& inner);

  /// Text of the offset in elements of a tensor's element, given the index texts (primary), one a dimension.
  std::string offset(dsl::TensorId tensor, const std::vector<std::string>& indices);
  /// Text of the stored element: "t_x[offset]".
  std::string element(dsl::TensorId tensor, const std::vector<std::string>& indices);
  /// The element as a value of its compute type.
  std::string load(dsl::TensorId tensor, const std::vector<std::string>& indices);
  /// `target[indices] = value;`, rounded to the target's type.
  void store(dsl::TensorId target, const std::vector<std::string>& indices, std::string_view value);
  /// The kernel's stores at the bound axes, updates included: all values first, then the writes.
  void store_all(const std::vector<Store>& stores);

  /// A reduction under way: the variables that hold it, of value_type(type); argmax and argmin have an index
  /// beside.
  struct Accumulator {
    dsl::Reduction reduction = dsl::Reduction::sum;
    DType type = DType::f32;  // of what is summed or compared
    std::string value, index;
  };
  /// Declares the variables, holding the identity. `name` is a hint.
  Accumulator declare_accumulator(dsl::Reduction reduction, DType type, std::string_view name);
  /// Adds the value of one term at the bound axes; a float sum of a product is one multiply-add. `index` is
  /// for argmax and argmin.
  void accumulate(const Accumulator& accumulator, ExpressionId term, std::string_view index = {});
  /// Merges a partial result, given as primary expressions.
  void combine(const Accumulator& accumulator, std::string_view value, std::string_view index = {});
  /// What the reduction's node stands for: the value, or the index.
  std::string result(const Accumulator& accumulator) const;

  /// Opens one loop an axis over its range, outermost first, and binds the axes in the current scope. Gives
  /// their number.
  int open_loops(const std::vector<AxisId>& axes);
  void close_blocks(int count);

  KernelWriter& kernel() { return kernel_; }
  Arithmetic arithmetic() const { return kernel_.arithmetic(); }

 private:
  struct Frame {
    std::map<AxisId, std::string> axes;
    std::map<ExpressionId, std::string> nodes;
  };
  struct Facts {   // of a node, worked out once
    int uses = 0;  // by other nodes of the kernel
    std::optional<std::vector<AxisId>> free_axes;
    std::optional<std::string> extent;  // text, if it is over dims alone
    bool extent_known = false;
  };

  const dsl::ExpressionArena& arena() const { return kernel_.graph().arena; }
  const dsl::Expression& node(ExpressionId id) const { return arena()[id]; }
  TextWriter& body() { return kernel_.body(); }

  const std::string* find(ExpressionId id);
  const std::vector<AxisId>& free_axes(ExpressionId id);
  bool depends_on_any(ExpressionId id, const std::vector<AxisId>& axes);
  const std::string* extent_text(ExpressionId id);
  std::vector<ExpressionId> eager_operands(ExpressionId id);

  std::string_view type_name(ExpressionId id) const;
  std::string keep(ExpressionId id, std::string text);
  std::string declare(ExpressionId id, std::string_view text, std::string_view kind, std::string_view name);
  TextWriter captured(const std::function<void()>& emit);

  std::string compute(ExpressionId id);
  std::string constant(ExpressionId id);
  std::string read(ExpressionId id);
  std::string inside_condition(ExpressionId id, const std::vector<std::string>& indices);
  /// `condition ? chosen : other`, or an `if` where the alternatives need statements.
  std::string choose(ExpressionId id, const std::string& condition,
                     const std::function<std::string()>& chosen, const std::function<std::string()>& other,
                     std::string_view name);
  void hoist_shared(const std::vector<ExpressionId>& branches);
  std::string reduce(ExpressionId id);
  std::string reduce_nth(ExpressionId id, ExpressionId nth);
  std::string convert(ExpressionId id);
  std::string operate(ExpressionId id);
  std::string divide_index(ExpressionId id);
  bool known_nonnegative(ExpressionId id) const;

  KernelWriter& kernel_;
  std::deque<Frame> frames_;
  std::unordered_map<ExpressionId, Facts> facts_;
};

}  // namespace einkern::codegen::cuda
