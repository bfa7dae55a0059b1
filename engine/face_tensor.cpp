// Tensor: memory, views and copies.
#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/face_access.h"
#include "engine/npy.h"

namespace einkern {

using detail::Access;
using detail::unwrap;

namespace {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) throw ShapeError(fmt::format("a dimension of [{}] is negative", fmt::join(shape, ", ")));
    if (__builtin_mul_overflow(count, extent, &count) || count > (std::int64_t{1} << 46))
      throw ShapeError(fmt::format("a tensor of [{}] elements is too large", fmt::join(shape, ", ")));
  }
  return count;
}

void check_values(std::size_t values, const Shape& shape) {
  if (static_cast<std::int64_t>(values) != element_count(shape))
    throw ShapeError(fmt::format("{} values do not fill a tensor of [{}]", values, fmt::join(shape, ", ")));
}

Tensor upload(const std::string& bytes, const Shape& shape, DType dtype, const Device& device) {
  Tensor tensor = Tensor::empty(shape, dtype, device);
  unwrap(Access::runtime(device)->copy_to_device(reinterpret_cast<runtime::Address>(tensor.data()),
                                                 bytes.data(), static_cast<std::int64_t>(bytes.size()), {}));
  return tensor;
}

template <typename Value>
Tensor upload_numbers(std::span<const Value> values, const Shape& shape, DType dtype, const Device& device) {
  check_values(values.size(), shape);
  const auto size = static_cast<std::size_t>(core::size_bytes(dtype));
  std::string bytes(values.size() * size, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits;
    if constexpr (std::is_integral_v<Value>)
      bits = core::is_float(dtype)     ? engine::bits_of(dtype, static_cast<double>(values[i]))
             : dtype == DType::boolean ? std::uint64_t{values[i] != 0}
                                       : static_cast<std::uint64_t>(core::wrap_integer(dtype, values[i]));
    else
      bits = engine::bits_of(dtype, static_cast<double>(values[i]));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return upload(bytes, shape, dtype, device);
}

/// A counter-based generator (the finaliser of MurmurHash3), so that element i depends on seed and i alone.
std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

/// Memory of this machine for that many bytes of a copy.
std::string host_bytes(std::int64_t count) {
  try {
    return std::string(static_cast<std::size_t>(count), '\0');
  } catch (const std::bad_alloc&) {
    throw DeviceError(fmt::format(
        "This machine has no {} bytes of memory left for a copy. Use smaller tensors, or free some.", count));
  }
}

/// Bytes of all elements in row-major order, whatever the strides.
std::string gather_bytes(const Tensor& tensor) {
  const std::int64_t size = core::size_bytes(tensor.dtype());
  std::string bytes = host_bytes(tensor.size() * size);
  if (bytes.empty()) return bytes;
  const auto device = Access::runtime(tensor.device());
  const auto place = Access::place(tensor);
  if (place.strides == engine::dense_strides(place.shape)) {
    unwrap(device->copy_to_host(bytes.data(), place.address, static_cast<std::int64_t>(bytes.size()), {}));
    return bytes;
  }
  const auto [low, high] = engine::byte_range(tensor.dtype(), place);
  std::string span = host_bytes(high - low);
  unwrap(device->copy_to_host(span.data(), place.address + static_cast<std::uint64_t>(low), high - low, {}));
  std::vector<std::int64_t> index(place.shape.size(), 0);
  for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(size)) {
    std::int64_t from = -low;
    for (std::size_t i = 0; i < index.size(); ++i) from += index[i] * place.strides[i] * size;
    std::memcpy(bytes.data() + at, span.data() + from, static_cast<std::size_t>(size));
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < place.shape[i]) break;
      index[i] = 0;
    }
  }
  return bytes;
}

template <typename Value>
std::vector<Value> download_numbers(const Tensor& tensor) {
  const std::string bytes = gather_bytes(tensor);
  const auto size = static_cast<std::size_t>(core::size_bytes(tensor.dtype()));
  std::vector<Value> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    if constexpr (std::is_integral_v<Value>)
      values[i] = core::is_float(tensor.dtype())
                      ? core::float_to_integer(DType::i64, engine::number_of(tensor.dtype(), bits))
                      : core::wrap_integer(tensor.dtype(), static_cast<std::int64_t>(bits));
    else
      values[i] = static_cast<Value>(engine::number_of(tensor.dtype(), bits));
  }
  return values;
}

