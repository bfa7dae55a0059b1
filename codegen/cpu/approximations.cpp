#include "codegen/cpu/approximations.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace einkern::codegen::cpu {
namespace {

using dsl::Op;

// Written by tools/fit_polynomials.py, which says what each one approximates; lowest power first.
// clang-format off
constexpr double exp_coefficients[] = {0x1p-1, 0x1.5554dcp-3, 0x1.555502p-5, 0x1.120c0ap-7, 0x1.6d2e08p-10};
constexpr double exp2_coefficients[] = {0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6af9cp-5, 0x1.3b2a54p-7, 0x1.5ef5dp-10, 0x1.44175ep-13};
constexpr double log_coefficients[] = {0x1.555552p-2, -0x1.0000c8p-2, 0x1.99a164p-3, -0x1.54d50cp-3, 0x1.22da6cp-3, -0x1.09ad44p-3, 0x1.0464d6p-3, -0x1.4be672p-4};
constexpr double log2_coefficients[] = {0x1.c551dap-2, -0x1.715476p-1, 0x1.ec7026p-2, -0x1.71546cp-2, 0x1.278d92p-2, -0x1.ec9638p-3, 0x1.a280d6p-3, -0x1.6c1024p-3, 0x1.66bebcp-3, -0x1.68952p-3, 0x1.95e02ep-4};
constexpr double sin_coefficients[] = {-0x1.555556p-3, 0x1.11119ap-7, -0x1.a08584p-13, 0x1.88275ap-19};
constexpr double cos_coefficients[] = {0x1.555556p-5, -0x1.6c17d4p-10, 0x1.a0f5d8p-16, -0x1.590332p-22};
constexpr double tanh_coefficients[] = {-0x1.555556p-2, 0x1.11116p-3, -0x1.ba2e86p-5, 0x1.67071ep-6, -0x1.21aa48p-7, 0x1.7c899cp-9};
constexpr double erf_coefficients[] = {0x1.06eba8p-3, -0x1.812744p-2, 0x1.ce2e96p-4, -0x1.b81ffp-6, 0x1.55b948p-8, -0x1.b74c5ap-11, 0x1.b5264ep-14, -0x1.d1b11ep-18};
constexpr double erfc_coefficients[] = {0x1.a1c1e8p+2, 0x1.3881a8p+2, 0x1.dea6c4p-1, 0x1.b440c6p-7, -0x1.6ad8c6p-9, 0x1.2246eap-11, -0x1.b8b326p-14, 0x1.244366p-16, -0x1.527bd4p-20, -0x1.9f27e8p-23};
// clang-format on

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Arithmetic on f32 values of one number of lanes, to write the functions below as formulas.
class Formula {
 public:
  Formula(IrWriter& writer, IrType type) : writer_(writer), f32_(type), i32_(ir_i32.with_lanes(type.lanes)) {}

  IrValue number(double value) { return writer_.floating(value, f32_); }
  IrValue integer(std::int64_t value) { return writer_.integers(value, i32_); }
  IrValue add(const IrValue& a, const IrValue& b) { return writer_.binary("fadd", a, b); }
  IrValue subtract(const IrValue& a, const IrValue& b) { return writer_.binary("fsub", a, b); }
  IrValue multiply(const IrValue& a, const IrValue& b) { return writer_.binary("fmul", a, b); }
  IrValue divide(const IrValue& a, const IrValue& b) { return writer_.binary("fdiv", a, b); }
  IrValue fma(const IrValue& a, const IrValue& b, const IrValue& c) {
    return writer_.call(intrinsic("fma", a.type), a.type, {a, b, c});
  }
  IrValue negate(const IrValue& a) { return writer_.negate(a); }
  IrValue absolute(const IrValue& a) {
    return writer_.call(intrinsic("fabs", a.type), a.type, {a}, "absolute");
  }
  IrValue with_sign_of(const IrValue& a, const IrValue& sign) {
    return writer_.call(intrinsic("copysign", a.type), a.type, {a, sign});
  }
  IrValue less(const IrValue& a, const IrValue& b) { return writer_.compare("olt", a, b); }
  IrValue greater(const IrValue& a, const IrValue& b) { return writer_.compare("ogt", a, b); }
  IrValue equal(const IrValue& a, const IrValue& b) { return writer_.compare("oeq", a, b); }
  IrValue select(const IrValue& c, const IrValue& a, const IrValue& b) { return writer_.select(c, a, b); }
  IrValue bits(const IrValue& a) { return writer_.cast("bitcast", a, i32_, "bits"); }
  IrValue from_bits(const IrValue& a) { return writer_.cast("bitcast", a, f32_); }
  IrValue to_float(const IrValue& a) { return writer_.cast("sitofp", a, f32_); }
  IrValue whole(std::string_view opcode, const IrValue& a, const IrValue& b) {
    return writer_.binary(opcode, a, b);
  }

