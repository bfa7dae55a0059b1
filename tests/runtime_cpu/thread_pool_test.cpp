#include "runtime/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace einkern::runtime::cpu {
namespace {

/// Counts how often each task ran.
struct Counts {
  explicit Counts(std::int64_t count) : tasks(static_cast<std::size_t>(count)) {}
  std::vector<std::atomic<int>> tasks;
  std::atomic<std::int64_t> smallest_piece{INT64_MAX};
  std::atomic<bool> aligned{true};
  std::atomic<int> pieces{0};
};

void count(const void* context, std::int64_t begin, std::int64_t end, void* scratch) noexcept {
  auto& counts = *const_cast<Counts*>(static_cast<const Counts*>(context));
  for (std::int64_t i = begin; i < end; ++i) ++counts.tasks[static_cast<std::size_t>(i)];
  ++counts.pieces;
  std::int64_t smallest = counts.smallest_piece;
  while (end - begin < smallest && !counts.smallest_piece.compare_exchange_weak(smallest, end - begin)) {
  }
  if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) counts.aligned = false;
}

bool each_once(const Counts& counts) {
  for (const std::atomic<int>& ran : counts.tasks)
    if (ran != 1) return false;
  return true;
}

TEST(ThreadPool, RunsEveryTaskOnceWhateverTheSizeAndGrain) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::int64_t tasks : {0, 1, 2, 7, 64, 1001}) {
      for (std::int64_t grain : {1, 3, 64, 5000}) {
        Counts counts(tasks);
        ASSERT_TRUE(pool.run(count, &counts, tasks, grain, 256));
        EXPECT_TRUE(each_once(counts)) << threads << " threads, " << tasks << " tasks, grain " << grain;
        EXPECT_TRUE(counts.aligned);
        if (tasks > 0) {
          EXPECT_GE(counts.smallest_piece, std::min(tasks, grain));
        }
      }
    }
  }
}

TEST(ThreadPool, SmallLoopsStayOnTheCaller) {
  ThreadPool pool(4);
  Counts counts(10);
  ASSERT_TRUE(pool.run(count, &counts, 10, 8, 0));
  EXPECT_EQ(counts.pieces, 1);
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        Counts counts(37);
        if (!pool.run(count, &counts, 37, 1, 128) || !each_once(counts)) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

struct Nested {
  ThreadPool* pool;
  std::atomic<int>* wrong;
};

void run_inner_loop(const void* context, std::int64_t, std::int64_t, void* scratch) noexcept {
  const auto& nested = *static_cast<const Nested*>(context);
  auto* mine = static_cast<unsigned char*>(scratch);
  mine[0] = 1;
  auto write_scratch = [](const void*, std::int64_t, std::int64_t, void* inner) noexcept {
    *static_cast<unsigned char*>(inner) = 2;
  };
  if (!nested.pool->run(write_scratch, nullptr, 8, 1, 64)) ++*nested.wrong;
  if (mine[0] != 1) ++*nested.wrong;
}

TEST(ThreadPool, ALoopInsideALoopHasItsOwnScratch) {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  Nested nested{&pool, &wrong};
  ASSERT_TRUE(pool.run(run_inner_loop, &nested, 16, 1, 64));
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, SaysWhenThereIsNoMemoryForScratch) {
  ThreadPool pool(2);
  Counts counts(4);
  EXPECT_FALSE(pool.run(count, &counts, 4, 1, INT64_C(1) << 60));
  EXPECT_EQ(counts.pieces, 0);
}

TEST(ThreadPool, AForkedChildComputesAlone) {
  auto pool = std::make_unique<ThreadPool>(3);
  Counts counts(50);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends it if it hangs
    const bool right = pool->run(count, &counts, 50, 1, 64) && each_once(counts);
    pool.reset();  // as exit() does
    _exit(right ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace einkern::runtime::cpu
