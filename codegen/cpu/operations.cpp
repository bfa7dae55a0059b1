#include "codegen/cpu/operations.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <optional>

#include "codegen/cpu/approximations.h"
#include "codegen/cpu/kernel_module.h"

namespace einkern::codegen::cpu {
namespace {

using dsl::Op;
using Values = std::vector<IrValue>;

bool is_signed(DType type) { return type == DType::i32 || type == DType::i64; }

IrValue call_intrinsic(IrWriter& writer, std::string_view name, const Values& operands) {
  IrType type = operands[0].type;
  return writer.call(intrinsic(name, type), type, operands);
}

/// Writes a helper over operands of one type once, and calls it.
template <typename Body>
IrValue through_helper(IrWriter& writer, std::string_view name, IrType result, const Values& operands,
                       Body body) {
  std::vector<IrWriter::Parameter> parameters;
  static constexpr const char* names[] = {"a", "b", "c"};
  for (std::size_t i = 0; i < operands.size(); ++i) parameters.push_back({operands[i].type, names[i], ""});
  std::string full = fmt::format("ek_{}.{}", name, operands[0].type.suffix());
  writer.helper(full, parameters, result, [&](const Values& p) -> std::optional<IrValue> { return body(p); });
  return writer.call_helper(full, result, operands);
}

/// The flooring quotient, or the remainder with the divisor's sign. Divisors for which the machine's division
/// traps are replaced by 1 first: x / 0 is 0, x % 0 is x, x / -1 is -x (which wraps), x % -1 is 0.
IrValue signed_division(IrWriter& writer, bool quotient, const IrValue& a, const IrValue& b) {
  IrType type = a.type;
  IrValue zero = IrWriter::zero(type), one = writer.integers(1, type);
  IrValue by_zero = writer.compare("eq", b, zero, "by.zero");
  IrValue by_minus_one = writer.compare("eq", b, writer.integers(-1, type), "by.minus.one");
  IrValue divisor = writer.select(writer.binary("or", by_zero, by_minus_one), one, b, "divisor");
  IrValue q = writer.binary("sdiv", a, divisor, "q");
  IrValue r = writer.binary("sub", a, writer.binary("mul", q, divisor), "r");
  IrValue differs = writer.compare("slt", writer.binary("xor", r, divisor), zero, "differs");
  IrValue moved = writer.binary("and", writer.compare("ne", r, zero), differs, "moved");
  if (quotient) {
    IrValue floored = writer.binary("sub", q, writer.cast("zext", moved, type), "floored");
    floored = writer.select(by_minus_one, writer.binary("sub", zero, a), floored);
    return writer.select(by_zero, zero, floored);
  }
  IrValue remainder = writer.select(moved, writer.binary("add", r, divisor), r, "remainder");
  remainder = writer.select(by_minus_one, zero, remainder);
  return writer.select(by_zero, a, remainder);
}

IrValue unsigned_division(IrWriter& writer, bool quotient, const IrValue& a, const IrValue& b) {
  IrValue zero = IrWriter::zero(a.type);
  IrValue by_zero = writer.compare("eq", b, zero, "by.zero");
  IrValue divisor = writer.select(by_zero, writer.integers(1, a.type), b, "divisor");
  IrValue result = writer.binary(quotient ? "udiv" : "urem", a, divisor);
  return writer.select(by_zero, quotient ? zero : a, result);
}

IrValue integer_division(IrWriter& writer, bool quotient, DType type, const Values& operands) {
  std::string name = fmt::format("{}_{}", quotient ? "divide" : "modulo", core::dtype_name(type));
  return through_helper(writer, name, operands[0].type, operands, [&](const Values& p) {
    return is_signed(type) ? signed_division(writer, quotient, p[0], p[1])
                           : unsigned_division(writer, quotient, p[0], p[1]);
  });
}

/// fmod moved to the divisor's sign; a zero takes the divisor's sign too.
IrValue float_modulo(IrWriter& writer, const Values& operands) {
  return through_helper(writer, "modulo", operands[0].type, operands, [&](const Values& p) {
    IrType type = p[0].type;
    IrType bits = (type.kind == IrType::Kind::f64 ? ir_i64 : ir_i32).with_lanes(type.lanes);
    IrValue r = writer.binary("frem", p[0], p[1], "r");
    IrValue signs =
        writer.binary("xor", writer.cast("bitcast", r, bits), writer.cast("bitcast", p[1], bits), "signs");
    IrValue differs = writer.compare("slt", signs, IrWriter::zero(bits), "differs");
    IrValue moved = writer.select(differs, writer.binary("fadd", r, p[1]), r, "moved");
    IrValue is_zero = writer.compare("oeq", r, IrWriter::zero(type));
    return writer.select(is_zero,
                         writer.call(intrinsic("copysign", type), type, {IrWriter::zero(type), p[1]}), moved);
  });
}

/// -1, 0 or 1; a float zero or NaN stays itself.
IrValue sign_of(IrWriter& writer, DType type, const IrValue& x) {
  bool floats = core::is_float(type);
  auto number = [&](int n) { return floats ? writer.floating(n, x.type) : writer.integers(n, x.type); };
  IrValue zero = IrWriter::zero(x.type);
  std::string_view above = floats ? "ogt" : is_signed(type) ? "sgt" : "ugt";
  IrValue result = writer.select(writer.compare(above, x, zero), number(1), x);
  if (!floats && !is_signed(type)) return result;
  return writer.select(writer.compare(floats ? "olt" : "slt", x, zero), number(-1), result);
}

IrValue comparison(IrWriter& writer, Op op, DType type, const Values& operands) {
  bool floats = core::is_float(type), sign = is_signed(type);
  std::string_view predicate;
  if (op == Op::equal) predicate = floats ? "oeq" : "eq";
  if (op == Op::not_equal) predicate = floats ? "une" : "ne";
  if (op == Op::less) predicate = floats ? "olt" : sign ? "slt" : "ult";
  if (op == Op::less_equal) predicate = floats ? "ole" : sign ? "sle" : "ule";
  return writer.compare(predicate, operands[0], operands[1]);
}

/// The count may be of any integer type; it is taken modulo the width.
IrValue shift(IrWriter& writer, Op op, DType type, const Values& operands) {
  IrType value = operands[0].type;
  IrValue count = operands[1];
  if (count.type != value)
    count = writer.cast(count.type.scalar_bytes() > value.scalar_bytes() ? "trunc" : "zext", count, value,
                        "count");
  count = writer.binary("and", count, writer.integers(value.scalar_bytes() * 8 - 1, value), "count");
  return writer.binary(op == Op::shift_left ? "shl" : is_signed(type) ? "ashr" : "lshr", operands[0], count);
}

/// Number of one bits or of leading zeros, as i32.
IrValue count_bits(IrWriter& writer, Op op, const IrValue& x) {
  IrType i32 = ir_i32.with_lanes(x.type.lanes);
  Values operands = {x};
  if (op == Op::clz) operands.push_back(IrWriter::integer(0, ir_i1));  // defined at 0: the width
  IrValue count = writer.call(intrinsic(op == Op::clz ? "ctlz" : "ctpop", x.type), x.type, operands, "count");
  return x.type == i32 ? count : writer.cast("trunc", count, i32, "count");
}

/// Word 0 of Philox4x32-10 with key `seed` and counter `i` (Salmon, Moraes, Dror, Shaw: Parallel random
/// numbers, SC 2011).
IrValue philox(IrWriter& writer, const Values& operands) {
  IrType i64 = operands[0].type, i32 = ir_i32.with_lanes(i64.lanes);
  return through_helper(writer, "philox", i32, operands, [&](const Values& p) {
    auto low = [&](const IrValue& x) { return writer.cast("trunc", x, i32, "low"); };
    auto high = [&](const IrValue& x) { return low(writer.binary("lshr", x, writer.integers(32, i64))); };
    auto exclusive = [&](const IrValue& a, const IrValue& b) { return writer.binary("xor", a, b); };
    auto product = [&](const IrValue& word, std::int64_t multiplier) {
      return writer.binary("mul", writer.cast("zext", word, i64), writer.integers(multiplier, i64),
                           "product");
    };
    IrValue key0 = low(p[0]), key1 = high(p[0]);
    Values words = {low(p[1]), high(p[1]), IrWriter::zero(i32), IrWriter::zero(i32)};
    for (int round = 0; round < 10; ++round) {
      IrValue first = product(words[0], 0xD2511F53), second = product(words[2], 0xCD9E8D57);
      words = {exclusive(exclusive(high(second), words[1]), key0), low(second),
               exclusive(exclusive(high(first), words[3]), key1), low(first)};
      key0 = writer.binary("add", key0, writer.integers(static_cast<std::int32_t>(0x9E3779B9), i32), "key");
      key1 = writer.binary("add", key1, writer.integers(static_cast<std::int32_t>(0xBB67AE85), i32), "key");
    }
    return words[0];
  });
}

IrValue uniform(IrWriter& writer, const Values& operands) {
  IrValue word = philox(writer, operands);
  IrValue top = writer.binary("lshr", word, writer.integers(8, word.type), "top");
  IrType f32 = ir_f32.with_lanes(word.type.lanes);
  return writer.binary("fmul", writer.cast("uitofp", top, f32), writer.floating(0x1p-24, f32), "uniform");
}

IrValue float_operation(IrWriter& writer, Op op, const Values& x) {
  IrType type = x[0].type;
  switch (op) {
    case Op::negate:
      return writer.negate(x[0]);
    case Op::multiply:
      return writer.binary("fmul", x[0], x[1]);
    case Op::divide:
      return writer.binary("fdiv", x[0], x[1]);
    case Op::modulo:
      return float_modulo(writer, x);
    case Op::add:
      return writer.binary("fadd", x[0], x[1]);
    case Op::subtract:
      return writer.binary("fsub", x[0], x[1]);
    case Op::maximum:
      return call_intrinsic(writer, "maximum", x);
    case Op::minimum:
      return call_intrinsic(writer, "minimum", x);
    case Op::absolute:
      return call_intrinsic(writer, "fabs", x);
    case Op::floor:
      return call_intrinsic(writer, "floor", x);
    case Op::ceil:
      return call_intrinsic(writer, "ceil", x);
    case Op::round:
      return call_intrinsic(writer, "roundeven", x);
    case Op::trunc:
      return call_intrinsic(writer, "trunc", x);
    case Op::sqrt:
      return call_intrinsic(writer, "sqrt", x);
    case Op::rsqrt:
      return writer.binary("fdiv", writer.floating(1, type), call_intrinsic(writer, "sqrt", x));
    case Op::fma:
      return call_intrinsic(writer, "fma", x);
    case Op::is_nan:
      return writer.compare("uno", x[0], x[0]);
    case Op::is_infinite:
      return writer.compare("oeq", call_intrinsic(writer, "fabs", x),
                            writer.floating(std::numeric_limits<double>::infinity(), type));
    default:
      return elementary(writer, op, x);
  }
}

IrValue integer_operation(IrWriter& writer, Op op, DType type, const Values& x) {
  bool sign = is_signed(type);
  switch (op) {
    case Op::negate:
      return writer.binary("sub", IrWriter::zero(x[0].type), x[0]);
    case Op::bit_not:
      return writer.binary("xor", x[0], writer.integers(-1, x[0].type));
    case Op::multiply:
      return writer.binary("mul", x[0], x[1]);
    case Op::divide:
    case Op::modulo:
      return integer_division(writer, op == Op::divide, type, x);
    case Op::add:
      return writer.binary("add", x[0], x[1]);
    case Op::subtract:
      return writer.binary("sub", x[0], x[1]);
    case Op::shift_left:
    case Op::shift_right:
      return shift(writer, op, type, x);
    case Op::bit_and:
      return writer.binary("and", x[0], x[1]);
    case Op::bit_xor:
      return writer.binary("xor", x[0], x[1]);
    case Op::bit_or:
      return writer.binary("or", x[0], x[1]);
    case Op::maximum:
      return call_intrinsic(writer, sign ? "smax" : "umax", x);
    case Op::minimum:
      return call_intrinsic(writer, sign ? "smin" : "umin", x);
    case Op::absolute:
      return sign ? writer.call(intrinsic("abs", x[0].type), x[0].type, {x[0], IrWriter::integer(0, ir_i1)})
                  : x[0];
    case Op::popcount:
    case Op::clz:
      return count_bits(writer, op, x[0]);
    case Op::random:
      return philox(writer, x);
    case Op::uniform:
      return uniform(writer, x);
    default:
      std::abort();  // ops.def has no other row for integers
  }
}

}  // namespace

IrValue operation(IrWriter& writer, Op op, DType type, const Values& operands) {
  switch (op) {
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
      return comparison(writer, op, type, operands);
    case Op::logical_not:
      return writer.binary("xor", operands[0], writer.integers(1, operands[0].type));
    case Op::logical_and:
      return writer.binary("and", operands[0], operands[1]);
    case Op::logical_or:
      return writer.binary("or", operands[0], operands[1]);
    case Op::where:
      return writer.select(operands[0], operands[1], operands[2]);
    case Op::sign:
      return sign_of(writer, type, operands[0]);
    default:
      return core::is_float(type) ? float_operation(writer, op, operands)
                                  : integer_operation(writer, op, type, operands);
  }
}

IrValue constant_value(IrWriter& writer, const dsl::Expression& constant) {
  IrType type = compute_ir_type(constant.type);
  if (core::is_float(constant.type)) return writer.floating(constant.float_value(), type);
  if (type == ir_i32) return IrWriter::integer(static_cast<std::int32_t>(constant.integer_value()), type);
  return IrWriter::integer(constant.integer_value(), type);
}

}  // namespace einkern::codegen::cpu
