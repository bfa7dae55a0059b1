#include "dsl/ast.h"

#include <algorithm>

namespace einkern::dsl::ast {

std::span<const std::string_view> reduction_names() {
  static constexpr std::string_view names[] = {"sum", "prod", "mean",   "max",   "min",
                                               "any", "all",  "argmax", "argmin"};
  return names;
}

std::vector<const Expression*> children(const Expression& expression) {
  std::vector<const Expression*> found;
  const auto take = [&](const ExpressionPointer& child) {
    if (child) found.push_back(child.get());
  };
  if (const auto* unary = expression.as<Unary>()) {
    take(unary->operand);
  } else if (const auto* binary = expression.as<Binary>()) {
    take(binary->left);
    take(binary->right);
  } else if (const auto* comparison = expression.as<Comparison>()) {
    for (const auto& operand : comparison->operands) take(operand);
  } else if (const auto* alternative = expression.as<Else>()) {
    take(alternative->guarded);
    take(alternative->otherwise);
  } else if (const auto* call = expression.as<Call>()) {
    for (const auto& argument : call->arguments) take(argument);
  } else if (const auto* index = expression.as<Index>()) {
    take(index->base);
    for (const Subscript& subscript : index->subscripts) take(subscript.expression);
  } else if (const auto* reduction = expression.as<Reduction>()) {
    for (const ReductionVariable& variable : reduction->variables) {
      if (!variable.bounds) continue;
      take(variable.bounds->begin);
      take(variable.bounds->end);
    }
    take(reduction->nth);
    take(reduction->body);
  }
  return found;
}

ExpressionPointer make_expression(SourceRange range, Expression::Node node) {
  auto expression = std::make_unique<Expression>();
  expression->range = range;
  expression->node = std::move(node);
  for (const Expression* child : children(*expression))
    expression->height = std::max(expression->height, child->height + 1);
  return expression;
}

namespace {

ExpressionPointer clone(const ExpressionPointer& expression) {
  return expression ? ast::clone(*expression) : nullptr;
}

std::vector<ExpressionPointer> clone(const std::vector<ExpressionPointer>& expressions) {
  std::vector<ExpressionPointer> copies;
  for (const auto& expression : expressions) copies.push_back(clone(expression));
  return copies;
}

/// Copies a node with everything below it.
struct Cloner {
  template <typename Leaf>
  Expression::Node operator()(const Leaf& leaf) const {
    return leaf;
  }
  Expression::Node operator()(const Unary& node) const { return Unary{node.operation, clone(node.operand)}; }
  Expression::Node operator()(const Binary& node) const {
    return Binary{node.operation, node.operator_range, clone(node.left), clone(node.right)};
  }
  Expression::Node operator()(const Comparison& node) const {
    return Comparison{node.comparators, clone(node.operands)};
  }
  Expression::Node operator()(const Else& node) const {
    return Else{clone(node.guarded), clone(node.otherwise)};
  }
  Expression::Node operator()(const Call& node) const { return Call{node.callee, clone(node.arguments)}; }
  Expression::Node operator()(const Index& node) const {
    Index copy{clone(node.base), {}};
    for (const Subscript& subscript : node.subscripts)
      copy.subscripts.push_back({subscript.range, clone(subscript.expression)});
    return copy;
  }
  Expression::Node operator()(const Reduction& node) const {
    Reduction copy{node.operation, {}, clone(node.nth), clone(node.body)};
    for (const ReductionVariable& variable : node.variables) {
      ReductionVariable copied{variable.name, std::nullopt};
      if (variable.bounds)
        copied.bounds =
            Bounds{variable.bounds->range, clone(variable.bounds->begin), clone(variable.bounds->end)};
      copy.variables.push_back(std::move(copied));
    }
    return copy;
  }
};

}  // namespace

ExpressionPointer clone(const Expression& expression) {
  auto copy = make_expression(expression.range, std::visit(Cloner{}, expression.node));
  copy->parenthesised = expression.parenthesised;
  return copy;
}

const char* spelling(UnaryOperator operation) {
  static constexpr const char* names[] = {"-", "~", "not"};
  return names[static_cast<std::size_t>(operation)];
}

const char* spelling(BinaryOperator operation) {
  static constexpr const char* names[] = {"*", "/", "%", "+", "-", "<<", ">>", "&", "^", "|", "and", "or"};
  return names[static_cast<std::size_t>(operation)];
}

const char* spelling(Comparator comparator) {
  static constexpr const char* names[] = {"<", "<=", ">", ">=", "==", "!="};
  return names[static_cast<std::size_t>(comparator)];
}

const char* spelling(Assignment assignment) {
  static constexpr const char* names[] = {"=", "+=", "max=", "min="};
  return names[static_cast<std::size_t>(assignment)];
}

const char* spelling(Constant constant) {
  static constexpr const char* names[] = {"inf", "nan", "true", "false"};
  return names[static_cast<std::size_t>(constant)];
}

}  // namespace einkern::dsl::ast