int checked_dimension(const Tensor& tensor, int dimension) {
  const int rank = static_cast<int>(tensor.rank());
  if (dimension < -rank || dimension >= rank)
    throw ShapeError(fmt::format("dimension {} of a tensor of {} dimensions", dimension, rank));
  return dimension < 0 ? dimension + rank : dimension;
}

}  // namespace

namespace detail {

engine::TensorPlace Access::place(const Tensor& tensor) {
  const auto offset = static_cast<std::uint64_t>(tensor.offset_ * core::size_bytes(tensor.dtype_));
  return {tensor.storage_ ? tensor.storage_->address + offset : 0, tensor.shape_, tensor.strides_};
}

Tensor Access::allocate(const Shape& shape, DType dtype, const Device& device) {
  const std::int64_t bytes = element_count(shape) * core::size_bytes(dtype);
  auto storage = std::make_shared<Storage>();
  storage->device = device;
  storage->runtime = runtime(device);
  storage->owned = false;  // until there is something to free
  storage->address = unwrap(storage->runtime->allocate(bytes));
  storage->owned = true;
  Tensor tensor;
  tensor.storage_ = std::move(storage);
  tensor.shape_ = shape;
  tensor.strides_ = engine::dense_strides(shape);
  tensor.dtype_ = dtype;
  return tensor;
}

}  // namespace detail

Tensor Tensor::empty(Shape shape, DType dtype, Device device) {
  return Access::allocate(shape, dtype, device);
}

Tensor Tensor::zeros(Shape shape, DType dtype, Device device) {
  Tensor tensor = empty(std::move(shape), dtype, device);
  unwrap(Access::runtime(device)->fill(Access::place(tensor).address, 0,
                                       tensor.size() * core::size_bytes(dtype), {}));
  return tensor;
}

Tensor Tensor::random(Shape shape, DType dtype, Device device, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  const auto size = static_cast<std::size_t>(core::size_bytes(dtype));
  const Tensor tensor =
      empty(std::move(shape), dtype, device);  // first: where there is no room for it, nothing is made
  const auto runtime = Access::runtime(device);
  const std::size_t block =
      std::min<std::size_t>(count, 1 << 20);  // elements in this machine's memory at once
  std::string bytes(block * size, '\0');
  const std::uint64_t stream = mix(seed + 0x9e3779b97f4a7c15ULL);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t draw = mix(stream + i);
    double value = static_cast<double>(draw >> 40) * 0x1p-23 - 1;
    if (!core::is_float(dtype))
      value = core::is_signed(dtype) ? static_cast<double>(draw % 7) - 3
                                     : static_cast<double>(draw % (dtype == DType::boolean ? 2 : 4));
    const std::uint64_t bits = engine::bits_of(dtype, value);
    std::memcpy(bytes.data() + i % block * size, &bits, size);
    if ((i + 1) % block != 0 && i + 1 != count) continue;
    const std::size_t first = i / block * block;
    unwrap(runtime->copy_to_device(Access::place(tensor).address + first * size, bytes.data(),
                                   static_cast<std::int64_t>((i + 1 - first) * size), {}));
  }
  return tensor;
}

Tensor Tensor::from(std::span<const float> values, Shape shape, DType dtype, Device device) {
  return upload_numbers(values, shape, dtype, device);
}
Tensor Tensor::from(std::span<const double> values, Shape shape, DType dtype, Device device) {
  return upload_numbers(values, shape, dtype, device);
}
Tensor Tensor::from(std::span<const std::int64_t> values, Shape shape, DType dtype, Device device) {
  return upload_numbers(values, shape, dtype, device);
}

Tensor Tensor::view(void* pointer, DType dtype, Shape shape, std::vector<std::int64_t> strides,
                    Device device) {
  if (!strides.empty() && strides.size() != shape.size())
    throw ShapeError(fmt::format("{} strides for {} dimensions", strides.size(), shape.size()));
  element_count(shape);
  const auto storage = std::make_shared<detail::Storage>();
  storage->device = device;
  storage->runtime = Access::runtime(device);
  storage->address = reinterpret_cast<runtime::Address>(pointer);
  storage->owned = false;
  Tensor tensor;
  tensor.storage_ = storage;
  tensor.strides_ = strides.empty() ? engine::dense_strides(shape) : std::move(strides);
  tensor.shape_ = std::move(shape);
  tensor.dtype_ = dtype;
  return tensor;
}

