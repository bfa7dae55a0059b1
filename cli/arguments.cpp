#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.h"
#include "dsl/diagnostic.h"

namespace einkern::cli {
namespace {

core::Error usage_error(std::string message) { return {core::ErrorKind::usage, std::move(message)}; }
core::Error shape_error(std::string message) { return {core::ErrorKind::shape, std::move(message)}; }

/// The whole text as a number of that type; nothing if it is none, or does not fit.
template <typename Number>
std::optional<Number> parsed(const std::string& text) {
  Number value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

core::Result<std::int64_t> dim_value(const std::string& name, const std::string& text) {
  const auto value = parsed<std::int64_t>(text);
  if (!value || *value < 0)
    return usage_error(fmt::format("{}={}: a dim is an integer of 0 or more, of 64 bits", name, text));
  return *value;
}

/// Sizes that files say, and a contradiction with what --dims said.
core::Result<void> take_file_sizes(const dsl::Function& function, const dsl::Tensor& tensor,
                                   const engine::NpyArray& array,
                                   std::vector<std::optional<std::int64_t>>& known) {
  if (array.shape.size() != tensor.shape.size())
    return shape_error(fmt::format("{} has {} dimensions, its file {}: [{}]", tensor.name,
                                   tensor.shape.size(), array.shape.size(), fmt::join(array.shape, ", ")));
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const dsl::Expression& dimension = function.arena[tensor.shape[i]];
    if (dimension.op != dsl::Op::dim) continue;
    auto& dim = known[static_cast<std::size_t>(dimension.index)];
    if (dim && *dim != array.shape[i])
      return shape_error(fmt::format("{} is {}, and dimension {} of {} in its file is {}",
                                     function.dims[static_cast<std::size_t>(dimension.index)].name, *dim, i,
                                     tensor.name, array.shape[i]));
    dim = array.shape[i];
  }
  return {};
}

/// The dim's derivation or default, if all that it needs is known.
core::Result<std::optional<std::int64_t>> derived(const dsl::Function& function, const dsl::Dim& dim,
                                                  const std::vector<std::optional<std::int64_t>>& known) {
  bool ready = true;
  dsl::visit_nodes(function.arena, *dim.value, [&](dsl::ExpressionId id) {
    const dsl::Expression& e = function.arena[id];
    if (e.op == dsl::Op::dim) ready = ready && known[static_cast<std::size_t>(e.index)].has_value();
  });
  if (!ready) return std::optional<std::int64_t>();
  std::vector<std::int64_t> numbers;
  for (const auto& value : known) numbers.push_back(value.value_or(0));
  EINKERN_TRY(const std::int64_t value, dsl::evaluate_dims(function, *dim.value, numbers));
  return std::optional(value);
}

}  // namespace

std::string suggestion(std::string_view misspelt, std::span<const std::string_view> candidates) {
  const std::string_view near = dsl::nearest_name(misspelt, candidates);
  return near.empty() ? "" : fmt::format("; did you mean `{}`?", near);
}

core::Result<Values> collect_values(const ProblemOptions& options) {
  Values values;
  for (const auto& [name, list] : {std::pair("--dims", &options.dims), std::pair("--set", &options.values)})
    for (const std::string& text : *list) {
      EINKERN_TRY(const auto pair, split_pair(name, text));
      if (!values.emplace(pair).second)
        return usage_error(
            fmt::format("{} is given twice, as {} and as {}", pair.first, values[pair.first], pair.second));
    }
  return values;
}

core::Result<Arrays> read_inputs(const ProblemOptions& options, const dsl::Signature& signature) {
  std::vector<std::string_view> tensors;
  for (const dsl::SignatureItem& item : signature.parameters)
    if (item.kind == dsl::SignatureItem::Kind::tensor) tensors.push_back(item.name);
  Arrays arrays;
  for (const std::string& text : options.inputs) {
    EINKERN_TRY(const auto pair, split_pair("--input", text));
    if (std::find(tensors.begin(), tensors.end(), pair.first) == tensors.end())
      return usage_error(fmt::format("{} has no tensor `{}`{}: {}", signature.name, pair.first,
                                     suggestion(pair.first, tensors), signature.text));
    if (arrays.contains(pair.first)) return usage_error(fmt::format("--input {} is given twice", pair.first));
    EINKERN_TRY(arrays[pair.first], engine::read_npy(pair.second));
  }
  return arrays;
}

core::Result<engine::NpyArray> fit_array(const std::string& name, engine::NpyArray array, DType dtype) {
  if (array.dtype == dtype) return array;
  const bool from_float = core::is_float(array.dtype), to_float = core::is_float(dtype);
  const bool mixes_bool = array.dtype == DType::boolean || dtype == DType::boolean;
  if (mixes_bool || (from_float && !to_float))
    return shape_error(fmt::format("{} holds {}, and its file {}: convert it first, as with numpy's astype",
                                   name, core::dtype_name(dtype), core::dtype_name(array.dtype)));
  engine::NpyArray fitted = engine::convert(array, dtype);
  if (!to_float && engine::convert(fitted, array.dtype).bytes != array.bytes)
    return shape_error(fmt::format("{} holds {}, and its file has integers of {} that do not fit", name,
                                   core::dtype_name(dtype), core::dtype_name(array.dtype)));
  notice(fmt::format("{} is {} from {} to {}", name, to_float ? "rounded" : "converted",
                     core::dtype_name(array.dtype), core::dtype_name(dtype)));
  return fitted;
}

core::Result<std::vector<std::int64_t>> solve_dims(const dsl::Function& function, Values& values,
                                                   const Arrays& arrays) {
  std::vector<std::optional<std::int64_t>> known(function.dims.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto it = values.find(function.dims[i].name);
    if (it == values.end()) continue;
    EINKERN_TRY(known[i], dim_value(it->first, it->second));
    values.erase(it);
  }
  for (dsl::TensorId id : dsl::argument_tensors(function)) {
    const auto array = arrays.find(function[id].name);
    if (array == arrays.end()) continue;
    EINKERN_CHECK_OK(take_file_sizes(function, function[id], array->second, known));
  }
  // Derivations and defaults may need each other, so go over them until nothing more is found.
  for (std::size_t round = 0; round <= known.size(); ++round)
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] || !function.dims[i].value) continue;
      EINKERN_TRY(known[i], derived(function, function.dims[i], known));
    }
  std::vector<std::string> missing;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i]) missing.push_back(function.dims[i].name);
    dims.push_back(known[i].value_or(0));
  }
  if (!missing.empty())
    return usage_error(fmt::format("{} {} no value: say --dims {}=1024", fmt::join(missing, ", "),
                                   missing.size() == 1 ? "has" : "have", fmt::join(missing, "=1024,")));
  return dims;
}

