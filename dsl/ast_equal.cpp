// Structural equality of syntax trees.
#include <algorithm>

#include "dsl/ast.h"

namespace einkern::dsl::ast {
namespace {

/// All overloads in one class, where each sees all others.
struct Comparer {
  static bool same(const Identifier& left, const Identifier& right) { return left.text == right.text; }

  static bool same(const ExpressionPointer& left, const ExpressionPointer& right) {
    return left && right ? equal(*left, *right) : !left && !right;
  }

  template <typename T>
  static bool same(const std::optional<T>& left, const std::optional<T>& right) {
    return left && right ? same(*left, *right) : !left && !right;
  }

  template <typename T>
  static bool same(const std::vector<T>& left, const std::vector<T>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const T& a, const T& b) { return same(a, b); });
  }

  static bool same(const Subscript& left, const Subscript& right) {
    return same(left.expression, right.expression);
  }

  static bool same(const Bounds& left, const Bounds& right) {
    return same(left.begin, right.begin) && same(left.end, right.end);
  }

  static bool same(const ReductionVariable& left, const ReductionVariable& right) {
    return same(left.name, right.name) && same(left.bounds, right.bounds);
  }

  /// Compares two nodes of one kind.
  struct NodeComparer {
    const Expression::Node& other;

    template <typename T>
    const T& right() const {
      return std::get<T>(other);
    }
    bool operator()(const Number& left) const { return left.text == right<Number>().text; }
    bool operator()(const Constant& left) const { return left == right<Constant>(); }
    bool operator()(const Name& left) const { return left.text == right<Name>().text; }
    bool operator()(const TypeName& left) const { return left.text == right<TypeName>().text; }
    bool operator()(const Unary& left) const {
      return left.operation == right<Unary>().operation && same(left.operand, right<Unary>().operand);
    }
    bool operator()(const Binary& left) const {
      const auto& other_node = right<Binary>();
      return left.operation == other_node.operation && same(left.left, other_node.left) &&
             same(left.right, other_node.right);
    }
    bool operator()(const Comparison& left) const {
      return left.comparators == right<Comparison>().comparators &&
             same(left.operands, right<Comparison>().operands);
    }
    bool operator()(const Else& left) const {
      return same(left.guarded, right<Else>().guarded) && same(left.otherwise, right<Else>().otherwise);
    }
    bool operator()(const Call& left) const {
      return same(left.callee, right<Call>().callee) && same(left.arguments, right<Call>().arguments);
    }
    bool operator()(const Index& left) const {
      return same(left.base, right<Index>().base) && same(left.subscripts, right<Index>().subscripts);
    }
    bool operator()(const Reduction& left) const {
      const auto& other_node = right<Reduction>();
      return same(left.operation, other_node.operation) && same(left.variables, other_node.variables) &&
             same(left.nth, other_node.nth) && same(left.body, other_node.body);
    }
  };

  static bool same(const Attribute& left, const Attribute& right) {
    return same(left.name, right.name) && same(left.arguments, right.arguments);
  }

  static bool same(const TypeParameter& left, const TypeParameter& right) {
    return same(left.name, right.name) && same(left.choices, right.choices);
  }

  static bool same(const Parameter& left, const Parameter& right) {
    return same(left.name, right.name) && left.is_inout == right.is_inout && left.is_dim == right.is_dim &&
           same(left.type, right.type) && same(left.shape, right.shape) &&
           same(left.default_value, right.default_value);
  }

  static bool same(const ResultDeclaration& left, const ResultDeclaration& right) {
    return same(left.name, right.name) && same(left.type, right.type) && same(left.shape, right.shape);
  }

  static bool same(const WhereItem& left, const WhereItem& right) {
    return same(left.derived, right.derived) && same(left.expression, right.expression);
  }

  static bool same(const TargetIndex& left, const TargetIndex& right) {
    return same(left.expression, right.expression) && same(left.bounds, right.bounds);
  }

  static bool same(const Target& left, const Target& right) {
    return same(left.name, right.name) && same(left.indices, right.indices) && same(left.type, right.type);
  }

  static bool same(const Definition& left, const Definition& right) {
    return same(left.targets, right.targets) && left.assignment == right.assignment &&
           same(left.value, right.value);
  }

  static bool same(const Function& left, const Function& right) {
    return same(left.attributes, right.attributes) && same(left.name, right.name) &&
           same(left.type_parameters, right.type_parameters) && same(left.parameters, right.parameters) &&
           same(left.results, right.results) && same(left.where, right.where) && same(left.body, right.body);
  }
};

}  // namespace

bool equal(const Expression& left, const Expression& right) {
  return left.node.index() == right.node.index() && std::visit(Comparer::NodeComparer{right.node}, left.node);
}

bool equal(const Function& left, const Function& right) { return Comparer::same(left, right); }

bool equal(const Module& left, const Module& right) {
  return Comparer::same(left.functions, right.functions);
}

}  // namespace einkern::dsl::ast
