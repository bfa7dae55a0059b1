#include "dsl/compositions.h"

#include <algorithm>

namespace einkern::dsl {
namespace {

/// Operations on one float type, spelt short: the formulas below read like the mathematics.
class Builder {
 public:
  Builder(ExpressionArena& arena, ExpressionId x) : arena_(arena), type_(arena[x].type) {}

  ExpressionId number(double value) const {
    if (core::is_float(type_)) return arena_.constant_float(type_, value);
    return arena_.constant_integer(type_, static_cast<std::int64_t>(value));
  }
  ExpressionId apply(Op op, ExpressionId a) const { return arena_.apply(op, type_, {a}); }
  ExpressionId apply(Op op, ExpressionId a, ExpressionId b) const { return arena_.apply(op, type_, {a, b}); }
  ExpressionId add(ExpressionId a, ExpressionId b) const { return apply(Op::add, a, b); }
  ExpressionId multiply(ExpressionId a, ExpressionId b) const { return apply(Op::multiply, a, b); }
  /// max(x, least): below `least` a function has reached its limit, and -inf would make inf * 0.
  ExpressionId at_least(ExpressionId x, double least) const { return apply(Op::maximum, x, number(least)); }

 private:
  ExpressionArena& arena_;
  DType type_;
};

ExpressionId one_plus_exp_of_minus(const Builder& b, ExpressionId x) {
  return b.add(b.number(1), b.apply(Op::exp, b.apply(Op::negate, x)));
}

ExpressionId build_sigmoid(ExpressionArena& arena, ExpressionId x) {
  const Builder b(arena, x);
  return b.apply(Op::divide, b.number(1), one_plus_exp_of_minus(b, x));
}

ExpressionId build_relu(ExpressionArena& arena, ExpressionId x) { return Builder(arena, x).at_least(x, 0); }

/// 1 + erf(t / sqrt(2)) is 0 in f64 already at t = -9, so 20 is far enough.
ExpressionId build_gelu(ExpressionArena& arena, ExpressionId x) {
  const Builder b(arena, x);
  const ExpressionId t = b.at_least(x, -20);
  const ExpressionId tail =
      b.add(b.number(1), b.apply(Op::erf, b.multiply(t, b.number(0.70710678118654752440))));
  return b.multiply(b.multiply(b.number(0.5), t), tail);
}

ExpressionId build_gelu_tanh(ExpressionArena& arena, ExpressionId x) {
  const Builder b(arena, x);
  const ExpressionId t = b.at_least(x, -20);
  const ExpressionId cube = b.multiply(b.multiply(t, t), t);
  const ExpressionId inner = b.add(t, b.multiply(b.number(0.044715), cube));
  const ExpressionId scaled = b.multiply(b.number(0.79788456080286535588), inner);  // sqrt(2 / pi)
  return b.multiply(b.multiply(b.number(0.5), t), b.add(b.number(1), b.apply(Op::tanh, scaled)));
}

/// exp(1000) is infinite in f64 too.
ExpressionId build_silu(ExpressionArena& arena, ExpressionId x) {
  const Builder b(arena, x);
  const ExpressionId t = b.at_least(x, -1000);
  return b.apply(Op::divide, t, one_plus_exp_of_minus(b, t));
}

ExpressionId build_softplus(ExpressionArena& arena, ExpressionId x) {
  const Builder b(arena, x);
  const ExpressionId decay = b.apply(Op::exp, b.apply(Op::negate, b.apply(Op::absolute, x)));
  return b.add(b.at_least(x, 0), b.apply(Op::log1p, decay));
}

}  // namespace

const std::vector<Composition>& all_compositions() {
  static const std::vector<Composition> table = {
      {"sigmoid", "1 / (1 + exp(-x))", false, build_sigmoid},
      {"relu", "max(x, 0)", true, build_relu},
      {"gelu", "0.5 * t * (1 + erf(t / sqrt(2))), t = max(x, -20)", false, build_gelu},
      {"gelu_tanh", "0.5 * t * (1 + tanh(sqrt(2 / pi) * (t + 0.044715 * t * t * t))), t = max(x, -20)", false,
       build_gelu_tanh},
      {"silu", "t / (1 + exp(-t)), t = max(x, -1000)", false, build_silu},
      {"softplus", "max(x, 0) + log1p(exp(-abs(x)))", false, build_softplus},
  };
  return table;
}

const Composition* find_composition(std::string_view name) {
  const auto& table = all_compositions();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Composition& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace einkern::dsl
