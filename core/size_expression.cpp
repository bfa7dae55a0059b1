#include "core/size_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace einkern::core {

struct SizeExpression::Node {
  Op op = Op::constant;
  std::int64_t value = 0;                   // of a constant
  std::string name;                         // of a symbol
  std::shared_ptr<const Node> left, right;  // of everything else
};

namespace {

using Op = SizeExpression::Op;

/// Nesting that `parse` accepts; text comes from files, and evaluation recurses.
constexpr int maximum_nesting = 200;
constexpr std::size_t maximum_text = 64 * 1024;

struct Spelling {
  Op op;
  std::string_view text;
  bool infix;
};
constexpr std::array<Spelling, 8> spellings = {{{Op::add, "+", true},
                                                {Op::subtract, "-", true},
                                                {Op::multiply, "*", true},
                                                {Op::divide, "floor_div", false},
                                                {Op::ceil_divide, "ceil_div", false},
                                                {Op::modulo, "mod", false},
                                                {Op::minimum, "min", false},
                                                {Op::maximum, "max", false}}};

const Spelling& spelling_of(Op op) {
  return *std::find_if(spellings.begin(), spellings.end(), [&](const Spelling& s) { return s.op == op; });
}

int precedence(Op op) {
  if (op == Op::add || op == Op::subtract) return 1;
  return op == Op::multiply ? 2 : 3;
}

/// Nothing where the exact result does not fit 64 bits.
std::optional<std::int64_t> apply(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::subtract:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::multiply:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::minimum:
      return std::min(a, b);
    case Op::maximum:
      return std::max(a, b);
    case Op::modulo: {
      if (b == 0) return a;
      if (b == -1) return 0;
      const std::int64_t remainder = a % b;
      return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
    }
    case Op::divide:
    case Op::ceil_divide: {
      if (b == 0) return 0;
      if (b == -1) return a == std::numeric_limits<std::int64_t>::min() ? std::nullopt : std::optional(-a);
      const bool inexact = a % b != 0, negative = (a < 0) != (b < 0);
      if (op == Op::divide) return a / b - (inexact && negative ? 1 : 0);
      return a / b + (inexact && !negative ? 1 : 0);
    }
    case Op::constant:
    case Op::symbol:
      break;
  }
  return std::nullopt;
}

bool is_symbol_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_symbol_part(char c) { return is_symbol_start(c) || is_digit(c) || c == '.'; }