  /// Horner's rule.
  IrValue polynomial(const IrValue& x, std::span<const double> coefficients) {
    IrValue sum = number(coefficients.back());
    for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, number(coefficients[i]));
    return sum;
  }

  /// The nearest whole number as float and as integer, for |x| < 2^22, by adding 1.5 * 2^23: NaN gives some
  /// integer, where a conversion would be undefined.
  struct Rounded {
    IrValue floating, integer;
  };
  Rounded nearest(const IrValue& x) {
    IrValue magic = number(12582912.0);
    IrValue sum = add(x, magic);
    return {subtract(sum, magic), whole("sub", bits(sum), bits(magic))};
  }

  /// x * 2^n for n from -252 to 254 in two exact steps, of which the last rounds if the result is subnormal.
  IrValue scale(const IrValue& x, const IrValue& n) {
    IrValue half = whole("ashr", n, integer(1));
    return multiply(multiply(x, power_of_two(half)), power_of_two(whole("sub", n, half)));
  }
  IrValue power_of_two(const IrValue& n) {
    return from_bits(whole("shl", whole("add", n, integer(127)), integer(23)));
  }

  /// Keeps NaN, as maxnum and minnum would not.
  IrValue clamp(const IrValue& x, double low, double high) {
    IrValue not_low = select(less(x, number(low)), number(low), x);
    return select(greater(not_low, number(high)), number(high), not_low);
  }

  IrWriter& writer() { return writer_; }
  IrType f32() const { return f32_; }

 private:
  IrWriter& writer_;
  IrType f32_, i32_;
};

// ln 2 in two parts (Cody and Waite, 1980): the first has so few digits that its multiples by an exponent are
// exact.
constexpr double log2_of_e = 0x1.715476p+0, ln2_high = 0x1.62e4p-1, ln2_low = 0x1.7f7d1cp-20;

/// x = n ln 2 + r with |r| <= ln 2 / 2.
struct Reduced {
  IrValue n, r;
};
Reduced reduce_by_ln2(Formula& f, const IrValue& x) {
  auto [whole, n] = f.nearest(f.multiply(x, f.number(log2_of_e)));
  IrValue r = f.fma(whole, f.number(-ln2_high), x);
  return {n, f.fma(whole, f.number(-ln2_low), r)};
}

/// exp(r) - 1 for |r| <= ln 2 / 2: r + r^2 (1/2 + r/6 + …).
IrValue exp_minus_one(Formula& f, const IrValue& r) {
  return f.fma(f.multiply(r, r), f.polynomial(r, exp_coefficients), r);
}

IrValue write_exp(Formula& f, const IrValue& x) {
  auto [n, r] = reduce_by_ln2(f, f.clamp(x, -105, 90));
  return f.scale(f.add(exp_minus_one(f, r), f.number(1)), n);
}

IrValue write_exp2(Formula& f, const IrValue& x) {
  IrValue clamped = f.clamp(x, -151, 129);
  auto [whole, n] = f.nearest(clamped);
  IrValue r = f.subtract(clamped, whole);
  return f.scale(f.fma(r, f.polynomial(r, exp2_coefficients), f.number(1)), n);
}

/// 2^n (exp(r) - 1) + (2^n - 1), halved inside so that n = 128 does not overflow.
IrValue write_expm1(Formula& f, const IrValue& x) {
  auto [n, r] = reduce_by_ln2(f, f.clamp(x, -18, 89));
  IrValue tail = exp_minus_one(f, r);
  IrValue half_power = f.power_of_two(f.whole("sub", n, f.integer(1)));
  IrValue half = f.fma(half_power, tail, f.subtract(half_power, f.number(0.5)));
  IrValue result = f.multiply(half, f.number(2));
  result = f.select(f.writer().compare("eq", n, f.integer(0)), tail, result);
  result = f.select(f.greater(x, f.number(0x1.62e42ep+6)), f.number(infinity), result);
  return f.with_sign_of(result, x);
}

