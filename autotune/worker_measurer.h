// Measuring in the worker: a child that a kernel may crash or hang, started anew when one does.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/measurer.h"
#include "autotune/messages.h"
#include "runtime/child_process.h"
#include "runtime/kernel_builder.h"

namespace einkern::autotune {

/// A kernel to be measured: its code, that may still be being compiled, and the model's guess at its time.
struct MeasuredKernel {
  std::shared_future<runtime::BuiltKernel> built;
  double estimate_seconds = 0;
};

struct WorkerSetting {
  std::string device;  // as OpenDevice takes it
  Problem problem;
  std::shared_ptr<const runtime::CompiledKernel> reference;
  std::shared_ptr<const runtime::CompiledKernel> checks;  // check_emission(); null: checked on the host
  std::shared_ptr<const runtime::CompiledKernel> flush;   // null: nothing runs before a timed launch
  double reference_seconds = 60;                          // the longest that the reference may take
  std::uint64_t seed = 0;                                 // of the order of rounds
  std::function<bool()> interrupted;                      // may be null; asked while waiting
};

class WorkerMeasurer final : public Measurer {
 public:
  /// Finds and starts the worker and runs the reference there. The error says what is missing, or what the
  /// reference did.
  static core::Result<std::unique_ptr<WorkerMeasurer>> start(WorkerSetting setting,
                                                             std::vector<MeasuredKernel> kernels);

  Admission admit(int candidate) override;
  std::vector<Timing> time(const std::vector<int>& candidates, int rounds) override;
  std::string confirm(int candidate) override;
  double elapsed() const override;

  int restarts() const { return restarts_; }

 private:
  WorkerMeasurer(WorkerSetting setting, std::vector<MeasuredKernel> kernels, std::string program);

  core::Result<void> start_worker();
  core::Result<void> ensure_worker();
  /// Sends and waits. A worker that dies, hangs or says that its device is broken is ended; the reply's
  /// failure tells which.
  Reply ask(const Request& request, double seconds);
  Reply wait_for_reply(double seconds);
  Reply lose_worker(std::string failure);
  /// Sees to it that the worker has the kernel. "" or why not.
  std::string load(int candidate);
  Reply check(int candidate, int runs);
  Timing time_alone(int candidate, int rounds);
  double patience(int candidate) const;

  WorkerSetting setting_;
  std::vector<MeasuredKernel> kernels_;
  std::vector<double> seen_seconds_;  // by candidate: of its check
  std::string program_;
  std::optional<runtime::ChildProcess> worker_;
  std::set<int> loaded_;         // in the running worker
  std::set<std::string> codes_;  // of admitted candidates
  double transfer_seconds_ = 0;  // allowed for moving and comparing the problem's tensors
  int restarts_ = 0;
  std::uint64_t timings_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace einkern::autotune
