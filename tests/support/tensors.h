// Short ways to write tensors and scalars of the reference in tests.
#pragma once

#include <vector>

#include "codegen/reference/evaluator.h"

namespace einkern::testing {

using codegen::reference::HostScalar;
using codegen::reference::HostTensor;

/// A tensor of a float type; values are rounded to it.
inline HostTensor floats(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor tensor{dtype, std::move(shape), {}, {}};
  for (const double value : values) tensor.floats.push_back(core::round_to(dtype, value));
  return tensor;
}
/// A tensor of an integer type or bool.
inline HostTensor integers(DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> values) {
  return {dtype, std::move(shape), {}, std::move(values)};
}
inline HostScalar float_scalar(double value, DType dtype = DType::f32) { return {dtype, value, 0}; }
inline HostScalar integer_scalar(std::int64_t value, DType dtype = DType::i32) { return {dtype, 0, value}; }

}  // namespace einkern::testing
