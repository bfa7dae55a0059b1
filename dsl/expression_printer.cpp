#include "dsl/expression_printer.h"

#include <utility>

namespace einkern::dsl {
namespace {

using ast::BinaryOperator;
using ast::Expression;

/// How tightly things bind, loosest first, as docs/language.md has it.
enum Level : int {
  level_else,
  level_or,
  level_and,
  level_not,
  level_comparison,
  level_bit_or,
  level_bit_xor,
  level_bit_and,
  level_shift,
  level_sum,
  level_product,
  level_unary,
  level_primary
};

Level level_of(BinaryOperator operation) {
  switch (operation) {
    case BinaryOperator::multiply:
    case BinaryOperator::divide:
    case BinaryOperator::modulo:
      return level_product;
    case BinaryOperator::add:
    case BinaryOperator::subtract:
      return level_sum;
    case BinaryOperator::shift_left:
    case BinaryOperator::shift_right:
      return level_shift;
    case BinaryOperator::bit_and:
      return level_bit_and;
    case BinaryOperator::bit_xor:
      return level_bit_xor;
    case BinaryOperator::bit_or:
      return level_bit_or;
    case BinaryOperator::logical_and:
      return level_and;
    case BinaryOperator::logical_or:
      return level_or;
  }
  return level_primary;
}

Level level_of(const Expression& expression) {
  if (expression.as<ast::Else>()) return level_else;
  if (expression.as<ast::Comparison>()) return level_comparison;
  if (expression.as<ast::Reduction>()) return level_unary;
  if (const auto* binary = expression.as<ast::Binary>()) return level_of(binary->operation);
  if (const auto* unary = expression.as<ast::Unary>())
    return unary->operation == ast::UnaryOperator::logical_not ? level_not : level_unary;
  return level_primary;
}

/// What surrounds an expression: the loosest operator that may stand there bare, and what follows it.
struct Context {
  Level loosest = level_else;
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
    return Document::concatenation({print(*bounds.begin, {level_or}), "..", print(*bounds.end, {level_or})});
  }

 private:
  static bool needs_parentheses(const Expression& expression, Context context) {
    if (level_of(expression) < context.loosest) return true;
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
    context.loosest = word ? level_not : twice ? level_primary : level_unary;
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

  /// A row of operators of one level groups to the left, and breaks at all of them or none.
  void print_chain(const ast::Binary& binary, Context context, std::vector<Document>& parts) const {
    const Level level = level_of(binary.operation);
    Context left = context;
    left.loosest = level;
    left.before_product = level == level_product;
    const auto* more = binary.left->as<ast::Binary>();
    if (more && level_of(more->operation) == level)
      print_chain(*more, left, parts);
    else
      parts.push_back(print(*binary.left, left));
    Context right = context;
    right.loosest = static_cast<Level>(level + 1);
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
      parts.push_back(print(*comparison.operands[i], {level_bit_or, false, !last}));
    }
    return Document::group(std::move(parts), indentation_in(context));
  }

  Document print_node(const ast::Else& alternative, Context context) const {
    return Document::group({print(*alternative.guarded, {level_primary}), Document::line(), "else ",
                            print(*alternative.otherwise, {level_else, false, false, context.outermost})},
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
      subscripts.push_back(subscript.expression ? print(*subscript.expression, {level_or}) : ":");
    return Document::concatenation(
        {print(*index.base, {level_primary}), bracketed("[", std::move(subscripts), "]")});
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
    return print(body, {level_product});
  }

  /// Whether the printed body of a reduction would begin with `-` or `~`, which it may not.
  static bool begins_with_sign(const Expression& body) {
    const Expression* first = &body;
    while (const auto* binary = first->as<ast::Binary>()) {
      if (level_of(*first) < level_product) return false;  // it gets parentheses
      first = binary->left.get();
    }
    return level_of(*first) == level_unary && first->as<ast::Unary>();
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
  return ExpressionPrinter(style).print(expression, {level_else, false, false, true});
}

Document print_expression(const ast::Expression& expression, PrintStyle style) {
  return ExpressionPrinter(style).print(expression, {level_or});
}

Document print_bounds(const ast::Bounds& bounds, PrintStyle style) {
  return ExpressionPrinter(style).print_bounds(bounds);
}

}  // namespace einkern::dsl
