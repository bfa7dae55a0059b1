// What the worker holds between requests: a device, a problem, loaded kernels, and the right results.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autotune/messages.h"
#include "autotune/worker/checked_tensor.h"
#include "autotune/worker/device_checks.h"
#include "autotune/worker/device_memory.h"
#include "autotune/worker/stopwatch.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

/// Gives the device of an OpenDevice request; `open_device` but in tests.
using DeviceOpener = std::function<core::Result<std::shared_ptr<runtime::Device>>(const std::string&)>;

class Session {
 public:
  explicit Session(DeviceOpener opener) : opener_(std::move(opener)) {}
  /// Errors become a Reply's failure; what a kernel does to this process is up to the kernel.
  Reply answer(const Request& request);

 private:
  Reply perform(const OpenDevice& request);
  Reply perform(const UseChecks& request);
  Reply perform(const SetProblem& request);
  Reply perform(const Load& request);
  Reply perform(const UseFlush& request);
  Reply perform(const RunReference& request);
  Reply perform(const Check& request);
  Reply perform(const Time& request);

  core::Result<LoadedKernel> load(const Load& request);
  /// Makes the list of points that a sampled reference computes, and its size a symbol of the problem.
  core::Result<void> make_sample();
  /// Poisons the outputs, runs the kernel and waits.
  Reply run(const LoadedKernel& kernel);
  /// Judges every tensor after `run`.
  struct Verdict {
    Reply reply;
    std::vector<std::uint64_t> fingerprints;  // by tensor
  };
  Verdict judge();
  const LoadedKernel* find(int kernel) const;

  DeviceOpener opener_;
  // The device goes last.
  std::shared_ptr<runtime::Device> device_;
  runtime::Stream stream_;
  std::unique_ptr<DeviceChecks> checks_;  // null: tensors are judged on the host
  Problem problem_;
  std::vector<std::unique_ptr<CheckedTensor>> tensors_;  // by the problem's tensors
  DeviceMemory sample_;                                  // of the points; none: the reference computes all
  bool reference_ready_ = false;
  std::map<int, LoadedKernel> kernels_;
  std::unique_ptr<Stopwatch> stopwatch_;  // made with the problem, filled at the first timing
  const LoadedKernel* flush_ = nullptr;
};

}  // namespace einkern::autotune::worker
