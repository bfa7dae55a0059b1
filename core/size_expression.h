// Integer expressions over dims, strides and device facts: how a launch plan says "ceil(M / 128)" without a
// lambda.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace einkern::core {

/// Values of symbols at a launch: dims by name ("M"), strides in elements ("x.stride.0"), and "sm_count".
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

/// An immutable integer expression with checked 64-bit arithmetic. Division and modulo floor, as in the
/// language, and x / 0 is 0, x % 0 is x.
class SizeExpression {
 public:
  enum class Op { constant, symbol, add, subtract, multiply, divide, ceil_divide, modulo, minimum, maximum };

  SizeExpression() : SizeExpression(0) {}
  SizeExpression(std::int64_t value);  // NOLINT(google-explicit-constructor)
  static SizeExpression symbol(std::string name);
  static SizeExpression binary(Op op, SizeExpression left, SizeExpression right);

  friend SizeExpression operator+(SizeExpression a, SizeExpression b) {
    return binary(Op::add, std::move(a), std::move(b));
  }
  friend SizeExpression operator-(SizeExpression a, SizeExpression b) {
    return binary(Op::subtract, std::move(a), std::move(b));
  }
  friend SizeExpression operator*(SizeExpression a, SizeExpression b) {
    return binary(Op::multiply, std::move(a), std::move(b));
  }

  /// An error names the symbol that has no value or the operation that overflowed.
  Result<std::int64_t> evaluate(const SymbolValues& values) const;
  /// The value if the expression holds no symbol.
  bool is_constant() const;

  /// Canonical text, such as `ceil_div(M, 128) * 4`; parses back to an equal expression.
  std::string text() const;
  static Result<SizeExpression> parse(std::string_view text);
  friend bool operator==(const SizeExpression& a, const SizeExpression& b) { return a.text() == b.text(); }

 private:
  struct Node;
  std::shared_ptr<const Node> node_;
};

SizeExpression ceil_divide(SizeExpression a, SizeExpression b);
SizeExpression floor_divide(SizeExpression a, SizeExpression b);
SizeExpression modulo(SizeExpression a, SizeExpression b);
SizeExpression minimum(SizeExpression a, SizeExpression b);
SizeExpression maximum(SizeExpression a, SizeExpression b);

}  // namespace einkern::core
