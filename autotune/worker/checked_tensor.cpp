#include "autotune/worker/checked_tensor.h"

#include <fmt/format.h>

#include <cmath>

#include "autotune/worker/device_tensor.h"
#include "autotune/worker/host_tensor.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {
namespace {

constexpr std::int64_t alignment = 256;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t step) { return (bytes + step - 1) / step * step; }

double value_of(DType dtype, std::uint64_t bits) {
  if (core::is_float(dtype)) return core::decode_float(dtype, bits);
  if (dtype == DType::u64) return static_cast<double>(bits);
  return static_cast<double>(core::wrap_integer(dtype, static_cast<std::int64_t>(bits)));
}

/// "y[3, 17]" of the element with that row-major number.
std::string place(const ProblemTensor& tensor, std::int64_t number) {
  std::string text;
  for (std::size_t i = tensor.shape.size(); i-- > 0; number /= tensor.shape[i])
    text = fmt::format("{}{}{}", number % tensor.shape[i], text.empty() ? "" : ", ", text);
  return tensor.shape.empty() ? tensor.name : fmt::format("{}[{}]", tensor.name, text);
}

}  // namespace

std::int64_t CheckedTensor::first_byte() const {
  const std::int64_t below = -reach_of(tensor_).lowest * core::size_bytes(tensor_.dtype);
  return guard_bytes + rounded_up(below, alignment) + tensor_.first_byte;
}

std::int64_t CheckedTensor::lowest_byte() const {
  return first_byte() + reach_of(tensor_).lowest * core::size_bytes(tensor_.dtype);
}

std::int64_t CheckedTensor::memory_bytes() const {
  return rounded_up(lowest_byte() + span_bytes(tensor_), 16) + guard_bytes;
}

core::Result<void> CheckedTensor::allocate() {
  EINKERN_TRY(memory_, DeviceMemory::allocate(device_, memory_bytes()));
  return {};
}

core::Result<void> CheckedTensor::prepare() {
  if (!clean_) EINKERN_CHECK_OK(reset());
  clean_ = false;  // a kernel is about to run
  return {};
}

core::Result<std::unique_ptr<CheckedTensor>> make_checked_tensor(const ProblemTensor& tensor,
                                                                 runtime::Device& device,
                                                                 runtime::Stream stream,
                                                                 const DeviceChecks* checks) {
  if (checks != nullptr) return DeviceTensor::make(tensor, device, stream, *checks);
  return HostTensor::make(tensor, device, stream);
}

std::string difference(const ProblemTensor& tensor, const TensorFindings& findings) {
  const ElementFindings& seen = findings.elements;
  if (seen.wrong == 0) return "";
  const std::int64_t count = element_count(tensor);
  if (seen.untouched == static_cast<std::uint64_t>(count))
    return fmt::format("the kernel writes nothing to {}", tensor.name);
  std::string text = fmt::format("{} is {}, the reference {} ({} of {} elements are wrong",
                                 place(tensor, seen.worst), value_of(tensor.dtype, findings.found_bits),
                                 value_of(tensor.dtype, findings.right_bits), seen.wrong, count);
  if (std::isfinite(seen.worst_ratio)) text += fmt::format(", by up to {:.3g} bounds", seen.worst_ratio);
  if (seen.nans > 0) text += fmt::format(", {} by a NaN", seen.nans);
  if (seen.untouched > 0 && core::is_float(tensor.dtype))
    text += fmt::format(", {} not written", seen.untouched);
  return text + ")";
}

}  // namespace einkern::autotune::worker
