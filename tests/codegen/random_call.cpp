#include "tests/codegen/random_call.h"

#include <random>

#include "codegen/reference/random_tensor.h"

namespace einkern::testing {

namespace {

using codegen::reference::HostScalar;
using dsl::TensorId;

/// Sizes for every dim, derived ones computed; nothing if a derivation fails.
std::optional<dsl::CallShapes> random_shapes(const dsl::Function& function, std::mt19937_64& random) {
  constexpr std::int64_t sizes[] = {1, 2, 2, 3, 4, 4, 5, 6, 8, 9};
  std::vector<std::int64_t> dims(function.dims.size(), 0);
  dsl::CallShapes shapes;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const dsl::Dim& dim = function.dims[d];
    if (dim.source == dsl::DimSource::derived) continue;
    dims[d] = sizes[random() % std::size(sizes)];
    if (dim.source == dsl::DimSource::parameter) shapes.dims[dim.name] = dims[d] = 1 + dims[d] % 3;
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const dsl::Dim& dim = function.dims[d];
    if (dim.source != dsl::DimSource::derived || !dim.value) continue;
    const auto value = dsl::evaluate_dims(function, *dim.value, dims);
    if (!value.ok()) return std::nullopt;
    dims[d] = *value;
  }
  for (const dsl::Parameter& parameter : function.parameters) {
    const auto* tensor = std::get_if<TensorId>(&parameter);
    if (!tensor) continue;
    std::vector<std::int64_t> shape;
    for (const dsl::ExpressionId extent : function[*tensor].shape) {
      const auto value = dsl::evaluate_dims(function, extent, dims);
      if (!value.ok() || *value < 0) return std::nullopt;
      shape.push_back(*value);
    }
    shapes.tensors.push_back(std::move(shape));
  }
  return shapes;
}

void fill_arguments(const dsl::Function& function, RandomCall& call, std::mt19937_64& random) {
  namespace reference = codegen::reference;
  for (const dsl::Parameter& parameter : function.parameters) {
    if (const auto* tensor = std::get_if<TensorId>(&parameter)) {
      const DType dtype = function[*tensor].dtype;
      const auto& shape = call.binding.shapes[static_cast<std::size_t>(tensor->value)];
      call.arguments.tensors[*tensor] =
          core::is_integer(dtype)
              ? reference::random_indices(dtype, shape, core::is_signed(dtype) ? -1 : 0, 9, random())
              : reference::random_uniform(dtype, shape, random());
    } else if (const auto* scalar = std::get_if<dsl::ScalarId>(&parameter)) {
      HostScalar value;
      value.dtype = function[*scalar].dtype;
      value.floating = 0.25 + 0.125 * static_cast<double>(random() % 6);
      value.integer = static_cast<std::int64_t>(random() % 4);
      call.arguments.scalars[*scalar] = value;
    }
  }
}

}  // namespace

std::optional<RandomCall> random_call(const dsl::Function& function, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int attempt = 0; attempt < 500; ++attempt) {
    const auto shapes = random_shapes(function, random);
    if (!shapes) continue;
    auto binding = dsl::bind(function, *shapes);
    if (!binding.ok()) continue;
    RandomCall call;
    call.binding = *std::move(binding);
    fill_arguments(function, call, random);
    return call;
  }
  return std::nullopt;
}

}  // namespace einkern::testing
