// What the worker holds between requests: a device, a problem, loaded kernels, and the right results.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "autotune/messages.h"
#include "autotune/worker/guarded_tensor.h"
#include "autotune/worker/stopwatch.h"
#include "runtime/device.h"

namespace einkern::autotune::worker {

class Session {
 public:
  /// Errors become a Reply's failure; what a kernel does to this process is up to the kernel.
  Reply answer(const Request& request);

 private:
  Reply perform(const OpenDevice& request);
  Reply perform(const SetProblem& request);
  Reply perform(const Load& request);
  Reply perform(const UseFlush& request);
  Reply perform(const RunReference& request);
  Reply perform(const Check& request);
  Reply perform(const Time& request);

  core::Result<LoadedKernel> load(const Load& request);
  /// Poisons the outputs, runs the kernel, waits, and fetches every tensor.
  Reply run(const LoadedKernel& kernel);
  /// Judges what `run` fetched.
  Reply judge() const;
  const LoadedKernel* find(int kernel) const;

  // The device goes last.
  std::shared_ptr<runtime::Device> device_;
  runtime::Stream stream_;
  Problem problem_;
  std::vector<GuardedTensor> tensors_;        // by the problem's tensors
  std::vector<std::vector<char>> reference_;  // right elements by tensor; empty for inputs
  std::map<int, LoadedKernel> kernels_;
  std::unique_ptr<Stopwatch> stopwatch_;  // made with the problem, filled at the first timing
  const LoadedKernel* flush_ = nullptr;
  bool inputs_changed_ = false;  // by the last kernel: to be restored
};

}  // namespace einkern::autotune::worker