core::Result<engine::ScalarBits> scalar_value(const std::string& name, DType dtype, const std::string& text) {
  const auto wrong = [&](std::string_view wanted) {
    return usage_error(fmt::format("{}={}: {} is {}, {}", name, text, name, core::dtype_name(dtype), wanted));
  };
  if (dtype == DType::boolean) {
    if (text != "true" && text != "false" && text != "0" && text != "1") return wrong("so true or false");
    return engine::ScalarBits{dtype, std::uint64_t{text == "true" || text == "1"}};
  }
  if (core::is_float(dtype)) {
    const auto number = parsed<double>(text);
    if (!number) return wrong("so a number such as 0.5 or 1e-5");
    return engine::ScalarBits{dtype, engine::bits_of(dtype, *number)};
  }
  std::optional<std::uint64_t> bits;
  if (const auto number = parsed<std::int64_t>(text))
    bits = static_cast<std::uint64_t>(*number);
  else
    bits = parsed<std::uint64_t>(text);
  if (!bits) return wrong("so a whole number");
  const auto value = static_cast<std::int64_t>(*bits);
  const bool negative = text.front() == '-' && value != 0;
  const bool fits =
      dtype == DType::u64 ? !negative : core::wrap_integer(dtype, value) == value && negative == (value < 0);
  if (!fits) return wrong("and this does not fit it");
  const int width = 8 * core::size_bytes(dtype);
  return engine::ScalarBits{dtype, width == 64 ? *bits : *bits & ((std::uint64_t{1} << width) - 1)};
}

}  // namespace einkern::cli
