#include "dsl/function_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "dsl/operator_strength.h"

namespace einkern::dsl {
namespace {

constexpr int value = else_strength;     // where an `else` may stand bare
constexpr int expression = disjunction;  // where `else` needs parentheses

/// The shortest number that reads back as the same constant.
std::string number_text(const Expression& node) {
  if (node.type == DType::boolean) return node.bits != 0 ? "true" : "false";
  if (node.type == DType::u64) return fmt::format("{}", node.bits);
  if (core::is_integer(node.type)) return fmt::format("{}", node.integer_value());
  const double number = node.float_value();
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text =
      node.type == DType::f32 ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string_view precision_text(Precision::Kind kind) {
  switch (kind) {
    case Precision::Kind::tf32:
      return "tf32";
    case Precision::Kind::bf16:
      return "bf16";
    case Precision::Kind::f16:
      return "f16";
    default:
      return "exact";
  }
}

std::string_view update_text(UpdateOperator update) {
  switch (update) {
    case UpdateOperator::assign:
      return "=";
    case UpdateOperator::add:
      return "+=";
    case UpdateOperator::maximum:
      return "max=";
    case UpdateOperator::minimum:
      return "min=";
  }
  return "=";
}

class FunctionPrinter {
 public:
  explicit FunctionPrinter(const Function& function) : function_(function) {
    for (const Dim& dim : function.dims) taken_.insert(dim.name);
    for (const Tensor& tensor : function.tensors) taken_.insert(tensor.name);
    for (const Scalar& scalar : function.scalars) taken_.insert(scalar.name);
  }

  std::string print() {
    print_signature();
    out_ += " {\n";
    for (const Definition& definition : function_.definitions) print_definition(definition);
    return std::move(out_) + "}\n";
  }

 private:
  const Expression& node(ExpressionId id) const { return function_.arena[id]; }
  bool is_constant(ExpressionId id) const { return node(id).op == Op::constant; }

  void print_signature() {
    const Precision& precision = function_.precision;
    if (precision.kind == Precision::Kind::bounded)
      out_ += fmt::format("@precision(error < {})\n", precision.bound);
    else if (precision.kind != Precision::Kind::exact)
      out_ += fmt::format("@precision({})\n", precision_text(precision.kind));
    out_ += fmt::format("fn {}(", function_.name);
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      if (i > 0) out_ += ", ";
      std::visit([this](auto id) { print_parameter(id); }, function_.parameters[i]);
    }
    out_ += ')';
    for (std::size_t i = 0; i < function_.results.size(); ++i) {
      out_ += i == 0 ? " -> " : ", ";
      print_tensor(function_[function_.results[i]]);
    }
    print_where();
  }

  void print_tensor(const Tensor& tensor) {
    out_ += fmt::format("{}: {}{}", tensor.name, tensor.role == TensorRole::inout ? "inout " : "",
                        core::dtype_name(tensor.dtype));
    if (!tensor.shape.empty()) print_list("[", tensor.shape, "]");
  }

  void print_parameter(TensorId id) { print_tensor(function_[id]); }
  void print_parameter(ScalarId id) {
    const Scalar& scalar = function_[id];
    out_ += fmt::format("{}: {}", scalar.name, core::dtype_name(scalar.dtype));
    if (scalar.default_value) print_default(*scalar.default_value, false);
  }
  void print_parameter(DimId id) {
    const Dim& dim = function_[id];
    out_ += fmt::format("{}: dim", dim.name);
    if (dim.value) print_default(*dim.value, true);
  }
  void print_default(ExpressionId id, bool is_size) {
    out_ += " = ";
    print(id, expression, is_size);
  }

  void print_where() {
    const char* separator = " where ";
    for (const Dim& dim : function_.dims) {
      if (dim.source != DimSource::derived || !dim.value) continue;
      out_ += fmt::format("{}{} = ", std::exchange(separator, ", "), dim.name);
      print(*dim.value, expression, true);
    }
    for (const ExpressionId constraint : function_.constraints) {
      out_ += std::exchange(separator, ", ");
      print(constraint, expression, false);
    }
  }

  void print_definition(const Definition& definition) {
    names_.clear();
    inferred_.clear();
    for (const AxisId axis : definition.axes) names_[axis] = axis_name("i", names_.size());
    const Tensor& target = function_[definition.target];
    out_ += "  " + target.name;
    if (definition.update)
      print_update_indices(definition);
    else
      print_left_axes(definition.axes);
    if (target.role == TensorRole::local && !definition.update)
      out_ += fmt::format(": {}", core::dtype_name(target.dtype));
    out_ += fmt::format(" {} ", definition.update ? update_text(*definition.update) : "=");
    print(definition.value, value, false);
    out_ += '\n';
  }

  void print_left_axes(const std::vector<AxisId>& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      out_ += i == 0 ? "[" : ", ";
      print_range(axes[i]);
    }
    if (!axes.empty()) out_ += ']';
  }

  void print_range(AxisId axis) {
    out_ += fmt::format("{} in 0..", names_.at(axis));
    print(function_.arena[axis].high, expression, true);
  }

  /// A variable has its range where it first stands alone; that of others is found from their reads again.
  void print_update_indices(const Definition& definition) {
    inferred_.insert(definition.axes.begin(), definition.axes.end());
    for (std::size_t i = 0; i < definition.indices.size(); ++i) {
      out_ += i == 0 ? "[" : ", ";
      const Expression& index = node(definition.indices[i]);
      if (index.op == Op::axis && inferred_.erase(AxisId{index.index}) > 0)
        print_range(AxisId{index.index});
      else
        print(definition.indices[i], expression, true);
    }
    if (!definition.indices.empty()) out_ += ']';
  }

