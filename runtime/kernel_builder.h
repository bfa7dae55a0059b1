// Compiled kernels by key: from this process, from the disk, or compiled, each at most once at a time.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/hash.h"
#include "core/result.h"
#include "runtime/cache_entry.h"
#include "runtime/kernel_cache.h"

namespace einkern::runtime {

using BuiltKernel = core::Result<std::shared_ptr<const CompiledKernel>>;
using CompileFunction = std::function<core::Result<CompiledKernel>()>;

/// Whether an error only says that a compilation was cancelled before it began.
bool was_cancelled(const core::Error& error);

/// Builds kernels on the caller's thread or on its own threads. Calls for one key share one compilation, no
/// lock is held while a compiler runs, and a failure is told to all who wait for it and then forgotten. A
/// process made by fork() builds with threads of its own.
class KernelBuilder {
 public:
  /// `cache` may be null. `threads` of its own are started when first needed.
  explicit KernelBuilder(KernelCache* cache,
                         int threads = static_cast<int>(std::thread::hardware_concurrency()));
  /// Waits for what is being compiled; what has not begun fails.
  ~KernelBuilder();
  KernelBuilder(const KernelBuilder&) = delete;
  KernelBuilder& operator=(const KernelBuilder&) = delete;

  /// Builds on this thread, unless another is at it already.
  BuiltKernel build(const core::Key& key, const CompileFunction& compile);
  /// Builds on a thread of the builder, in the order of the calls; here and now if the system gives no
  /// thread.
  std::shared_future<BuiltKernel> submit(const core::Key& key, CompileFunction compile);
  /// Forgets submitted work that has not begun: its futures give an error.
  void cancel_waiting();

 private:
  struct Job {
    std::string key;
    CompileFunction compile;
    std::promise<BuiltKernel> promise;
    std::shared_future<BuiltKernel> future;
  };
  /// The job for a key, and whether the caller is to run it.
  std::pair<std::shared_ptr<Job>, bool> join_or_begin(const core::Key& key);
  void run(const core::Key& key, Job& job, const CompileFunction& compile);
  BuiltKernel find_or_compile(const core::Key& key, const CompileFunction& compile);
  void finish(Job& job, BuiltKernel result);
  void work();
  /// Starts a thread if there is work for one more; false if there is none at all. Under the mutex.
  bool has_thread_for_waiting();
  /// In a process made by fork() the threads, and what they were at, exist in the parent alone: begins anew.
  /// Under the mutex.
  void leave_parent();

  KernelCache* cache_;
  std::size_t thread_limit_;
  std::mutex mutex_;
  std::unique_ptr<std::condition_variable> work_arrived_ = std::make_unique<std::condition_variable>();
  pid_t process_;                                                     // whose threads these are
  bool stopping_ = false;                                             // guarded by mutex_, as are all below
  std::map<std::string, std::shared_ptr<Job>> jobs_;                  // by key bytes, not yet finished
  std::map<std::string, std::weak_ptr<const CompiledKernel>> built_;  // as long as somebody holds them
  std::deque<std::pair<core::Key, std::shared_ptr<Job>>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_threads_ = 0;
};

}  // namespace einkern::runtime
