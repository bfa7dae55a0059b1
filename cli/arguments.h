// What --dims, --set and --input say, as values of a function's dims, scalars and tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/options.h"
#include "core/result.h"
#include "dsl/program.h"
#include "engine/call.h"
#include "engine/npy.h"

namespace einkern::cli {

/// Values given by --dims and --set, by name, each taken out when used.
using Values = std::map<std::string, std::string>;
/// Contents of the files of --input, by the tensor's name.
using Arrays = std::map<std::string, engine::NpyArray>;

/// --dims and --set together; a name that stands twice is an error.
core::Result<Values> collect_values(const ProblemOptions& options);

/// The files of --input; a name that is no tensor of the function is an error that proposes one.
core::Result<Arrays> read_inputs(const ProblemOptions& options, const dsl::Signature& signature);

/// The array in a tensor's dtype: floats are rounded to any float type, integers to any that holds them all,
/// each with one line saying so; floats for integers, and bool for numbers, are an error of kind shape.
core::Result<engine::NpyArray> fit_array(const std::string& name, engine::NpyArray array, DType dtype);

/// Sizes of dims: from --dims, from files, then derived ones. Unknown ones are an error that names them all.
core::Result<std::vector<std::int64_t>> solve_dims(const dsl::Function& function, Values& values,
                                                   const Arrays& arrays);

/// A scalar's value from its text: decimal numbers, inf, nan; true and false of bool; whole numbers that fit
/// of integers.
core::Result<engine::ScalarBits> scalar_value(const std::string& name, DType dtype, const std::string& text);

/// "; did you mean `softmax`?", or "" where nothing is near.
std::string suggestion(std::string_view misspelt, std::span<const std::string_view> candidates);

}  // namespace einkern::cli
