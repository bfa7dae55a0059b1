// Reductions of the expression emitter, as loops inside one thread.
#include <fmt/format.h>

#include "codegen/cuda/expression_emitter.h"
#include "codegen/cuda/monoid.h"

namespace einkern::codegen::cuda {

using dsl::Op;
using dsl::Reduction;

ExpressionEmitter::Accumulator ExpressionEmitter::declare_accumulator(Reduction reduction, DType type,
                                                                      std::string_view name) {
  Accumulator accumulator{.reduction = reduction, .type = type, .value = kernel_.names().unique("r", name)};
  body().line(fmt::format("{} {} = {};", value_type(type, arithmetic()), accumulator.value,
                          without_parentheses(identity_text(reduction, type, arithmetic()))));
  if (carries_index(reduction)) {
    accumulator.index = kernel_.names().unique("r", fmt::format("{}_index", name));
    body().line(fmt::format("{} {} = -1;", kernel_.index_type(), accumulator.index));
  }
  return accumulator;
}

std::string ExpressionEmitter::result(const Accumulator& accumulator) const {
  if (!accumulator.index.empty()) return accumulator.index;
  // An i64 accumulates at full width; that its value fits the index type is proven where that is narrow.
  return accumulator.type == DType::i64 && kernel_.narrow() ? "(int)" + accumulator.value : accumulator.value;
}

void ExpressionEmitter::accumulate(const Accumulator& accumulator, ExpressionId term,
                                   std::string_view index) {
  const dsl::Expression& e = node(term);
  const bool product = accumulator.reduction == Reduction::sum && core::is_float(accumulator.type) &&
                       e.op == Op::multiply && find(term) == nullptr;
  if (!product) return combine(accumulator, value(term), index);
  const bool single = value_type(accumulator.type, arithmetic()) == "float";
  const std::string a = value(e.operands[0]), b = value(e.operands[1]);
  body().line(fmt::format("{} = {}({}, {}, {});", accumulator.value, single ? "fmaf" : "fma",
                          without_parentheses(a), without_parentheses(b), accumulator.value));
}

void ExpressionEmitter::combine(const Accumulator& accumulator, std::string_view value,
                                std::string_view index) {
  const std::string other = accumulator.type == DType::i64 && kernel_.narrow()
                                ? fmt::format("(long long){}", value)
                                : std::string(value);
  if (!accumulator.index.empty())
    body().line(fmt::format("ek_{}_step({}, {}, {}, {});", dsl::reduction_name(accumulator.reduction),
                            accumulator.value, accumulator.index, without_parentheses(other), index));
  else
    body().line(fmt::format(
        "{} = {};", accumulator.value,
        combined_text(accumulator.reduction, accumulator.type, arithmetic(), accumulator.value, other)));
}

int ExpressionEmitter::open_loops(const std::vector<AxisId>& axes) {
  for (const AxisId axis : axes) {
    const std::string low = value(arena()[axis].low), high = value(arena()[axis].high);
    const std::string index = kernel_.names().unique("i", arena()[axis].name);
    body().open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1})", kernel_.index_type(), index,
                            without_parentheses(low), without_parentheses(high)));
    bind_axis(axis, index);
  }
  return static_cast<int>(axes.size());
}

void ExpressionEmitter::close_blocks(int count) {
  for (; count > 0; --count) body().close();
}

std::string ExpressionEmitter::reduce(ExpressionId id) {
  const dsl::Expression& e = node(id);
  const ExpressionId operand = e.operands[0];
  const Accumulator accumulator =
      declare_accumulator(e.reduction, node(operand).type, dsl::reduction_name(e.reduction));
  hoist(operand, e.axes);
  const Scope scope(*this);
  const int loops = open_loops(e.axes);
  accumulate(accumulator, operand, axis_text(e.axes.back()));
  close_blocks(loops);
  return result(accumulator);
}

/// The element that has exactly `nth` others before it, by counting: slow, and right for every order of ties
/// and NaN.
std::string ExpressionEmitter::reduce_nth(ExpressionId id, ExpressionId nth) {
  const dsl::Expression& e = node(id);
  const ExpressionId operand = e.operands[0];
  const DType type = node(operand).type;
  const bool largest = e.reduction == Reduction::maximum || e.reduction == Reduction::argmax;
  const std::string rank = named_value(nth);
  hoist(operand, e.axes);
  Accumulator chosen = declare_accumulator(largest ? Reduction::argmax : Reduction::argmin, type, "nth");
  const Scope scope(*this);
  const int loops = open_loops(e.axes);
  const std::string index = axis_text(e.axes.back());
  const std::string candidate = kernel_.names().unique("v", "candidate");
  body().line(
      fmt::format("const {} {} = {};", type_name(operand), candidate, without_parentheses(value(operand))));
  const std::string before = kernel_.names().unique("v", "before");
  body().line(fmt::format("{} {} = 0;", kernel_.index_type(), before));
  {
    const Scope inner(*this);
    const int others = open_loops(e.axes);
    body().line(fmt::format("{} += ek_{}_before({}, {}, {}, {});", before, largest ? "argmax" : "argmin",
                            without_parentheses(value(operand)), axis_text(e.axes.back()), candidate, index));
    close_blocks(others);
  }
  body().open(fmt::format("if ({} == {})", before, rank));
  body().line(fmt::format("{} = {};", chosen.value, candidate));
  body().line(fmt::format("{} = {};", chosen.index, index));
  body().close();
  close_blocks(loops);
  if (carries_index(e.reduction)) return chosen.index;
  // No such rank (an empty range, or nth past its end): the reduction's identity.
  return fmt::format("({} < 0 ? {} : {})", chosen.index, identity_text(e.reduction, type, arithmetic()),
                     chosen.value);
}

}  // namespace einkern::codegen::cuda