  std::string axis_name(std::string_view prefix, std::size_t number) const {
    std::string name = fmt::format("{}{}", prefix, number);
    while (taken_.contains(name)) name += '_';
    return name;
  }

  /// Expressions may be high, so what recurses keeps its stack frames small.
  void write(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) out_ += part;
  }

  /// `typed`: a literal takes the right type here, so a constant needs no cast around it.
  void print(ExpressionId id, int context, bool typed) {
    const Expression& e = node(id);
    switch (e.op) {
      case Op::constant:
        return print_constant(e, typed);
      case Op::dim:
        out_ += function_[DimId{e.index}].name;
        return;
      case Op::scalar:
        out_ += function_[ScalarId{e.index}].name;
        return;
      case Op::axis:
        out_ += names_.at(AxisId{e.index});
        return;
      case Op::read:
        return print_read(e, context);
      case Op::reduce:
        return print_reduction(e, context);
      case Op::cast:
        write({core::dtype_name(e.target), "("});
        print(e.operands[0], value, false);
        return write({")"});
      case Op::bitcast:
        write({"bitcast(", core::dtype_name(e.target), ", "});
        print(e.operands[0], value, false);
        return write({")"});
      default:
        return print_operation(e, context);
    }
  }

  void print_constant(const Expression& e, bool typed) {
    const std::string number = number_text(e);
    out_ +=
        typed || e.type == DType::boolean ? number : fmt::format("{}({})", core::dtype_name(e.type), number);
  }

  void print_list(std::string_view open, const std::vector<ExpressionId>& sizes, std::string_view close) {
    out_ += open;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i > 0) out_ += ", ";
      print(sizes[i], expression, true);
    }
    out_ += close;
  }

  void print_read(const Expression& e, int context) {
    const bool guarded = e.guard == Guard::alternative;
    const Tensor& tensor = function_[TensorId{e.index}];
    if (guarded && context > value) out_ += '(';
    out_ += tensor.name;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      out_ += i == 0 ? "[" : ", ";
      print(e.operands[i], expression, true);
      if (misleads(e.operands[i], tensor.shape[i])) out_ += " + 0";
    }
    if (!tensor.shape.empty()) out_ += ']';
    if (!guarded) return;
    out_ += " else ";
    print(e.operands.back(), value, true);
    if (context > value) out_ += ')';
  }

  /// Whether a variable of an update, whose range is found from its reads, stands alone where another size
  /// is.
  bool misleads(ExpressionId index, ExpressionId extent) const {
    const Expression& e = node(index);
    const AxisId axis{e.index};
    return e.op == Op::axis && inferred_.contains(axis) && function_.arena[axis].high != extent;
  }

  void print_reduction(const Expression& e, int context) {
    if (context > sum) out_ += '(';
    out_ += fmt::format("{}(", reduction_name(e.reduction));
    const auto outer = names_;
    for (std::size_t i = 0; i < e.axes.size(); ++i) {
      const Axis& axis = function_.arena[e.axes[i]];
      const std::string name = axis_name("k", depth_++);
      out_ += fmt::format("{}{} in ", i > 0 ? ", " : "", name);
      print(axis.low, expression, true);
      out_ += "..";
      print(axis.high, expression, true);
      names_[e.axes[i]] = name;
    }
    const auto inner = names_;
    if (e.operands.size() > 1) {
      names_ = outer;  // nth stands outside
      out_ += ", nth = ";
      print(e.operands[1], value, true);
      names_ = inner;
    }
    out_ += ") ";
    const std::size_t body = out_.size();
    print(e.operands[0], product, false);
    if (out_[body] == '-' || out_[body] == '~') {  // a body begins with a name, a number or `(`
      out_.insert(body, 1, '(');
      out_ += ')';
    }
    depth_ -= e.axes.size();
    names_ = outer;
    if (context > sum) out_ += ')';
  }

  /// Whether operand `i` is a constant beside operands that give it its type.
  bool typed_by_others(const Expression& e, std::size_t i) const {
    const TypeRule rule = facts(e.op).rule;
    if (rule == TypeRule::shift || rule == TypeRule::random || rule == TypeRule::uniform) return false;
    const std::size_t first = rule == TypeRule::where ? 1 : 0;
    for (std::size_t j = first; j < e.operands.size(); ++j)
      if (j != i && i >= first && !is_constant(e.operands[j])) return true;
    return false;
  }

  void print_operation(const Expression& e, int context) {
    const OpFacts& row = facts(e.op);
    const int strength = strength_of(e.op);
    if (strength == atom) {
      write({row.spelling, "("});
      for (std::size_t i = 0; i < e.operands.size(); ++i) {
        if (i > 0) out_ += ", ";
        print(e.operands[i], value, typed_by_others(e, i));
      }
      out_ += ')';
      return;
    }
    if (strength < context) out_ += '(';
    if (row.arity == 1) {
      out_ += e.op == Op::logical_not ? "not " : row.spelling;
      print(e.operands[0], strength, false);
    } else {
      print(e.operands[0], strength == comparison ? strength + 1 : strength, typed_by_others(e, 0));
      write({" ", row.spelling, " "});
      print(e.operands[1], strength + 1, typed_by_others(e, 1));
    }
    if (strength < context) out_ += ')';
  }

  const Function& function_;
  std::set<std::string> taken_;
  std::map<AxisId, std::string> names_;
  std::set<AxisId> inferred_;  // variables of an update that have no range on the left
  std::size_t depth_ = 0;      // variables of reductions in scope
  std::string out_;
};

}  // namespace

std::string canonical_text(const Function& function) { return FunctionPrinter(function).print(); }

}  // namespace einkern::dsl