/// sum := product (('+' | '-') product)*;  product := atom ('*' atom)*;
/// atom := integer | '-' integer | symbol | function '(' sum ',' sum ')' | '(' sum ')'
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<SizeExpression> parse() {
    if (text_.size() > maximum_text) return failure("is longer than the limit");
    EINKERN_TRY(SizeExpression expression, sum(0));
    skip_spaces();
    if (position_ != text_.size()) return failure("has something after its end");
    return expression;
  }

 private:
  Result<SizeExpression> sum(int depth) {
    EINKERN_TRY(SizeExpression left, product(depth));
    for (int terms = 0;; ++terms) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) return left;
      if (terms == maximum_nesting) return failure("has too many terms");
      EINKERN_TRY(SizeExpression right, product(depth));
      left = plus ? std::move(left) + std::move(right) : std::move(left) - std::move(right);
    }
  }

  Result<SizeExpression> product(int depth) {
    EINKERN_TRY(SizeExpression left, atom(depth));
    for (int factors = 0; accept('*'); ++factors) {
      if (factors == maximum_nesting) return failure("has too many factors");
      EINKERN_TRY(SizeExpression right, atom(depth));
      left = std::move(left) * std::move(right);
    }
    return left;
  }

  Result<SizeExpression> atom(int depth) {
    if (depth == maximum_nesting) return failure("is nested too deeply");
    skip_spaces();
    if (position_ == text_.size()) return failure("ends too early");
    if (accept('(')) {
      EINKERN_TRY(SizeExpression inner, sum(depth + 1));
      if (!accept(')')) return failure("lacks a ')'");
      return inner;
    }
    if (text_[position_] == '-' || is_digit(text_[position_])) return integer();
    if (!is_symbol_start(text_[position_])) return failure("holds an unexpected character");
    const std::size_t start = position_;
    while (position_ < text_.size() && is_symbol_part(text_[position_])) ++position_;
    const std::string_view name = text_.substr(start, position_ - start);
    return accept('(') ? call(name, depth) : Result(SizeExpression::symbol(std::string(name)));
  }

  Result<SizeExpression> call(std::string_view name, int depth) {
    for (const Spelling& spelling : spellings) {
      if (spelling.infix || spelling.text != name) continue;
      EINKERN_TRY(SizeExpression left, sum(depth + 1));
      if (!accept(',')) return failure("lacks a ','");
      EINKERN_TRY(SizeExpression right, sum(depth + 1));
      if (!accept(')')) return failure("lacks a ')'");
      return SizeExpression::binary(spelling.op, std::move(left), std::move(right));
    }
    return failure("calls an unknown function");
  }

  Result<SizeExpression> integer() {
    std::int64_t value = 0;
    const char* first = text_.data() + position_;
    const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), value);
    if (status != std::errc()) return failure("holds a malformed number, or one that does not fit 64 bits");
    position_ += static_cast<std::size_t>(end - first);
    return SizeExpression(value);
  }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool accept(char c) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  Error failure(std::string_view what) const {
    return {ErrorKind::internal, fmt::format("The size expression '{}' {} (at offset {}).",
                                             text_.substr(0, 200), what, position_)};
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

SizeExpression::SizeExpression(std::int64_t value)
    : node_(std::make_shared<const Node>(Node{Op::constant, value, {}, nullptr, nullptr})) {}

SizeExpression SizeExpression::symbol(std::string name) {
  SizeExpression expression;
  expression.node_ = std::make_shared<const Node>(Node{Op::symbol, 0, std::move(name), nullptr, nullptr});
  return expression;
}

SizeExpression SizeExpression::binary(Op op, SizeExpression left, SizeExpression right) {
  const bool left_constant = left.node_->op == Op::constant, right_constant = right.node_->op == Op::constant;
  const std::int64_t a = left.node_->value, b = right.node_->value;
  if (left_constant && right_constant)
    if (const auto folded = apply(op, a, b)) return *folded;
  const bool right_unit = (op == Op::multiply || op == Op::divide || op == Op::ceil_divide) && b == 1;
  const bool right_zero = (op == Op::add || op == Op::subtract) && b == 0;
  if (right_constant && (right_unit || right_zero)) return left;
  if (left_constant && ((op == Op::add && a == 0) || (op == Op::multiply && a == 1))) return right;
  SizeExpression expression;
  expression.node_ =
      std::make_shared<const Node>(Node{op, 0, {}, std::move(left.node_), std::move(right.node_)});
  return expression;
}

bool SizeExpression::is_constant() const { return node_->op == Op::constant; }

Result<std::int64_t> SizeExpression::evaluate(const SymbolValues& values) const {
  if (node_->op == Op::constant) return node_->value;
  if (node_->op == Op::symbol) {
    const auto found = values.find(node_->name);
    if (found == values.end())
      return Error{ErrorKind::internal, fmt::format("The size '{}' has no value.", node_->name)};
    return found->second;
  }
  SizeExpression left, right;
  left.node_ = node_->left;
  right.node_ = node_->right;
  EINKERN_TRY(const std::int64_t a, left.evaluate(values));
  EINKERN_TRY(const std::int64_t b, right.evaluate(values));
  if (const auto result = apply(node_->op, a, b)) return *result;
  return Error{ErrorKind::shape,
               fmt::format("A size does not fit 64 bits: '{}' with the operands {} and {}.", text(), a, b)};
}

std::string SizeExpression::text() const {
  if (node_->op == Op::constant) return fmt::format("{}", node_->value);
  if (node_->op == Op::symbol) return node_->name;
  SizeExpression left, right;
  left.node_ = node_->left;
  right.node_ = node_->right;
  const Spelling& spelling = spelling_of(node_->op);
  if (!spelling.infix) return fmt::format("{}({}, {})", spelling.text, left.text(), right.text());
  // Chains lean left, so a right operand of the same precedence keeps its parentheses.
  const auto operand = [&](const SizeExpression& side, bool is_right) {
    const Op op = side.node_->op;
    const bool negative = op == Op::constant && side.node_->value < 0;
    const bool weaker = precedence(op) < precedence(node_->op) ||
                        (is_right && precedence(op) == precedence(node_->op) && op != Op::constant);
    return negative || weaker ? fmt::format("({})", side.text()) : side.text();
  };
  return fmt::format("{} {} {}", operand(left, false), spelling.text, operand(right, true));
}

Result<SizeExpression> SizeExpression::parse(std::string_view text) { return Parser(text).parse(); }

SizeExpression ceil_divide(SizeExpression a, SizeExpression b) {
  return SizeExpression::binary(Op::ceil_divide, std::move(a), std::move(b));
}
SizeExpression floor_divide(SizeExpression a, SizeExpression b) {
  return SizeExpression::binary(Op::divide, std::move(a), std::move(b));
}
SizeExpression modulo(SizeExpression a, SizeExpression b) {
  return SizeExpression::binary(Op::modulo, std::move(a), std::move(b));
}
SizeExpression minimum(SizeExpression a, SizeExpression b) {
  return SizeExpression::binary(Op::minimum, std::move(a), std::move(b));
}
SizeExpression maximum(SizeExpression a, SizeExpression b) {
  return SizeExpression::binary(Op::maximum, std::move(a), std::move(b));
}

}  // namespace einkern::core