/// x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), for normal and subnormal x > 0.
struct Split {
  IrValue exponent, fraction;  // e as float, f
};
Split split(Formula& f, const IrValue& x) {
  IrValue small = f.less(x, f.number(0x1p-126));
  IrValue normal = f.select(small, f.multiply(x, f.number(0x1p23)), x);
  IrValue bits = f.bits(normal);
  IrValue e = f.whole("ashr", f.whole("sub", bits, f.integer(0x3f3504f3)), f.integer(23));
  IrValue mantissa = f.from_bits(f.whole("sub", bits, f.whole("shl", e, f.integer(23))));
  IrValue exponent = f.to_float(e);
  exponent = f.select(small, f.subtract(exponent, f.number(23)), exponent);
  return {exponent, f.subtract(mantissa, f.number(1))};
}

/// What a logarithm is at 0, below it, at infinity and of NaN.
IrValue logarithm_edges(Formula& f, const IrValue& x, IrValue result) {
  result = f.select(f.equal(x, f.number(infinity)), x, result);
  result = f.select(f.equal(x, f.number(0)), f.number(-infinity), result);
  IrValue positive = f.writer().compare("oge", x, f.number(0));
  return f.select(positive, result, f.number(std::numeric_limits<double>::quiet_NaN()));
}

IrValue write_log(Formula& f, const IrValue& x) {
  auto [e, m] = split(f, x);
  IrValue square = f.multiply(m, m);
  IrValue tail = f.multiply(f.multiply(square, m), f.polynomial(m, log_coefficients));
  tail = f.fma(square, f.number(-0.5), f.fma(e, f.number(ln2_low), tail));
  return logarithm_edges(f, x, f.fma(e, f.number(ln2_high), f.add(m, tail)));
}

IrValue write_log2(Formula& f, const IrValue& x) {
  auto [e, m] = split(f, x);
  IrValue tail = f.multiply(m, f.polynomial(m, log2_coefficients));
  return logarithm_edges(f, x, f.add(e, f.add(m, tail)));
}

/// log(1 + x) = log(u) + (x - (u - 1)) / u for the rounded sum u.
IrValue write_log1p(Formula& f, const IrValue& x) {
  IrValue one = f.number(1), u = f.add(x, one);
  IrValue lost = f.subtract(x, f.subtract(u, one));
  IrValue logarithm = elementary(f.writer(), Op::log, {u});
  IrValue result = f.select(f.greater(u, f.number(0)), f.add(logarithm, f.divide(lost, u)), logarithm);
  result = f.select(f.equal(x, f.number(infinity)), x, result);
  return f.select(f.less(f.absolute(x), f.number(0x1p-25)), x, result);
}

IrValue write_tanh(Formula& f, const IrValue& x) {
  IrValue magnitude = f.absolute(x), square = f.multiply(x, x);
  IrValue near = f.fma(f.multiply(square, magnitude), f.polynomial(square, tanh_coefficients), magnitude);
  IrValue power = elementary(f.writer(), Op::exp, {f.add(magnitude, magnitude)});
  IrValue far = f.subtract(f.number(1), f.divide(f.number(2), f.add(power, f.number(1))));
  return f.with_sign_of(f.select(f.less(magnitude, f.number(0.55)), near, far), x);
}

/// Near 0 x times a polynomial of x^2; beyond, 1 - erfc(x) with erfc as the exponential of a polynomial.
IrValue write_erf(Formula& f, const IrValue& x) {
  IrValue magnitude = f.absolute(x), square = f.multiply(x, x);
  IrValue near = f.fma(magnitude, f.polynomial(square, erf_coefficients), magnitude);
  IrValue clamped = f.clamp(magnitude, 0.9, 4);
  IrValue power = f.polynomial(f.subtract(clamped, f.number(2.25)), erfc_coefficients);
  IrValue far = f.subtract(f.number(1), elementary(f.writer(), Op::exp, {f.negate(power)}));
  return f.with_sign_of(f.select(f.less(magnitude, f.number(0.9)), near, far), x);
}

/// One call of the library a lane.
IrValue library_call(IrWriter& writer, std::string_view name, const std::vector<IrValue>& operands) {
  IrType type = operands[0].type, scalar = type.scalar();
  std::string function = fmt::format("{}{}", name, scalar.kind == IrType::Kind::f32 ? "f" : "");
  if (type.lanes == 1) return writer.call(function, type, operands, name);
  IrValue result = IrWriter::undefined(type);
  for (int lane = 0; lane < type.lanes; ++lane) {
    std::vector<IrValue> arguments;
    for (const IrValue& operand : operands) arguments.push_back(writer.extract(operand, lane));
    result = writer.insert(result, writer.call(function, scalar, arguments, name), lane);
  }
  return result;
}

