#include "runtime/cpu/thread_pool.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace einkern::runtime::cpu {
namespace {

// Pieces a thread: more than one, so that a thread which the system holds up does not hold up the loop.
constexpr std::int64_t pieces_per_thread = 4;
// A worker looks for new loops this often before it sleeps: kernels come in sequences, and waking costs 5-50
// µs.
constexpr int polls_before_sleep = 2000;

/// Memory of one thread, kept between loops.
class Scratch {
 public:
  /// Null if there is no memory.
  void* at_least(std::int64_t bytes) {
    if (bytes > bytes_) {
      std::int64_t rounded = (bytes + 4095) / 4096 * 4096;
      memory_.reset(std::aligned_alloc(4096, static_cast<std::size_t>(rounded)));
      bytes_ = memory_ ? rounded : 0;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::int64_t bytes_ = 0;
};

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

/// One call of run(). It lives on the caller's stack, who leaves only when `helpers` is 0 and the loop is off
/// the list.
struct ThreadPool::Loop {
  Body body;
  const void* context;
  std::int64_t tasks, pieces, scratch_bytes;
  std::atomic<std::int64_t> next_piece{0};
  int helpers = 0;  // guarded by the pool's mutex
};

ThreadPool::ThreadPool(int threads) : process_(getpid()) {
  workers_.reserve(static_cast<std::size_t>(std::max(0, threads - 1)));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system gives no more threads; the callers and the workers there are do the work.
  }
}

ThreadPool::~ThreadPool() {
  if (getpid() != process_) {  // a forked child: the workers exist in the parent only
    for (std::thread& worker : workers_) worker.detach();
    static_cast<void>(conditions_.release());  // their destructors would wait for the parent's threads
    return;
  }
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    arrivals_.fetch_add(1, std::memory_order_release);
  }
  conditions_->work_arrived.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_pieces(Loop& loop, void* scratch) {
  for (;;) {
    std::int64_t piece = loop.next_piece.fetch_add(1, std::memory_order_relaxed);
    if (piece >= loop.pieces) return;
    std::int64_t size = loop.tasks / loop.pieces, larger = loop.tasks % loop.pieces;
    std::int64_t begin = piece * size + std::min(piece, larger);
    loop.body(loop.context, begin, begin + size + (piece < larger ? 1 : 0), scratch);
  }
}

bool ThreadPool::run(Body body, const void* context, std::int64_t tasks, std::int64_t grain,
                     std::int64_t scratch_bytes) {
  if (tasks <= 0) return true;
  // A body may itself run a loop, which must not touch the scratch that the outer one is using.
  thread_local Scratch scratches[2];
  thread_local int depth = 0;
  Scratch fresh;
  Scratch& own = depth < 2 ? scratches[depth] : fresh;
  void* scratch = own.at_least(scratch_bytes);
  if (scratch_bytes > 0 && scratch == nullptr) return false;

  std::int64_t pieces = std::clamp<std::int64_t>(tasks / std::max<std::int64_t>(1, grain), 1,
                                                 std::min(tasks, threads() * pieces_per_thread));
  ++depth;
  if (pieces == 1 || workers_.empty() || getpid() != process_) {
    body(context, 0, tasks, scratch);
    --depth;
    return true;
  }
  Loop loop{body, context, tasks, pieces, scratch_bytes};
  {
    std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
    arrivals_.fetch_add(1, std::memory_order_release);
  }
  conditions_->work_arrived.notify_all();
  take_pieces(loop, scratch);
  std::unique_lock lock(mutex_);
  std::erase(loops_, &loop);
  conditions_->helper_left.wait(lock, [&] { return loop.helpers == 0; });
  --depth;
  return true;
}

ThreadPool::Loop* ThreadPool::waiting_loop() {
  for (Loop* loop : loops_)
    if (loop->next_piece.load(std::memory_order_relaxed) < loop->pieces) return loop;
  return nullptr;
}

void ThreadPool::work() {
  Scratch scratch;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (Loop* loop = waiting_loop()) {
      ++loop->helpers;
      lock.unlock();
      void* memory = scratch.at_least(loop->scratch_bytes);
      if (memory != nullptr || loop->scratch_bytes == 0) take_pieces(*loop, memory);
      lock.lock();
      if (--loop->helpers == 0) conditions_->helper_left.notify_all();
      if (memory == nullptr && loop->scratch_bytes > 0)
        conditions_->work_arrived.wait(lock);  // leaves this loop to others
      continue;
    }
    std::uint32_t seen = arrivals_.load(std::memory_order_acquire);
    lock.unlock();
    for (int poll = 0; poll < polls_before_sleep && arrivals_.load(std::memory_order_acquire) == seen; ++poll)
      pause_briefly();
    lock.lock();
    conditions_->work_arrived.wait(lock, [&] { return stopping_ || waiting_loop() != nullptr; });
  }
}

}  // namespace einkern::runtime::cpu
