#include "dsl/expression_printer.h"

#include <utility>

#include "dsl/operator_strength.h"

namespace einkern::dsl {
namespace {

using ast::BinaryOperator;
using ast::Expression;

Strength strength_of(BinaryOperator operation) {
  switch (operation) {
    case BinaryOperator::multiply:
    case BinaryOperator::divide:
    case BinaryOperator::modulo:
      return Strength::product;
    case BinaryOperator::add:
    case BinaryOperator::subtract:
      return Strength::sum;
    case BinaryOperator::shift_left:
    case BinaryOperator::shift_right:
      return Strength::shift;
    case BinaryOperator::bit_and:
      return Strength::bits_and;
    case BinaryOperator::bit_xor:
      return Strength::bits_xor;
    case BinaryOperator::bit_or:
      return Strength::bits_or;
    case BinaryOperator::logical_and:
      return Strength::conjunction;
    case BinaryOperator::logical_or:
      return Strength::disjunction;
  }
  return Strength::atom;
}

Strength strength_of(const Expression& expression) {
  if (expression.as<ast::Else>()) return Strength::else_strength;
  if (expression.as<ast::Comparison>()) return Strength::comparison;
  if (expression.as<ast::Reduction>()) return Strength::unary;
  if (const auto* binary = expression.as<ast::Binary>()) return strength_of(binary->operation);
  if (const auto* unary = expression.as<ast::Unary>())
    return unary->operation == ast::UnaryOperator::logical_not ? Strength::negation : Strength::unary;
  return Strength::atom;
}

/// What surrounds an expression: the loosest operator that may stand there bare, and what follows it.
struct Context {
  Strength loosest = Strength::else_strength;
  bool before_product = false;     ///< `*`, `/` or `%` follows, which the body of a reduction would swallow
  bool before_comparison = false;  ///< a comparator follows, which may not follow the body of `any` or `all`
  bool outermost = false;          ///< a whole right side: broken, its lines begin below each other
};

class ExpressionPrinter {
 public:
  explicit ExpressionPrinter(PrintStyle style) : style_(style) {}

  Document print(const Expression& expression, Context context) const {
    if (!needs_parentheses(expression, context)) return print_bare(expression, context);
    return Document::concatenation({"(", print_bare(expression, {}), ")"});
  }

  Document print_bounds(const ast::Bounds& bounds) const {
    return Document::concatenation(
        {print(*bounds.begin, {Strength::disjunction}), "..", print(*bounds.end, {Strength::disjunction})});
  }

 private:
  static bool needs_parentheses(const Expression& expression, Context context) {
    if (strength_of(expression) < context.loosest) return true;
    const auto* reduction = expression.as<ast::Reduction>();
    if (!reduction) return false;
    const bool any_or_all = reduction->operation.text == "any" || reduction->operation.text == "all";
    return context.before_product || (context.before_comparison && any_or_all);
  }

  Document print_bare(const Expression& expression, Context context) const {
    return std::visit([&](const auto& node) { return print_node(node, context); }, expression.node);
  }

  Document print_node(const ast::Number& number, Context) const { return number.text; }
  Document print_node(const ast::Name& name, Context) const { return name.text; }
  Document print_node(const ast::TypeName& type, Context) const { return type.text; }
  Document print_node(ast::Constant constant, Context) const { return spelling(constant); }

  Document print_node(const ast::Unary& unary, Context context) const {
    const bool word = unary.operation == ast::UnaryOperator::logical_not;
    const auto* inner = unary.operand->as<ast::Unary>();
    const bool twice = inner && inner->operation == unary.operation && !word;  // -(-x) rather than --x
    context.loosest = word ? Strength::negation : twice ? Strength::atom : Strength::unary;
    context.before_comparison = false;
    return Document::concatenation(
        {spelling(unary.operation), word ? " " : "", print(*unary.operand, context)});
  }

  Document print_node(const ast::Binary& binary, Context context) const {
    std::vector<Document> parts;
    const std::size_t indentation = indentation_in(context);
    context.outermost = false;
    print_chain(binary, context, parts);
    return Document::group(std::move(parts), indentation);
  }