Tensor Tensor::load(const std::string& path, Device device) {
  const engine::NpyArray array = unwrap(engine::read_npy(path));
  return upload(array.bytes, array.shape, array.dtype, device);
}

void Tensor::save(const std::string& path) const {
  unwrap(engine::write_npy(path, {dtype_, shape_, gather_bytes(*this)}));
}

std::int64_t Tensor::size() const { return storage_ ? element_count(shape_) : 0; }
void* Tensor::data() const { return reinterpret_cast<void*>(Access::place(*this).address); }
Device Tensor::device() const {
  if (!storage_) throw UsageError("an empty Tensor lies on no device");
  return storage_->device;
}

Tensor Tensor::slice(int dimension, std::int64_t from, std::int64_t to, std::int64_t step) const {
  const auto d = static_cast<std::size_t>(checked_dimension(*this, dimension));
  const std::int64_t extent = shape_[d];
  const std::int64_t first = from < 0 ? from + extent : from, last = to < 0 ? to + extent : to;
  if (step < 1 || first < 0 || last > extent || first > last)
    throw ShapeError(fmt::format("the slice {}..{} by {} leaves dimension {} of extent {}", from, to, step,
                                 dimension, extent));
  Tensor result = *this;
  result.offset_ += first * strides_[d];
  result.shape_[d] = (last - first + step - 1) / step;
  result.strides_[d] *= step;
  return result;
}

Tensor Tensor::select(int dimension, std::int64_t index) const {
  const auto d = checked_dimension(*this, dimension);
  const std::int64_t at = index < 0 ? index + shape_[static_cast<std::size_t>(d)] : index;
  Tensor result = slice(d, at, at + 1);
  result.shape_.erase(result.shape_.begin() + d);
  result.strides_.erase(result.strides_.begin() + d);
  return result;
}

Tensor Tensor::permute(const std::vector<int>& order) const {
  std::vector<bool> seen(shape_.size());
  if (order.size() != shape_.size())
    throw ShapeError(fmt::format("permute names {} of {} dimensions", order.size(), rank()));
  Tensor result = *this;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(checked_dimension(*this, order[i]));
    if (seen[from]) throw ShapeError(fmt::format("permute names dimension {} twice", order[i]));
    seen[from] = true;
    result.shape_[i] = shape_[from];
    result.strides_[i] = strides_[from];
  }
  return result;
}

Tensor Tensor::reshape(Shape shape) const {
  if (strides_ != engine::dense_strides(shape_))
    throw ShapeError("only a dense tensor can be reshaped: copy it with .to(device)");
  std::int64_t known = 1;
  auto open = shape.end();
  for (auto it = shape.begin(); it != shape.end(); ++it)
    if (*it == -1 && open == shape.end())
      open = it;
    else
      known *= *it;
  if (open != shape.end() && known > 0) *open = size() / known;
  if (element_count(shape) != size())
    throw ShapeError(
        fmt::format("[{}] does not reshape to [{}]", fmt::join(shape_, ", "), fmt::join(shape, ", ")));
  Tensor result = *this;
  result.strides_ = engine::dense_strides(shape);
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::broadcast(int dimension, std::int64_t extent) const {
  const auto d = static_cast<std::size_t>(checked_dimension(*this, dimension));
  if (shape_[d] != 1 || extent < 0)
    throw ShapeError(
        fmt::format("only a dimension of extent 1 broadcasts: dimension {} has {}", dimension, shape_[d]));
  Tensor result = *this;
  result.shape_[d] = extent;
  result.strides_[d] = 0;
  return result;
}

std::vector<float> Tensor::to_floats() const { return download_numbers<float>(*this); }
std::vector<double> Tensor::to_doubles() const { return download_numbers<double>(*this); }
std::vector<std::int64_t> Tensor::to_integers() const { return download_numbers<std::int64_t>(*this); }

Tensor Tensor::to(Device device) const { return upload(gather_bytes(*this), shape_, dtype_, device); }

double Tensor::item() const {
  if (size() != 1) throw ShapeError(fmt::format("item() of a tensor of {} elements", size()));
  return to_doubles().front();
}

}  // namespace einkern
