// Device memory of one tensor between two guard zones, with the image of what it must hold.
#pragma once

#include <string>
#include <vector>

#include "autotune/messages.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

class GuardedTensor {
 public:
  /// Allocates and fills: inputs with small integers, outputs and all room between and around elements with
  /// poison.
  static core::Result<GuardedTensor> make(const ProblemTensor& tensor, runtime::Device& device,
                                          runtime::Stream stream);
  GuardedTensor(GuardedTensor&& other) noexcept;
  GuardedTensor& operator=(GuardedTensor&&) = delete;
  ~GuardedTensor();

  const ProblemTensor& tensor() const { return tensor_; }
  bool is_input() const { return tensor_.kind == core::BufferKind::input; }
  /// Address of element 0.
  runtime::Address address() const;

  /// Makes the memory as it was at first.
  core::Result<void> reset(runtime::Stream stream);
  /// Fetches the memory to the host: see `elements` and `trespass`.
  core::Result<void> fetch(runtime::Stream stream);
  /// Element 0 of what was fetched; `span_bytes` from there are the tensor.
  const char* elements() const;
  /// What a kernel did that it must not, judged by what was fetched: changed an input, or wrote beside the
  /// elements. "" if nothing.
  std::string trespass() const;
  /// Whether what was fetched is what was there at first.
  bool untouched() const { return fetched_ == initial_; }

 private:
  GuardedTensor(const ProblemTensor& tensor, runtime::Device& device);
  ProblemTensor tensor_;
  runtime::Device* device_;
  runtime::Address memory_ = 0;
  std::vector<char> initial_, fetched_;
};

}  // namespace einkern::autotune::worker