  /// A row of operators of one strength groups to the left, and breaks at all of them or none.
  void print_chain(const ast::Binary& binary, Context context, std::vector<Document>& parts) const {
    const Strength strength = strength_of(binary.operation);
    Context left = context;
    left.loosest = strength;
    left.before_product = strength == Strength::product;
    const auto* more = binary.left->as<ast::Binary>();
    if (more && strength_of(more->operation) == strength)
      print_chain(*more, left, parts);
    else
      parts.push_back(print(*binary.left, left));
    Context right = context;
    right.loosest = static_cast<Strength>(strength + 1);
    right.before_comparison = false;
    parts.push_back(Document::line());
    parts.push_back(std::string(spelling(binary.operation)) + " ");
    parts.push_back(print(*binary.right, right));
  }

  Document print_node(const ast::Comparison& comparison, Context context) const {
    std::vector<Document> parts;
    for (std::size_t i = 0; i < comparison.operands.size(); ++i) {
      if (i > 0) {
        parts.push_back(Document::line());
        parts.push_back(std::string(spelling(comparison.comparators[i - 1])) + " ");
      }
      const bool last = i + 1 == comparison.operands.size();
      parts.push_back(print(*comparison.operands[i], {Strength::bits_or, false, !last}));
    }
    return Document::group(std::move(parts), indentation_in(context));
  }

  Document print_node(const ast::Else& alternative, Context context) const {
    return Document::group(
        {print(*alternative.guarded, {Strength::atom}), Document::line(), "else ",
         print(*alternative.otherwise, {Strength::else_strength, false, false, context.outermost})},
        indentation_in(context));
  }

  Document print_node(const ast::Call& call, Context) const {
    std::vector<Document> arguments;
    for (const auto& argument : call.arguments) arguments.push_back(print(*argument, {}));
    return Document::concatenation({call.callee.text, bracketed("(", std::move(arguments), ")")});
  }

  Document print_node(const ast::Index& index, Context) const {
    std::vector<Document> subscripts;
    for (const ast::Subscript& subscript : index.subscripts)
      subscripts.push_back(subscript.expression ? print(*subscript.expression, {Strength::disjunction})
                                                : ":");
    return Document::concatenation(
        {print(*index.base, {Strength::atom}), bracketed("[", std::move(subscripts), "]")});
  }

  Document print_node(const ast::Reduction& reduction, Context) const {
    std::vector<Document> list;
    for (const ast::ReductionVariable& variable : reduction.variables) {
      Document printed = variable.name.text;
      if (variable.bounds)
        printed = Document::concatenation({printed, " in ", print_bounds(*variable.bounds)});
      list.push_back(std::move(printed));
    }
    if (reduction.nth) list.push_back(Document::concatenation({"nth = ", print(*reduction.nth, {})}));
    return Document::concatenation(
        {reduction.operation.text, bracketed("(", std::move(list), ")"), " ", print_body(*reduction.body)});
  }

  Document print_body(const Expression& body) const {
    const auto* binary = body.as<ast::Binary>();
    const bool quotient = binary && (binary->operation == BinaryOperator::divide ||
                                     binary->operation == BinaryOperator::modulo);
    const bool keeps = quotient && (body.parenthesised || style_ == PrintStyle::canonical);
    if (keeps || begins_with_sign(body)) return Document::concatenation({"(", print_bare(body, {}), ")"});
    return print(body, {Strength::product});
  }

  /// Whether the printed body of a reduction would begin with `-` or `~`, which it may not.
  static bool begins_with_sign(const Expression& body) {
    const Expression* first = &body;
    while (const auto* binary = first->as<ast::Binary>()) {
      if (strength_of(*first) < Strength::product) return false;  // it gets parentheses
      first = binary->left.get();
    }
    return strength_of(*first) == Strength::unary && first->as<ast::Unary>();
  }

  static std::size_t indentation_in(Context context) { return context.outermost ? 0 : 4; }

  static Document bracketed(const char* open, std::vector<Document> items, const char* close) {
    std::vector<Document> parts{open};
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool last = i + 1 == items.size();
      parts.push_back(std::move(items[i]));
      parts.push_back(last ? Document("") : Document(","));
      if (!last) parts.push_back(Document::line());
    }
    parts.push_back(close);
    return Document::group(std::move(parts), 4);
  }

  PrintStyle style_;
};

}  // namespace

Document print_value(const ast::Expression& expression, PrintStyle style) {
  return ExpressionPrinter(style).print(expression, {Strength::else_strength, false, false, true});
}

Document print_expression(const ast::Expression& expression, PrintStyle style) {
  return ExpressionPrinter(style).print(expression, {Strength::disjunction});
}

Document print_bounds(const ast::Bounds& bounds, PrintStyle style) {
  return ExpressionPrinter(style).print_bounds(bounds);
}

}  // namespace einkern::dsl
