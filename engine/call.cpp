#include "engine/call.h"

#include <fmt/format.h>

namespace einkern::engine {

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<std::int64_t>(shape[i], 1);
  return strides;
}

std::pair<std::int64_t, std::int64_t> byte_range(DType dtype, const TensorPlace& place) {
  const auto strides = place.strides.empty() ? dense_strides(place.shape) : place.strides;
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < place.shape.size(); ++i) {
    if (place.shape[i] == 0) return {0, 0};
    const std::int64_t reach = (place.shape[i] - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const std::int64_t size = core::size_bytes(dtype);
  return {low * size, (high + 1) * size};
}

core::Result<void> check_overlap(const dsl::Function& function, const Call& call) {
  struct Span {
    std::string name;
    std::uint64_t from, to;
    bool written;
  };
  std::vector<Span> spans;
  const auto add = [&](dsl::TensorId id, const TensorPlace& place, bool written) {
    const auto [from, to] = byte_range(function[id].dtype, place);
    if (from == to) return;
    spans.push_back({function[id].name, place.address + static_cast<std::uint64_t>(from),
                     place.address + static_cast<std::uint64_t>(to), written});
  };
  const std::vector<dsl::TensorId> inputs = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    add(inputs[i], call.inputs[i], function[inputs[i]].role == dsl::TensorRole::inout);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) add(function.results[i], call.outputs[i], true);
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (std::size_t j = i + 1; j < spans.size(); ++j) {
      const Span &a = spans[i], &b = spans[j];
      if ((a.written || b.written) && a.from < b.to && b.from < a.to)
        return core::Error{
            core::ErrorKind::shape,
            fmt::format("{} and {} overlap in memory: give {} memory of its own, or declare it `inout`",
                        a.name, b.name, b.written ? b.name : a.name)};
    }
  return {};
}

std::uint64_t bits_of(DType dtype, double value) {
  if (core::is_float(dtype)) return core::encode_float(dtype, value);
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  const std::int64_t integer = core::float_to_integer(core::compute_type(dtype), value);
  const std::uint64_t bits = static_cast<std::uint64_t>(core::wrap_integer(dtype, integer));
  const int width = 8 * core::size_bytes(dtype);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

double number_of(DType dtype, std::uint64_t bits) {
  if (core::is_float(dtype)) return core::decode_float(dtype, bits);
  if (dtype == DType::u64) return static_cast<double>(bits);
  return static_cast<double>(core::wrap_integer(dtype, static_cast<std::int64_t>(bits)));
}

core::Result<std::vector<std::uint64_t>> scalar_bits(const dsl::Function& function, const Call& call,
                                                     const std::vector<std::int64_t>& dims) {
  std::vector<std::uint64_t> bits;
  for (std::size_t i = 0; i < function.scalars.size(); ++i) {
    const dsl::Scalar& scalar = function.scalars[i];
    if (i < call.scalars.size() && call.scalars[i]) {
      const ScalarBits& given = *call.scalars[i];
      bits.push_back(given.dtype == scalar.dtype ? given.bits
                                                 : bits_of(scalar.dtype, number_of(given.dtype, given.bits)));
      continue;
    }
    if (!scalar.default_value)
      return core::Error{core::ErrorKind::usage,
                         fmt::format("the scalar {} of {} has no value: pass it, as with --set {}=1",
                                     scalar.name, function.name, scalar.name)};
    EINKERN_TRY(const double value, dsl::default_value(function, {static_cast<std::int32_t>(i)}, dims));
    bits.push_back(bits_of(scalar.dtype, value));
  }
  return bits;
}

}  // namespace einkern::engine
