// Raw CUDA C++ compiled at run time: the native twin of PyCUDA's SourceModule.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "einkern/tensor.hpp"

namespace einkern {

namespace detail {
struct SourceModuleState;
}

/// Blocks of a grid, or threads of a block.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// A kernel argument: a tensor (its address), or a number or plain struct passed as exactly this C++ type.
class EINKERN_API KernelArgument {
 public:
  KernelArgument(const Tensor& tensor) : tensor_(tensor) {
    store(tensor.data());
  }  // NOLINT(google-explicit-constructor)
  template <typename Value>
    requires std::is_trivially_copyable_v<Value>
  KernelArgument(const Value& value) {
    store(value);
  }  // NOLINT(google-explicit-constructor)
  const std::vector<unsigned char>& bytes() const { return bytes_; }
  /// The tensor, or an empty one for a number.
  const Tensor& tensor() const { return tensor_; }

 private:
  template <typename Value>
  void store(const Value& value) {
    bytes_.resize(sizeof(Value));
    std::memcpy(bytes_.data(), &value, sizeof(Value));
  }
  Tensor tensor_;
  std::vector<unsigned char> bytes_;
};

/// A kernel of a SourceModule.
class EINKERN_API SourceFunction {
 public:
  /// Launches. Checked: the number of arguments and each one's size against the compiled kernel, the block
  /// against its limits, tensors against the module's device. Throws UsageError or DeviceError.
  template <typename... Arguments>
  void operator()(Dim3 grid, Dim3 block, const Arguments&... arguments) const {
    launch(grid, block, {KernelArgument(arguments)...});
  }
  void launch(Dim3 grid, Dim3 block, const std::vector<KernelArgument>& arguments,
              std::int64_t shared_bytes = 0, Stream stream = {}) const;
  int registers() const;

 private:
  friend class SourceModule;
  std::shared_ptr<detail::SourceModuleState> state_;
  std::string name_;
};

/// CUDA C++ source compiled by NVRTC for one GPU, cached on disk like every kernel. Throws CompileError with
/// the compiler's message, or DeviceError where there is no GPU.
class EINKERN_API SourceModule {
 public:
  /// `options` go to NVRTC, such as "--use_fast_math" or "-DTILE=16". Kernels must be `extern "C"
  /// __global__`, or are found by their plain name if the source has one kernel of it.
  explicit SourceModule(std::string_view source, std::vector<std::string> options = {},
                        Device device = Device::cuda());
  SourceFunction function(std::string_view name) const;
  std::vector<std::string> functions() const;

 private:
  std::shared_ptr<detail::SourceModuleState> state_;
};

}  // namespace einkern
