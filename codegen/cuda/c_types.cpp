#include "codegen/cuda/c_types.h"

#include <bit>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace einkern::codegen::cuda {

std::string_view storage_type(DType type) {
  switch (type) {
    case DType::boolean:
    case DType::u8:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return "unsigned char";
    case DType::i8:
      return "signed char";
    case DType::i16:
      return "short";
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return "unsigned short";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long long";
    case DType::u32:
      return "unsigned";
    case DType::u64:
      return "unsigned long long";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
  }
  return "void";
}

std::string_view value_type(DType type, Arithmetic arithmetic) {
  if (type == DType::boolean) return "bool";
  if (type == DType::f32 && arithmetic == Arithmetic::wide) return "double";
  return storage_type(type);
}

std::string converted_load(DType storage, std::string_view stored, Arithmetic arithmetic) {
  const bool wide = arithmetic == Arithmetic::wide;
  switch (storage) {
    case DType::boolean:
      return fmt::format("({} != 0)", stored);
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return fmt::format("{}ek_{}_to_f32({})", wide ? "(double)" : "", core::dtype_name(storage), stored);
    case DType::i8:
    case DType::i16:
    case DType::u8:
    case DType::u16:
      return fmt::format("(int){}", stored);
    case DType::f32:
      return wide ? fmt::format("(double){}", stored) : std::string(stored);
    default:
      return std::string(stored);
  }
}

namespace {

/// The argument of a call that is the whole text, "f(argument)"; empty if it is something else.
std::string argument_of(std::string_view text, std::string_view function) {
  if (!text.starts_with(function)) return {};
  const std::string_view rest = text.substr(function.size());
  const std::string argument = without_parentheses(rest);
  return argument.size() + 2 == rest.size() ? argument : std::string();
}

}  // namespace

std::string converted_store(DType storage, DType type, std::string_view value, Arithmetic arithmetic) {
  const std::string bare = without_parentheses(value);
  const bool is_float = value_type(type, arithmetic) == "float";
  switch (storage) {
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      // What was just read from this type, or rounded to it, is stored as it is; but a store to f8e5m2
      // saturates the infinity that a read may give.
      if (std::string stored = argument_of(bare, fmt::format("ek_{}_to_f32", core::dtype_name(storage)));
          is_float && storage != DType::f8e5m2 && !stored.empty())
        return stored;
      return is_float ? fmt::format("ek_f32_to_{}({})", core::dtype_name(storage), bare)
                      : fmt::format("ek_f32_to_{}(ek_odd_f32({}))", core::dtype_name(storage), bare);
    default:
      break;
  }
  const std::string_view from = value_type(type, arithmetic), to = storage_type(storage);
  return from == to ? bare : fmt::format("({}){}", to, value);
}

std::string converted_cast(DType target, DType type, std::string_view value, Arithmetic arithmetic) {
  if (core::is_float(type) && core::is_integer(target)) {
    const std::string bare = without_parentheses(value);
    if (!core::is_storage(target)) return fmt::format("ek_to_{}({})", core::dtype_name(target), bare);
    return fmt::format("min(max(ek_to_i32({}), {}), {})", bare, static_cast<int>(core::lowest(target)),
                       static_cast<int>(core::largest(target)));
  }
  if (target == DType::boolean) return fmt::format("({} != 0)", value);
  const DType compute = core::compute_type(target);
  if (core::is_storage(target))
    return converted_load(target, converted_store(target, type, value, arithmetic), arithmetic);
  const std::string_view from = value_type(type, arithmetic), to = value_type(compute, arithmetic);
  return from == to ? std::string(value) : fmt::format("({}){}", to, value);
}

namespace {

std::string decimal(double value) {
  char buffer[64];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return status == std::errc() ? std::string(buffer, end) : std::string();
}

std::string decimal(float value) {
  char buffer[64];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return status == std::errc() ? std::string(buffer, end) : std::string();
}

}  // namespace

std::string float_literal(DType type, double value, Arithmetic arithmetic) {
  const bool single = value_type(type, arithmetic) == "float";
  if (!std::isfinite(value)) {
    const bool negative = std::signbit(value) && !std::isnan(value);
    const std::string_view bits = single
                                      ? (std::isnan(value) ? "0x7fffffff" : "0x7f800000")
                                      : (std::isnan(value) ? "0x7fffffffffffffffll" : "0x7ff0000000000000ll");
    const std::string text = fmt::format("{}({})", single ? "__int_as_float" : "__longlong_as_double", bits);
    return negative ? "(-" + text + ")" : text;
  }
  std::string text =
      single ? decimal(static_cast<float>(value)) : decimal(value);  // the shortest that reads back exactly
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (single) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

std::string integer_literal(DType type, std::int64_t value) {
  switch (type) {
    case DType::boolean:
      return value != 0 ? "true" : "false";
    case DType::u32:
      return fmt::format("{}u", static_cast<std::uint32_t>(value));
    case DType::u64:
      return fmt::format("{}ull", static_cast<std::uint64_t>(value));
    case DType::i64:
      // The lowest number has no literal of its own: its digits alone are out of range.
      if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
      return value < 0 ? fmt::format("({}ll)", value) : fmt::format("{}ll", value);
    default:
      if (value == INT32_MIN) return "(-2147483647 - 1)";
      return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
  }
}

std::string without_parentheses(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::string(text);
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return std::string(text);
  }
  return std::string(text.substr(1, text.size() - 2));
}

}  // namespace einkern::codegen::cuda
