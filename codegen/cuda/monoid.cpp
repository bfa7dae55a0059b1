#include "codegen/cuda/monoid.h"

#include <limits>

#include <fmt/format.h>

namespace einkern::codegen::cuda {

using dsl::Reduction;

bool carries_index(Reduction reduction) {
  return reduction == Reduction::argmax || reduction == Reduction::argmin;
}

std::string identity_text(Reduction reduction, DType type, Arithmetic arithmetic) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto number = [&](double floating, std::int64_t integer) {
    return core::is_float(type) ? float_literal(type, floating, arithmetic) : integer_literal(type, integer);
  };
  const bool wide = type == DType::i64, is_unsigned = !core::is_signed(type);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::argmax:
    case Reduction::argmin:
      return number(0, 0);
    case Reduction::product:
      return number(1, 1);
    case Reduction::maximum:
      return number(-infinity, is_unsigned ? 0 : wide ? INT64_MIN : INT32_MIN);
    case Reduction::minimum:
      return number(infinity, is_unsigned ? -1 : wide ? INT64_MAX : INT32_MAX);
    case Reduction::any:
      return "false";
    case Reduction::all:
      return "true";
  }
  return "0";
}

std::string combined_text(Reduction reduction, DType type, Arithmetic arithmetic, std::string_view a,
                          std::string_view b) {
  const std::string suffix(value_type(type, arithmetic) == "float" ? "f32" : "f64");
  const bool floating = core::is_float(type), is_signed = core::is_signed(type);
  switch (reduction) {
    case Reduction::sum:
      return is_signed ? fmt::format("ek_add({}, {})", a, b) : fmt::format("{} + {}", a, b);
    case Reduction::product:
      return is_signed ? fmt::format("ek_multiply({}, {})", a, b) : fmt::format("{} * {}", a, b);
    case Reduction::maximum:
      return floating ? fmt::format("ek_max_{}({}, {})", suffix, a, b) : fmt::format("max({}, {})", a, b);
    case Reduction::minimum:
      return floating ? fmt::format("ek_min_{}({}, {})", suffix, a, b) : fmt::format("min({}, {})", a, b);
    case Reduction::any:
      return fmt::format("{} | {}", a,
                         b);  // never "||": b may be a shuffle, in which every lane must take part
    case Reduction::all:
      return fmt::format("{} & {}", a, b);
    default:
      return std::string(a);
  }
}

}  // namespace einkern::codegen::cuda
