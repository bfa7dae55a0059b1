// One call of a function as the engine sees it: where tensors lie, and the values of dims and scalars.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "dsl/binding.h"
#include "dsl/function.h"
#include "runtime/device.h"

namespace einkern::engine {

/// Memory of one tensor. Strides count elements; empty means dense row-major. They may be 0 (broadcast) or
/// negative.
struct TensorPlace {
  runtime::Address address = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// Bits of a scalar in its declared dtype, in the low bytes.
struct ScalarBits {
  DType dtype = DType::f32;
  std::uint64_t bits = 0;
};

/// What decides which kernels serve a call. `inputs`: the input and inout tensors, in parameter order.
/// `outputs`: the results in their order, where the caller brings memory; empty if the engine allocates them
/// dense.
struct Call {
  std::vector<TensorPlace> inputs;
  std::vector<TensorPlace> outputs;
  std::map<std::string, std::int64_t, std::less<>> dims;
  std::vector<std::optional<ScalarBits>> scalars;  // by ScalarId; nullopt: the default
};

/// The dense strides of a shape.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape);
/// First and last byte (exclusive) that a tensor touches, relative to its address; {0, 0} if it is empty.
std::pair<std::int64_t, std::int64_t> byte_range(DType dtype, const TensorPlace& place);

/// An output must not overlap an input or another output. The error, of kind shape, names both.
core::Result<void> check_overlap(const dsl::Function& function, const Call& call);

/// Bits of every scalar for a launch: the caller's, converted to the declared type, or the default over the
/// dims.
core::Result<std::vector<std::uint64_t>> scalar_bits(const dsl::Function& function, const Call& call,
                                                     const std::vector<std::int64_t>& dims);

/// A number as the bits of a dtype, as a store rounds it.
std::uint64_t bits_of(DType dtype, double value);
/// The number that bits of any dtype stand for.
double number_of(DType dtype, std::uint64_t bits);

}  // namespace einkern::engine
