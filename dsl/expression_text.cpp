#include "dsl/expression_text.h"

#include <fmt/format.h>

#include <cctype>

#include "dsl/operator_strength.h"

namespace einkern::dsl {
namespace {

bool is_word(std::string_view spelling) {
  return std::isalpha(static_cast<unsigned char>(spelling.front())) != 0;
}

class Writer {
 public:
  Writer(const Function& function, std::size_t most) : function_(function), most_(most) {}

  std::string write(ExpressionId id) {
    visit(id, loosest);
    if (text_.size() <= most_) return std::move(text_);
    return text_.substr(0, most_) + "...";
  }

 private:
  /// Writes a node, in parentheses if it binds looser than `context` asks. Stops growing once the text is
  /// long enough.
  void visit(ExpressionId id, int context) {
    if (text_.size() > most_) return;
    const Expression& node = function_.arena[id];
    switch (node.op) {
      case Op::constant:
        text_ += constant(node);
        break;
      case Op::dim:
        text_ += function_[DimId{node.index}].name;
        break;
      case Op::scalar:
        text_ += function_[ScalarId{node.index}].name;
        break;
      case Op::axis:
        text_ += function_.arena[AxisId{node.index}].name;
        break;
      case Op::read:
        read(node, context);
        break;
      case Op::reduce:
        reduce(node, context);
        break;
      case Op::cast:
        call(core::dtype_name(node.target), node.operands);
        break;
      case Op::bitcast:
        text_ += fmt::format("bitcast({}, ", core::dtype_name(node.target));
        visit(node.operands[0], loosest);
        text_ += ')';
        break;
      default:
        operation(node, context);
    }
  }

  static std::string constant(const Expression& node) {
    if (node.type == DType::boolean) return node.bits != 0 ? "true" : "false";
    if (core::is_float(node.type)) return fmt::format("{}", node.float_value());
    if (node.type == DType::u64) return fmt::format("{}", node.bits);
    return fmt::format("{}", node.integer_value());
  }

  void list(const std::vector<ExpressionId>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      visit(items[i], loosest);
    }
  }

  void call(std::string_view name, const std::vector<ExpressionId>& arguments) {
    text_ += name;
    text_ += '(';
    list(arguments);
    text_ += ')';
  }

  void read(const Expression& node, int context) {
    const bool guarded = node.guard == Guard::alternative;
    const bool parenthesised = guarded && context > else_strength;
    if (parenthesised) text_ += '(';
    text_ += function_[TensorId{node.index}].name;
    const std::vector<ExpressionId> indices(node.operands.begin(), node.operands.end() - (guarded ? 1 : 0));
    if (!indices.empty()) {
      text_ += '[';
      list(indices);
      text_ += ']';
    }
    if (guarded) {
      text_ += " else ";
      visit(node.operands.back(), else_strength);
    }
    if (parenthesised) text_ += ')';
  }

  void reduce(const Expression& node, int context) {
    if (context > unary) text_ += '(';
    text_ += reduction_name(node.reduction);
    text_ += '(';
    for (std::size_t i = 0; i < node.axes.size(); ++i) {
      const Axis& axis = function_.arena[node.axes[i]];
      text_ += fmt::format("{}{} in ", i > 0 ? ", " : "", axis.name);
      visit(axis.low, sum);
      text_ += "..";
      visit(axis.high, sum);
    }
    if (node.operands.size() > 1) {
      text_ += ", nth = ";
      visit(node.operands[1], loosest);
    }
    text_ += ") ";
    visit(node.operands[0], product);
    if (context > unary) text_ += ')';
  }

  void operation(const Expression& node, int context) {
    const OpFacts& row = facts(node.op);
    const int strength = strength_of(node.op);
    if (strength == atom) return call(row.spelling, node.operands);
    const bool parenthesised = strength < context;
    if (parenthesised) text_ += '(';
    if (row.arity == 1) {
      text_ += row.spelling;
      if (is_word(row.spelling)) text_ += ' ';
      visit(node.operands[0], strength);
    } else {
      visit(node.operands[0], strength == comparison ? strength + 1 : strength);
      text_ += fmt::format(" {} ", row.spelling);
      visit(node.operands[1], strength + 1);  // operators group to the left
    }
    if (parenthesised) text_ += ')';
  }

  const Function& function_;
  std::size_t most_;
  std::string text_;
};

}  // namespace

std::string expression_text(const Function& function, ExpressionId id, std::size_t most) {
  return Writer(function, most).write(id);
}

}  // namespace einkern::dsl
