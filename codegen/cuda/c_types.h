// How element types and numbers are written in CUDA C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/dtype.h"

namespace einkern::codegen::cuda {

/// How f32 arithmetic is written: as float, or as double without rounding (the device reference).
enum class Arithmetic { as_typed, wide };

/// The C++ type in which a tensor stores its elements: f16 and bf16 are `unsigned short`, f8 is `unsigned
/// char`.
std::string_view storage_type(DType type);
/// The C++ type of a computed value; `type` is a compute type. f32 is `double` in wide arithmetic.
std::string_view value_type(DType type, Arithmetic arithmetic = Arithmetic::as_typed);

/// The value of one stored element, given its text: "ek_bf16_to_f32(t_x[i])". Names in it come from the
/// prelude.
std::string converted_load(DType storage, std::string_view stored,
                           Arithmetic arithmetic = Arithmetic::as_typed);
/// The stored element of a value of a compute type, given its text (primary): rounded to nearest even in one
/// step, or wrapped.
std::string converted_store(DType storage, DType type, std::string_view value,
                            Arithmetic arithmetic = Arithmetic::as_typed);
/// What `target(value)` is in the language: rounded, wrapped, or truncated and saturated; of the target's
/// compute type.
std::string converted_cast(DType target, DType type, std::string_view value,
                           Arithmetic arithmetic = Arithmetic::as_typed);

/// A literal that reads back as exactly this value; infinities and NaN by their bits. Free of the locale.
std::string float_literal(DType type, double value, Arithmetic arithmetic = Arithmetic::as_typed);
/// A literal of that integer compute type, or `true` and `false`.
std::string integer_literal(DType type, std::int64_t value);

/// Without one pair of parentheses around the whole text, if it has one.
std::string without_parentheses(std::string_view text);

}  // namespace einkern::codegen::cuda
