// A call run through the face, as a user's program would run it, on any device.
#pragma once

#include <string>

#include "einkern/einkern.hpp"
#include "tests/support/call.h"

namespace einkern::testing {

/// How the arguments of a call lie in memory.
enum class Layout {
  dense,
  strided,    // every tensor is a slice of a larger one: rows with a gap, base off the 16-byte grid by one
              // element
  transposed  // dimensions in reverse order in memory
};

/// Runs calls on `device`; the tensors are laid out so.
RunCase on_device(const Device& device, Layout layout = Layout::dense);

/// The same with every kernel by one schedule, with one of its configurations.
RunCase on_schedule(const Device& device, const std::string& schedule, const std::string& configuration,
                    Layout layout = Layout::dense);

Tensor upload(const HostTensor& tensor, const Device& device, Layout layout = Layout::dense);
HostTensor download(const Tensor& tensor);

/// The GPU, if there is one that can compile.
std::optional<Device> gpu();

}  // namespace einkern::testing