/// x less its nearest multiple of pi / 2, computed in f64; then the sine's or the cosine's polynomial by the
/// quadrant.
IrValue sine_by_quadrant(Formula& f, const IrValue& x, int first_quadrant) {
  IrWriter& writer = f.writer();
  IrType f64 = ir_f64.with_lanes(x.type.lanes), i32 = ir_i32.with_lanes(x.type.lanes);
  auto number = [&](double value) { return writer.floating(value, f64); };
  auto fma64 = [&](const IrValue& a, const IrValue& b, const IrValue& c) {
    return writer.call(intrinsic("fma", f64), f64, {a, b, c});
  };
  IrValue wide = writer.cast("fpext", x, f64, "wide");
  IrValue magic = number(6755399441055744.0);  // 1.5 * 2^52
  IrValue sum = fma64(wide, number(0x1.45f306dc9c883p-1), magic);
  IrValue quadrant = writer.binary("fsub", sum, magic, "quadrant");
  IrValue rest = fma64(quadrant, number(-0x1.921fb54442d18p+0), wide);
  rest = fma64(quadrant, number(-0x1.1a62633145c07p-54), rest);
  IrValue r = writer.cast("fptrunc", rest, x.type, "r");
  IrValue number_bits = writer.cast("bitcast", sum, ir_i64.with_lanes(x.type.lanes), "bits");
  IrValue q = f.whole("add", writer.cast("trunc", number_bits, i32, "q"), f.integer(first_quadrant));

  IrValue square = f.multiply(r, r);
  IrValue sine = f.fma(f.multiply(square, r), f.polynomial(square, sin_coefficients), r);
  IrValue cosine_tail = f.multiply(f.multiply(square, square), f.polynomial(square, cos_coefficients));
  IrValue cosine = f.add(f.fma(square, f.number(-0.5), f.number(1)), cosine_tail);
  IrValue odd = writer.compare("ne", f.whole("and", q, f.integer(1)), f.integer(0));
  IrValue sign = f.whole("shl", f.whole("and", q, f.integer(2)), f.integer(30));
  return f.from_bits(f.whole("xor", f.bits(f.select(odd, cosine, sine)), sign));
}

/// Beyond 2^20 the reduction above loses digits, so that the library is asked; infinities and NaN go there
/// too.
IrValue write_sine(Formula& f, const IrValue& x, bool is_cosine) {
  IrWriter& writer = f.writer();
  IrValue usual = f.less(f.absolute(x), f.number(0x1p20));
  IrValue all = usual;
  if (x.type.lanes > 1)
    all = writer.call(fmt::format("llvm.vector.reduce.and.v{}i1", x.type.lanes), ir_i1, {usual}, "all");
  IrValue tame = f.select(usual, x, f.number(0));
  IrValue near = sine_by_quadrant(f, tame, is_cosine ? 1 : 0);
  if (!is_cosine) near = f.select(f.equal(tame, f.number(0)), tame, near);  // keeps the sign of 0
  return writer.if_else(
      all, [&] { return IrWriter::Values{near}; },
      [&] {
        return IrWriter::Values{f.select(usual, near, library_call(writer, is_cosine ? "cos" : "sin", {x}))};
      })[0];
}

IrValue write_f32(Formula& f, Op op, const IrValue& x) {
  switch (op) {
    case Op::exp:
      return write_exp(f, x);
    case Op::exp2:
      return write_exp2(f, x);
    case Op::expm1:
      return write_expm1(f, x);
    case Op::log:
      return write_log(f, x);
    case Op::log2:
      return write_log2(f, x);
    case Op::log1p:
      return write_log1p(f, x);
    case Op::sin:
    case Op::cos:
      return write_sine(f, x, op == Op::cos);
    case Op::tanh:
      return write_tanh(f, x);
    default:
      return write_erf(f, x);
  }
}

}  // namespace

IrValue elementary(IrWriter& writer, Op op, const std::vector<IrValue>& operands) {
  std::string_view name = dsl::facts(op).spelling;
  IrType type = operands[0].type;
  if (type.kind == IrType::Kind::f64 || op == Op::pow) return library_call(writer, name, operands);
  std::string helper = fmt::format("ek_{}.{}", name, type.suffix());
  writer.helper(helper, {{type, "x", ""}}, type,
                [&](const IrWriter::Values& parameters) -> std::optional<IrValue> {
                  Formula formula(writer, type);
                  return write_f32(formula, op, parameters[0]);
                });
  return writer.call_helper(helper, type, operands, name);
}

}  // namespace einkern::codegen::cpu
