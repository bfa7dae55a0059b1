#include "codegen/cpu/conversions.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "codegen/cpu/kernel_module.h"

namespace einkern::codegen::cpu {
namespace {

IrType in_lanes(IrType type, const IrValue& like) { return type.with_lanes(like.type.lanes); }

IrValue bits_of(IrWriter& writer, const IrValue& value) {
  return writer.cast("bitcast", value,
                     in_lanes(value.type.kind == IrType::Kind::f64 ? ir_i64 : ir_i32, value), "bits");
}

/// How a narrow float lies in its byte or two bytes.
struct NarrowFloat {
  int exponent_bits, mantissa_bits;
  int largest;      // bits of the largest finite value
  bool infinities;  // overflow gives infinity, else the largest finite value
  int nan;
  int total() const { return 1 + exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

constexpr NarrowFloat bf16_form{8, 7, 0x7f7f, true, 0x7fc0};
constexpr NarrowFloat e4m3_form{4, 3, 0x7e, false, 0x7f};
constexpr NarrowFloat e5m2_form{5, 2, 0x7b, false, 0x7f};

/// Rounds f32 to a narrow float's bits (i32), to nearest even: of normal results by adding just under half of
/// the last place to the bits; of subnormal ones by adding a power of two whose last place is theirs.
IrValue narrow_f32(IrWriter& writer, const IrValue& value, const NarrowFloat& form) {
  IrType i32 = in_lanes(ir_i32, value), f32 = in_lanes(ir_f32, value);
  int shift = 23 - form.mantissa_bits, rebias = (127 - form.bias()) << form.mantissa_bits;
  auto number = [&](std::int64_t n) { return writer.integers(n, i32); };
  IrValue bits = bits_of(writer, value);
  IrValue magnitude = writer.binary("and", bits, number(0x7fffffff), "magnitude");
  IrValue last = writer.binary("and", writer.binary("lshr", magnitude, number(shift)), number(1), "last");
  IrValue half = writer.binary("add", last, number((1 << (shift - 1)) - 1), "half");
  IrValue rounded = writer.binary("lshr", writer.binary("add", magnitude, half), number(shift), "rounded");
  rounded = writer.binary("sub", rounded, number(rebias), "rounded");
  if (rebias != 0) {  // else the exponents are f32's and the sum above is right for subnormals too
    IrValue unit = writer.floating(std::ldexp(1.0, 23 - form.mantissa_bits + 1 - form.bias()), f32);
    IrValue absolute = writer.cast("bitcast", magnitude, f32, "absolute");
    IrValue sum = bits_of(writer, writer.binary("fadd", absolute, unit));
    IrValue subnormal = writer.binary("sub", sum, bits_of(writer, unit), "subnormal");
    IrValue smallest_normal = number(static_cast<std::int64_t>(128 - form.bias()) << 23);
    rounded = writer.select(writer.compare("ult", magnitude, smallest_normal), subnormal, rounded, "rounded");
  }
  IrValue most = number(form.infinities ? form.largest + 1 : form.largest);
  rounded = writer.call(intrinsic("umin", i32), i32, {rounded, most}, "rounded");
  IrValue is_nan = writer.compare("ugt", magnitude, number(0x7f800000), "nan");
  rounded = writer.select(is_nan, number(form.nan), rounded, "rounded");
  IrValue sign = writer.binary("lshr", bits, number(32 - form.total()));
  sign = writer.binary("and", sign, number(1 << (form.total() - 1)), "sign");
  return writer.binary("or", rounded, sign, "narrow");
}

/// f64 to f32 rounded to odd: the last bit is 1 wherever anything was cut off. f32 has more than twice the
/// digits of every narrow type, so rounding the result once more is as good as rounding the f64 once (Boldo
/// and Melquiond, 2008).
IrValue f64_to_odd_f32(IrWriter& writer, const IrValue& value) {
  IrType i32 = in_lanes(ir_i32, value), f32 = in_lanes(ir_f32, value), f64 = value.type;
  IrValue nearest = writer.cast("fptrunc", value, f32, "nearest");
  IrValue back = writer.cast("fpext", nearest, f64, "back");
  std::string absolute = intrinsic("fabs", f64);
  IrValue away =
      writer.compare("ogt", writer.call(absolute, f64, {back}), writer.call(absolute, f64, {value}), "away");
  IrValue bits = bits_of(writer, nearest);
  IrValue truncated = writer.binary("sub", bits, writer.cast("zext", away, i32), "truncated");
  IrValue inexact = writer.cast("zext", writer.compare("one", back, value), i32, "inexact");
  return writer.cast("bitcast", writer.binary("or", truncated, inexact), f32, "odd");
}

/// Writes `name.<lanes>` once and calls it.
template <typename Body>
IrValue through_helper(IrWriter& writer, std::string_view name, IrType result, const IrValue& value,
                       Body body) {
  std::string full = fmt::format("ek_{}.{}", name, value.type.suffix());
  writer.helper(full, {{value.type, "x", ""}}, result,
                [&](const IrWriter::Values& p) -> std::optional<IrValue> { return body(p[0]); });
  return writer.call_helper(full, result, {value}, "converted");
}

const NarrowFloat& form_of(DType dtype) {
  return dtype == DType::bf16 ? bf16_form : dtype == DType::f8e4m3 ? e4m3_form : e5m2_form;
}

IrValue float_to_narrow(IrWriter& writer, const IrValue& value, DType dtype) {
  IrType stored = in_lanes(storage_ir_type(dtype), value);
  auto body = [&](const IrValue& x) {
    IrValue single = x.type.kind == IrType::Kind::f64 ? f64_to_odd_f32(writer, x) : x;
    if (dtype == DType::f16) return writer.cast("fptrunc", single, stored, "half");
    return writer.cast("trunc", narrow_f32(writer, single, form_of(dtype)), stored, "narrow");
  };
  if (dtype == DType::f16 && value.type.kind == IrType::Kind::f32) return body(value);
  return through_helper(writer, fmt::format("to_{}", core::dtype_name(dtype)), stored, value, body);
}

IrValue e4m3_to_f32(IrWriter& writer, const IrValue& stored) {
  IrType i32 = in_lanes(ir_i32, stored), f32 = in_lanes(ir_f32, stored);
  auto number = [&](std::int64_t n) { return writer.integers(n, i32); };
  IrValue wide = writer.cast("zext", stored, i32, "wide");
  IrValue magnitude = writer.binary("and", wide, number(0x7f), "magnitude");
  IrValue placed = writer.cast("bitcast", writer.binary("shl", magnitude, number(20)), f32, "placed");
  IrValue scaled = writer.binary("fmul", placed, writer.floating(std::ldexp(1.0, 127 - 7), f32), "scaled");
  IrValue is_nan = writer.compare("eq", magnitude, number(0x7f), "nan");
  IrValue bits = writer.select(is_nan, number(0x7fc00000), bits_of(writer, scaled), "bits");
  IrValue sign = writer.binary("shl", writer.binary("and", wide, number(0x80)), number(24), "sign");
  return writer.cast("bitcast", writer.binary("or", bits, sign), f32, "value");
}

IrValue as_bool(IrWriter& writer, const IrValue& value) {
  if (value.type.kind == IrType::Kind::i1) return value;
  return writer.compare(value.type.is_float() ? "une" : "ne", value, IrWriter::zero(value.type), "is");
}

IrValue float_to_integer(IrWriter& writer, const IrValue& value, IrType integer, bool is_signed) {
  IrType type = in_lanes(integer, value);
  std::string name =
      fmt::format("llvm.{}.sat.{}.{}", is_signed ? "fptosi" : "fptoui", type.suffix(), value.type.suffix());
  return writer.call(name, type, {value}, "converted");
}

/// An integer or bool as a float of the kind `to`, rounded once.
IrValue integer_to_float(IrWriter& writer, const IrValue& value, DType from, IrType to) {
  bool is_signed = from == DType::i32 || from == DType::i64;
  return writer.cast(is_signed ? "sitofp" : "uitofp", value, in_lanes(to, value), "converted");
}

IrValue resize_integer(IrWriter& writer, const IrValue& value, DType from, IrType to) {
  IrType type = in_lanes(to, value);
  if (type == value.type) return value;
  bool narrower = to.scalar_bytes() < value.type.scalar_bytes();
  bool is_signed = from == DType::i32 || from == DType::i64;
  return writer.cast(narrower ? "trunc" : is_signed ? "sext" : "zext", value, type, "converted");
}

}  // namespace

IrValue from_storage(IrWriter& writer, const IrValue& stored, DType dtype) {
  IrType compute = in_lanes(compute_ir_type(core::compute_type(dtype)), stored);
  switch (dtype) {
    case DType::boolean:
      return writer.compare("ne", stored, IrWriter::zero(stored.type), "is");
    case DType::i8:
    case DType::i16:
      return writer.cast("sext", stored, compute, "wide");
    case DType::u8:
    case DType::u16:
      return writer.cast("zext", stored, compute, "wide");
    case DType::f16:
      return writer.cast("fpext", stored, compute, "wide");
    case DType::bf16: {
      IrType i32 = in_lanes(ir_i32, stored);
      IrValue high = writer.binary("shl", writer.cast("zext", stored, i32), writer.integers(16, i32), "high");
      return writer.cast("bitcast", high, compute, "wide");
    }
    case DType::f8e5m2: {  // the upper byte of an f16
      IrType i16 = in_lanes(ir_i16, stored);
      IrValue high = writer.binary("shl", writer.cast("zext", stored, i16), writer.integers(8, i16), "high");
      IrValue half = writer.cast("bitcast", high, in_lanes({IrType::Kind::half}, stored), "half");
      return writer.cast("fpext", half, compute, "wide");
    }
    case DType::f8e4m3:
      return through_helper(writer, "from_f8e4m3", compute, stored,
                            [&](const IrValue& x) { return e4m3_to_f32(writer, x); });
    default:
      return stored;
  }
}

IrValue to_storage(IrWriter& writer, const IrValue& value, DType from, DType dtype) {
  IrType stored = in_lanes(storage_ir_type(dtype), value);
  if (dtype == DType::boolean) return writer.cast("zext", as_bool(writer, value), stored, "stored");
  if (!core::is_float(dtype)) {
    if (core::is_float(from)) return float_to_integer(writer, value, stored, core::is_signed(dtype));
    return resize_integer(writer, value, from, stored);
  }
  if (dtype == DType::f64 || dtype == DType::f32) {
    if (!core::is_float(from)) return integer_to_float(writer, value, from, stored);
    if (value.type == stored) return value;
    return writer.cast(dtype == DType::f64 ? "fpext" : "fptrunc", value, stored, "converted");
  }
  // Every integer of 32 bits is exact in f64, so the one rounding is that to the narrow type.
  return float_to_narrow(writer, core::is_float(from) ? value : integer_to_float(writer, value, from, ir_f64),
                         dtype);
}

IrValue cast_value(IrWriter& writer, const IrValue& value, DType from, DType to) {
  if (from == to) return value;
  if (to == DType::boolean) return as_bool(writer, value);
  IrValue stored = to_storage(writer, value, from, to);
  return core::is_storage(to) ? from_storage(writer, stored, to) : stored;
}

}  // namespace einkern::codegen::cpu
