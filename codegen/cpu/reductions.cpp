#include "codegen/cpu/reductions.h"

#include <limits>
#include <numeric>

#include "codegen/cpu/kernel_module.h"
#include "codegen/cpu/operations.h"

namespace einkern::codegen::cpu {
namespace {

using dsl::Op;
using dsl::Reduction;

/// Lowest or highest value of a compute type; infinities for floats.
IrValue extreme(IrWriter& writer, DType type, bool highest, IrType ir) {
  if (core::is_float(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return writer.floating(highest ? infinity : -infinity, ir);
  }
  switch (type) {
    case DType::i32:
      return writer.integers(highest ? INT32_MAX : INT32_MIN, ir);
    case DType::i64:
      return writer.integers(highest ? INT64_MAX : INT64_MIN, ir);
    default:
      return writer.integers(highest ? -1 : 0, ir);  // unsigned: all bits
  }
}

}  // namespace

ReductionEmitter::Values ReductionEmitter::identity(int lanes) const {
  IrType type = compute_ir_type(element_).with_lanes(lanes);
  switch (reduction_) {
    case Reduction::product:
      return {core::is_float(element_) ? writer_.floating(1, type) : writer_.integers(1, type)};
    case Reduction::maximum:
      return {extreme(writer_, element_, false, type)};
    case Reduction::minimum:
      return {extreme(writer_, element_, true, type)};
    case Reduction::all:
      return {writer_.integers(1, type)};
    case Reduction::argmax:
    case Reduction::argmin:
      return {IrWriter::zero(type), writer_.integers(-1, ir_i64.with_lanes(lanes))};
    case Reduction::sum:
    case Reduction::any:
      break;
  }
  return {IrWriter::zero(type)};
}

/// Whether a comes before b in an argmax: NaN first, then the larger value (argmin: the smaller).
IrValue ReductionEmitter::better(const IrValue& a, const IrValue& b) const {
  bool largest = reduction_ == Reduction::argmax || reduction_ == Reduction::maximum;
  IrValue ahead = operation(writer_, Op::less, element_, largest ? std::vector{b, a} : std::vector{a, b});
  if (!core::is_float(element_)) return ahead;
  IrValue a_nan = writer_.compare("uno", a, a), b_number = writer_.compare("ord", b, b);
  return writer_.binary("or", ahead, writer_.binary("and", a_nan, b_number));
}

ReductionEmitter::Values ReductionEmitter::combine(const Values& carried, const IrValue& element,
                                                   const IrValue& position) const {
  if (!has_position()) return merge(carried, {element});
  IrValue first = writer_.compare("slt", carried[1], IrWriter::zero(carried[1].type), "first");
  IrValue take = writer_.binary("or", first, better(element, carried[0]), "take");
  return {writer_.select(take, element, carried[0], "best"),
          writer_.select(take, position, carried[1], "place")};
}

ReductionEmitter::Values ReductionEmitter::combine_product(const Values& carried, const IrValue& a,
                                                           const IrValue& b) const {
  IrType type = carried[0].type;
  if (type.is_float()) return {writer_.call(intrinsic("fma", type), type, {a, b, carried[0]}, "sum")};
  return {writer_.binary("add", carried[0], writer_.binary("mul", a, b), "sum")};
}

ReductionEmitter::Values ReductionEmitter::merge(const Values& a, const Values& b) const {
  auto apply = [&](Op op) { return Values{operation(writer_, op, element_, {a[0], b[0]})}; };
  switch (reduction_) {
    case Reduction::sum:
      return apply(Op::add);
    case Reduction::product:
      return apply(Op::multiply);
    case Reduction::maximum:
      return apply(element_ == DType::boolean ? Op::logical_or : Op::maximum);
    case Reduction::minimum:
      return apply(element_ == DType::boolean ? Op::logical_and : Op::minimum);
    case Reduction::any:
      return apply(Op::logical_or);
    case Reduction::all:
      return apply(Op::logical_and);
    case Reduction::argmax:
    case Reduction::argmin:
      break;
  }
  // A place below 0 says that there is no element.
  IrValue zero = IrWriter::zero(a[1].type);
  IrValue b_any = writer_.compare("sge", b[1], zero), a_none = writer_.compare("slt", a[1], zero);
  IrValue take = writer_.binary("and", b_any, writer_.binary("or", a_none, precedes(b, a)), "take");
  return {writer_.select(take, b[0], a[0], "best"), writer_.select(take, b[1], a[1], "place")};
}

IrValue ReductionEmitter::precedes(const Values& a, const Values& b) const {
  IrValue a_better = better(a[0], b[0]), b_better = better(b[0], a[0]);
  IrValue differs = writer_.binary("or", a_better, b_better);
  return writer_.select(differs, a_better, writer_.compare("slt", a[1], b[1]), "precedes");
}

ReductionEmitter::Values ReductionEmitter::across_lanes(Values carried) const {
  for (int lanes = carried[0].type.lanes; lanes > 1; lanes /= 2) {
    Values low, high;
    std::vector<int> first(static_cast<std::size_t>(lanes / 2)), second(first.size());
    std::iota(first.begin(), first.end(), 0);
    std::iota(second.begin(), second.end(), lanes / 2);
    for (const IrValue& value : carried) {
      if (lanes == 2) {
        low.push_back(writer_.extract(value, 0));
        high.push_back(writer_.extract(value, 1));
      } else {
        low.push_back(writer_.shuffle(value, value, first, "low"));
        high.push_back(writer_.shuffle(value, value, second, "high"));
      }
    }
    carried = merge(low, high);
  }
  return carried;
}

}  // namespace einkern::codegen::cpu
