// The threads that kernels on the CPU share: persistent, at most as many as the device has, whoever calls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace einkern::runtime::cpu {

/// Runs parallel loops. The caller works on its own loop, so a loop always finishes: with one thread, with
/// every worker busy for other callers, and in a forked child, in which no worker exists.
class ThreadPool {
 public:
  /// Called for disjoint ranges that cover the loop. `scratch` is private to the thread and 64-byte aligned;
  /// what it holds is unspecified.
  using Body = void (*)(const void* context, std::int64_t begin, std::int64_t end, void* scratch) noexcept;

  /// `threads` counts the caller: `threads - 1` workers are started, or fewer if the system has no more.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Runs `body` over [0, tasks) in pieces of at least `grain` tasks; returns false, having run nothing, if
  /// there is no memory for the scratch. Safe from many threads at once, and from within a body.
  bool run(Body body, const void* context, std::int64_t tasks, std::int64_t grain,
           std::int64_t scratch_bytes);

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

 private:
  struct Loop;
  void work();
  /// Runs pieces of the loop until none is left.
  static void take_pieces(Loop& loop, void* scratch);
  Loop* waiting_loop();

  std::mutex mutex_;
  struct Conditions {
    std::condition_variable work_arrived, helper_left;
  };
  std::unique_ptr<Conditions> conditions_ = std::make_unique<Conditions>();
  std::vector<Loop*> loops_;  // that still have pieces; guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
  std::atomic<std::uint32_t> arrivals_{0};
  int process_;
  std::vector<std::thread> workers_;
};

}  // namespace einkern::runtime::cpu
