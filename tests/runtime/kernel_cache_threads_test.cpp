// One cache used by many threads at once, as the threads of a builder use it: what is found is whole, and
// belongs to its key, whatever is written, removed and pruned meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/kernel_cache.h"
#include "tests/runtime/temporary_folder.h"

namespace einkern::runtime {
namespace {

constexpr int keys = 6, rounds = 60;

core::Key key_of(int which) { return core::Key().add("source", std::to_string(which)); }

/// Of a length of its own, so that a part of one is never another.
CompiledKernel kernel_of(int which) {
  CompiledKernel kernel;
  kernel.artifact.code =
      std::string(static_cast<std::size_t>(1000 + 777 * which), static_cast<char>('a' + which));
  return kernel;
}

class CacheThreads : public ::testing::Test {
 protected:
  /// Looks for every key, over and over, and stores those that are missing.
  void use(KernelCache& cache) {
    for (int round = 0; round < rounds; ++round)
      for (int which = 0; which < keys; ++which) {
        const auto found = cache.find(key_of(which));
        if (!found)
          cache.store(key_of(which), kernel_of(which));
        else if (found->artifact.code != kernel_of(which).artifact.code)
          ++wrong_;
      }
  }
  /// What `einkern cache` does beside it.
  void tend(KernelCache& cache) {
    for (int round = 0; round < rounds; ++round) {
      for (const CacheEntry& entry : cache.list())
        if (entry.fingerprint != entry.key.fingerprint()) ++wrong_;
      wrong_ += cache.verify().removed;
      if (cache.nearest(key_of(0), 2).size() > 2) ++wrong_;
      if (round % 8 == 0) cache.clear();
      cache.prune();
      if (cache.statistics().rejected != 0) ++wrong_;
    }
  }

  TemporaryFolder folder_;
  std::atomic<std::int64_t> wrong_{0};
};

TEST_F(CacheThreads, FindOnlyWholeKernelsInOneCache) {
  KernelCache cache(folder_.path().string());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { use(cache); });
  threads.emplace_back([&] { tend(cache); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_, 0);
  EXPECT_GT(cache.statistics().hits, 0);
}

TEST_F(CacheThreads, FindOnlyWholeKernelsInTwoCachesOfOneFolder) {
  KernelCache first(folder_.path().string());
  KernelCache second(folder_.path().string(), {.bytes = 4000});  // prunes what the first has stored
  std::vector<std::thread> threads;
  for (KernelCache* cache : {&first, &second}) {
    threads.emplace_back([this, cache] { use(*cache); });
    threads.emplace_back([this, cache] { tend(*cache); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_, 0);
}

}  // namespace
}  // namespace einkern::runtime
