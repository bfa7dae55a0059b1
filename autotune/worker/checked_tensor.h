// Device memory of one tensor between two guard zones, and the right results in it. Where a tensor is judged,
// on the device or on the host, is up to the class behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "autotune/messages.h"
#include "autotune/worker/device_memory.h"
#include "autotune/worker/elements.h"
#include "core/result.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

class DeviceChecks;

/// What a kernel has done to one tensor.
struct TensorFindings {
  bool changed = false;                          // an input's elements or surroundings
  bool written_beside = false;                   // an output's guard zones, or the gaps between its elements
  ElementFindings elements = no_findings();      // of an output, beside the reference
  std::uint64_t right_bits = 0, found_bits = 0;  // of the worst element
  double largest_magnitude = 0;                  // of the reference
  std::uint64_t fingerprint = 0;                 // of an output's bits: equal for equal bits
};

class CheckedTensor {
 public:
  virtual ~CheckedTensor() = default;
  CheckedTensor(const CheckedTensor&) = delete;
  CheckedTensor& operator=(const CheckedTensor&) = delete;

  const ProblemTensor& tensor() const { return tensor_; }
  bool is_input() const { return tensor_.kind == core::BufferKind::input; }
  /// Address of element 0.
  runtime::Address address() const { return at(first_byte()); }

  /// Makes the memory as it was at first: small integers in inputs, poison in outputs and all around. Memory
  /// that is known to be so is left alone.
  core::Result<void> prepare();
  /// Keeps an output's elements as the right ones. `sampled`: the reference computes some of them only, and
  /// leaves the others poison.
  virtual core::Result<void> keep_as_reference(bool sampled) = 0;
  /// Judges what is there, which may destroy an output. What is no longer as at first is restored by the next
  /// `prepare`.
  virtual core::Result<TensorFindings> judge() = 0;

 protected:
  CheckedTensor(const ProblemTensor& tensor, runtime::Device& device, runtime::Stream stream)
      : tensor_(tensor), device_(device), stream_(stream) {}
  core::Result<void> allocate();
  virtual core::Result<void> reset() = 0;

  /// A multiple of every alignment, and wider than a tile's overrun.
  static constexpr std::int64_t guard_bytes = 64 << 10;
  /// Where element 0 and the lowest element begin, from the memory's begin.
  std::int64_t first_byte() const;
  std::int64_t lowest_byte() const;
  /// Of the whole, a multiple of 16.
  std::int64_t memory_bytes() const;

  const ProblemTensor tensor_;
  runtime::Device& device_;
  const runtime::Stream stream_;
  /// Address of a byte of the memory.
  runtime::Address at(std::int64_t byte) const {
    return memory_.address() + static_cast<runtime::Address>(byte);
  }
  bool clean_ = false;  // as `reset` leaves it

 private:
  DeviceMemory memory_;
};

/// `checks`: the kernels that judge on the device; null: elements are fetched and judged on the host.
core::Result<std::unique_ptr<CheckedTensor>> make_checked_tensor(const ProblemTensor& tensor,
                                                                 runtime::Device& device,
                                                                 runtime::Stream stream,
                                                                 const DeviceChecks* checks);

/// What is wrong with an output, the worst element with its place and both values; "" if nothing is.
std::string difference(const ProblemTensor& tensor, const TensorFindings& findings);

}  // namespace einkern::autotune::worker
