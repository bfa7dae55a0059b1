// Devices and tensors: memory that einkern owns, and views of somebody else's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "einkern/dtype.h"
#include "einkern/error.hpp"

namespace einkern {

namespace detail {
struct DeviceHandle;
struct Access;
struct Storage;
}  // namespace detail

/// A queue of work on a GPU: a CUstream (cudaStream_t), null for the default stream. On the CPU it is not
/// looked at.
struct Stream {
  void* handle = nullptr;
};

/// A GPU or this CPU. Copies are cheap and share.
class EINKERN_API Device {
 public:
  /// A GPU if there is one (and NVRTC to compile for it), else this CPU.
  static Device best();
  static Device cpu();
  static Device cuda(int ordinal = 0);
  /// "cpu", "cuda" or "cuda:1". Throws DeviceError that says what is missing.
  static Device named(std::string_view name);

  /// "NVIDIA H200", or the CPU's name.
  std::string name() const;
  /// "sm_90a", or LLVM's name of the CPU.
  std::string architecture() const;
  bool is_gpu() const;
  /// Waits for all work queued on the stream.
  void synchronize(Stream stream = {}) const;
  friend bool operator==(const Device&, const Device&) = default;

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::DeviceHandle> handle_;
};

using Shape = std::vector<std::int64_t>;

/// Elements of one type on one device. Copies share memory. Views have strides in elements; 0 broadcasts.
class EINKERN_API Tensor {
 public:
  /// No tensor: shape() is empty and data() null.
  Tensor() = default;

  /// Memory with any content; zeros; floats uniform in [-1, 1) or integers in [-3, 3] (unsigned: [0, 3]), by
  /// seed.
  static Tensor empty(Shape shape, DType dtype, Device device = Device::best());
  static Tensor zeros(Shape shape, DType dtype, Device device = Device::best());
  static Tensor random(Shape shape, DType dtype, Device device = Device::best(), std::uint64_t seed = 0);
  /// Copies numbers in row-major order, rounded to `dtype` as a store rounds.
  static Tensor from(std::span<const float> values, Shape shape, DType dtype = f32,
                     Device device = Device::best());
  static Tensor from(std::span<const double> values, Shape shape, DType dtype = f64,
                     Device device = Device::best());
  static Tensor from(std::span<const std::int64_t> values, Shape shape, DType dtype = i64,
                     Device device = Device::best());
  /// Somebody else's memory, on that device; it must outlive the tensor. Strides in elements; empty: dense
  /// row-major.
  static Tensor view(void* pointer, DType dtype, Shape shape, std::vector<std::int64_t> strides = {},
                     Device device = Device::best());
  /// Reads a .npy file (any byte order, Fortran order too).
  static Tensor load(const std::string& path, Device device = Device::best());
  /// Writes a .npy file; f16 stays, bf16 and f8 become f32, which .npy knows.
  void save(const std::string& path) const;

  const Shape& shape() const { return shape_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  DType dtype() const { return dtype_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  /// Number of elements.
  std::int64_t size() const;
  /// Address of the first element, on the tensor's device.
  void* data() const;
  Device device() const;
  explicit operator bool() const { return storage_ != nullptr; }

  /// Indices from..to of one dimension (half open; negative count from the end), every `step`-th.
  Tensor slice(int dimension, std::int64_t from, std::int64_t to, std::int64_t step = 1) const;
  /// One index of a dimension, which goes away.
  Tensor select(int dimension, std::int64_t index) const;
  /// The dimensions in another order.
  Tensor permute(const std::vector<int>& order) const;
  /// The same elements in another shape; the tensor must be dense. One extent may be -1: what is left.
  Tensor reshape(Shape shape) const;
  /// A dimension of extent 1 repeated (stride 0).
  Tensor broadcast(int dimension, std::int64_t extent) const;

  /// All elements as numbers in row-major order, copied to the host.
  std::vector<float> to_floats() const;
  std::vector<double> to_doubles() const;
  std::vector<std::int64_t> to_integers() const;
  /// A dense copy on another device (or the same).
  Tensor to(Device device) const;
  /// The only element of a tensor of size 1.
  double item() const;

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::Storage> storage_;
  std::int64_t offset_ = 0;  // elements
  Shape shape_;
  std::vector<std::int64_t> strides_;
  DType dtype_ = DType::f32;
};

}  // namespace einkern
