// The table of operations, read from ops.def.
#include "dsl/expression.h"

namespace einkern::dsl {

const std::vector<OpFacts>& all_op_facts() {
  static const std::vector<OpFacts> table = {
#define EINKERN_OP(id, spelling, arity, rule, cost, documentation) \
  {#id, spelling, arity, TypeRule::rule, cost, documentation},
#include "dsl/ops.def"
  };
  return table;
}

const OpFacts& facts(Op op) {
  return all_op_facts()[static_cast<std::size_t>(op) - static_cast<std::size_t>(first_scalar_op)];
}

std::string_view reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::product:
      return "prod";
    case Reduction::maximum:
      return "max";
    case Reduction::minimum:
      return "min";
    case Reduction::any:
      return "any";
    case Reduction::all:
      return "all";
    case Reduction::argmax:
      return "argmax";
    case Reduction::argmin:
      return "argmin";
  }
  return "";
}

}  // namespace einkern::dsl
