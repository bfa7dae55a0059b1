#include "dsl/operator_strength.h"

namespace einkern::dsl {

int strength_of(Op op) {
  switch (op) {
    case Op::negate:
    case Op::bit_not:
      return unary;
    case Op::multiply:
    case Op::divide:
    case Op::modulo:
      return product;
    case Op::add:
    case Op::subtract:
      return sum;
    case Op::shift_left:
    case Op::shift_right:
      return shift;
    case Op::bit_and:
      return bits_and;
    case Op::bit_xor:
      return bits_xor;
    case Op::bit_or:
      return bits_or;
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
      return comparison;
    case Op::logical_not:
      return negation;
    case Op::logical_and:
      return conjunction;
    case Op::logical_or:
      return disjunction;
    default:
      return atom;
  }
}

}  // namespace einkern::dsl
