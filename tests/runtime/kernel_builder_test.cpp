#include "runtime/kernel_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>

#include "tests/runtime/temporary_folder.h"

namespace einkern::runtime {
namespace {

core::Key key_of(const std::string& source) { return core::Key().add("source", source); }

CompiledKernel kernel_of(const std::string& code) {
  CompiledKernel kernel;
  kernel.artifact.code = code;
  return kernel;
}

TEST(KernelBuilder, CompilesAKeyOnceForAllWhoWaitForIt) {
  KernelBuilder builder(nullptr, 2);
  std::atomic<int> compiled = 0;
  std::latch all_started(8);
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const CompiledKernel>> kernels(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      all_started.arrive_and_wait();
      kernels[static_cast<std::size_t>(i)] = *builder.build(key_of("a"), [&] {
        ++compiled;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return kernel_of("code");
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled, 1);
  for (const auto& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST(KernelBuilder, CompilesDifferentKeysAtTheSameTime) {
  KernelBuilder builder(nullptr, 2);
  std::latch both_compile(2);  // deadlocks if one waited for the other
  std::vector<std::shared_future<BuiltKernel>> futures;
  for (const char* source : {"a", "b"})
    futures.push_back(builder.submit(key_of(source), [&, source] {
      both_compile.arrive_and_wait();
      return kernel_of(source);
    }));
  EXPECT_EQ((*futures[0].get())->artifact.code, "a");
  EXPECT_EQ((*futures[1].get())->artifact.code, "b");
}

TEST(KernelBuilder, CompilesHereWhereTheSystemGivesNoThreads) {
  pthread_attr_t usual, impossible;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_init(&impossible);
  pthread_attr_setstacksize(&impossible, std::size_t{1} << 47);  // more than there are addresses
  ASSERT_EQ(pthread_setattr_default_np(&impossible), 0);
  {
    KernelBuilder builder(nullptr, 2);
    std::thread::id compiled_by;
    const auto compile = [&] {
      compiled_by = std::this_thread::get_id();
      return kernel_of("code");
    };
    EXPECT_EQ((*builder.submit(key_of("a"), compile).get())->artifact.code, "code");
    EXPECT_EQ(compiled_by, std::this_thread::get_id());
    ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
    EXPECT_EQ((*builder.submit(key_of("b"), compile).get())->artifact.code, "code");
    EXPECT_NE(compiled_by, std::this_thread::get_id());
  }
  pthread_attr_destroy(&impossible);
  pthread_attr_destroy(&usual);
}

TEST(KernelBuilder, AForkedChildBuildsForItself) {
  auto builder = std::make_unique<KernelBuilder>(nullptr, 2);
  const auto code = [&](const char* key, std::string text) {
    return (*builder->submit(key_of(key), [text = std::move(text)] { return kernel_of(text); }).get())
        ->artifact.code;
  };
  ASSERT_EQ(code("a", "the parent's"), "the parent's");
  std::latch forked(1);
  const auto pending = builder->submit(key_of("b"), [&] {
    forked.wait();
    return kernel_of("the parent's");
  });
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends it if it waits for a thread that is not there
    const bool right = code("b", "the child's") == "the child's" && code("c", "new") == "new";
    builder.reset();  // as exit() does
    _exit(right ? 0 : 1);
  }
  forked.count_down();
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ((*pending.get())->artifact.code, "the parent's");
}

TEST(KernelBuilder, TellsAFailureAndForgetsIt) {
  KernelBuilder builder(nullptr, 1);
  const auto failed =
      builder.build(key_of("a"), [] { return core::Error{core::ErrorKind::compile, "does not compile"}; });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "does not compile");
  EXPECT_TRUE(builder.build(key_of("a"), [] { return kernel_of("code"); }).ok());
}

TEST(KernelBuilder, TakesKernelsFromTheCacheAndKeepsThemThere) {
  const TemporaryFolder folder;
  KernelCache cache(folder.path().string());
  {
    KernelBuilder builder(&cache, 1);
    ASSERT_TRUE(builder.submit(key_of("a"), [] { return kernel_of("code"); }).get().ok());
  }
  KernelBuilder builder(&cache, 1);
  const auto kernel = builder.build(key_of("a"), []() -> core::Result<CompiledKernel> {
    ADD_FAILURE() << "compiled again";
    return kernel_of("other");
  });
  EXPECT_EQ((*kernel)->artifact.code, "code");
}

TEST(KernelBuilder, HoldsNoKernelThatNobodyHolds) {
  KernelBuilder builder(nullptr, 1);
  int compiled = 0;
  const CompileFunction compile = [&] {
    ++compiled;
    return kernel_of("code");
  };
  {
    const auto held = builder.build(key_of("a"), compile);
    EXPECT_EQ(*builder.build(key_of("a"), compile), *held);
    EXPECT_EQ(compiled, 1);
  }
  ASSERT_TRUE(builder.build(key_of("a"), compile).ok());
  EXPECT_EQ(compiled, 2);
}

TEST(KernelBuilder, CancelsWhatHasNotBegun) {
  KernelBuilder builder(nullptr, 1);
  std::latch begun(1), released(1);
  const auto running = builder.submit(key_of("a"), [&] {
    begun.count_down();
    released.wait();
    return kernel_of("code");
  });
  begun.wait();
  const auto waiting = builder.submit(key_of("b"), [] { return kernel_of("code"); });
  builder.cancel_waiting();
  ASSERT_FALSE(waiting.get().ok());
  EXPECT_THAT(waiting.get().error().message, testing::HasSubstr("cancelled"));
  released.count_down();
  EXPECT_TRUE(running.get().ok());
}

}  // namespace
}  // namespace einkern::runtime
