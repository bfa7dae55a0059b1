// Finding and opening GPUs, and what goes wrong with them, on the fake driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fakes/fake_gpu.h"

namespace einkern::runtime::cuda {
namespace {

using testing::HasSubstr;

TEST(Driver, ReadsTheFactsOfAGpu) {
  reset_fake_driver();
  const core::DeviceFacts facts = open_fake_gpu()->facts();
  EXPECT_EQ(facts.backend, core::Backend::cuda);
  EXPECT_EQ(facts.name, "Fake GPU 0");
  EXPECT_EQ(facts.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(facts.architecture, "sm_90a");
  EXPECT_EQ(facts.compute_capability, 90);
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(facts.shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(facts.driver_version, 13000);
  EXPECT_GT(facts.copy_bytes_per_second, 4e12);
}

TEST(Driver, NamesTheCodeOfOlderAndNewerGpus) {
  auto& state = reset_fake_driver();
  state.compute_major = 8;
  state.compute_minor = 6;
  EXPECT_EQ(open_fake_gpu()->facts().architecture, "sm_86");
  state.compute_major = 13;  // one that no table knows
  state.compute_minor = 0;
  EXPECT_EQ(open_fake_gpu()->facts().architecture, "sm_130a");
}

TEST(Driver, RefusesOneThatIsTooOld) {
  reset_fake_driver().version = 11080;
  const auto driver = load_driver(search_of(EINKERN_FAKE_DRIVER));
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().kind, core::ErrorKind::device);
  EXPECT_THAT(driver.error().message, HasSubstr("supports CUDA 11.8, and einkern needs CUDA 12.0"));
  EXPECT_THAT(driver.error().message, HasSubstr("version 525"));
}

TEST(Driver, RefusesOneThatLacksFunctions) {
  const auto driver = load_driver(search_of(EINKERN_FAKE_NVRTC));  // a library without any of them
  ASSERT_FALSE(driver.ok());
  EXPECT_THAT(driver.error().message, HasSubstr("it lacks cu"));
}

TEST(Driver, SaysThatThereIsNoGpu) {
  reset_fake_driver().device_count = 0;
  const auto driver = load_driver(search_of(EINKERN_FAKE_DRIVER));
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error().kind, core::ErrorKind::device);
  EXPECT_THAT(driver.error().message, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST(Driver, ErrorsNameTheActTheStatusAndTheRemedy) {
  auto& state = reset_fake_driver();
  const auto gpu = open_fake_gpu();
  state.failures["cuLibraryLoadData"] = error_no_binary_for_gpu;
  const auto module = gpu->load(fake_artifact("k", 1));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().message, HasSubstr("loading code for sm_90a"));
  EXPECT_THAT(module.error().message, HasSubstr("update the driver, or set EINKERN_NVRTC"));
  EXPECT_THAT(module.error().message, HasSubstr("supports CUDA 13.0"));
  EXPECT_THAT(module.error().message, HasSubstr("the fake's linker has a complaint"));
}

TEST(Driver, OutOfMemoryGivesTheSizesAndTriesThePoolFirst) {
  auto& state = reset_fake_driver();
  const auto gpu = open_fake_gpu();
  for (const bool in_order : {false, true}) {
    state.trims = 0;
    const auto memory =
        in_order ? gpu->allocate_in_order(std::int64_t{1} << 40, {}) : gpu->allocate(std::int64_t{1} << 40);
    ASSERT_FALSE(memory.ok());
    EXPECT_THAT(memory.error().message,
                HasSubstr("allocating 1099511627776 bytes on Fake GPU 0 (which has 1073741824)"));
    EXPECT_THAT(memory.error().message, HasSubstr("nvidia-smi"));
    EXPECT_EQ(state.trims, 1);
  }
}

TEST(Driver, CopiesFillsAndCountsMemory) {
  auto& state = reset_fake_driver();
  const auto gpu = open_fake_gpu();
  const Address memory = gpu->allocate(64).value(), empty = gpu->allocate(0).value();
  EXPECT_NE(empty, Address{0});
  EXPECT_EQ(gpu->free_memory().value(), state.memory_limit - 65);
  const std::string text = "what goes in comes out";
  ASSERT_TRUE(gpu->fill(memory, 'x', 64, {}).ok());
  ASSERT_TRUE(gpu->copy_to_device(memory, text.data(), static_cast<std::int64_t>(text.size()), {}).ok());
  ASSERT_TRUE(gpu->copy(memory + 32, memory, 16, {}).ok());
  std::string back(64, '\0');
  ASSERT_TRUE(gpu->copy_to_host(back.data(), memory, 64, {}).ok());
  EXPECT_EQ(back, text + std::string(10, 'x') + text.substr(0, 16) + std::string(16, 'x'));
  gpu->free(memory);
  gpu->free(empty);
  EXPECT_TRUE(state.allocations.empty());
}

TEST(Driver, UsesTheCallersContextAndLeavesItAsFound) {
  reset_fake_driver();
  const auto gpu = open_fake_gpu();
  const Driver& driver = gpu->driver();
  ContextHandle primary = nullptr, current = nullptr;
  ASSERT_EQ(driver.primary_context_retain(&primary, 0), success);
  // Contexts of the fake lie one after the other; 8 behind a primary context is another context of that
  // device.
  const auto own = reinterpret_cast<ContextHandle>(reinterpret_cast<char*>(primary) + 8);
  const auto of_gpu_1 = reinterpret_cast<ContextHandle>(reinterpret_cast<char*>(primary) + 1);

  ASSERT_TRUE(gpu->fill(gpu->allocate(8).value(), 0, 8, {}).ok());
  driver.context_get_current(&current);
  EXPECT_EQ(current, nullptr) << "nothing was current before";
  for (ContextHandle callers : {primary, own, of_gpu_1}) {
    driver.context_push(callers);
    {
      const auto scope = ContextScope::enter(gpu->context());
      ASSERT_TRUE(scope.ok());
      driver.context_get_current(&current);
      EXPECT_EQ(current, callers == of_gpu_1 ? primary : callers);
    }
    driver.context_get_current(&current);
    EXPECT_EQ(current, callers);
    driver.context_pop(&current);
  }
}

TEST(Driver, NoticesThatTheProcessIsAForkedChild) {
  reset_fake_driver();
  const auto gpu = open_fake_gpu();
  const pid_t child = fork();
  if (child == 0) {
    const auto memory = gpu->allocate(16);
    _exit(!memory.ok() && memory.error().message.find("fork()") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(gpu->allocate(16).ok()) << "the parent works on";
}

TEST(Driver, MeasuresWithEvents) {
  reset_fake_driver();
  const auto gpu = open_fake_gpu();
  const auto start = gpu->create_event().value(), end = gpu->create_event().value();
  const Stream stream = gpu->create_stream().value();
  ASSERT_TRUE(start->record(stream).ok() && end->record(stream).ok() && end->synchronize().ok());
  EXPECT_DOUBLE_EQ(end->seconds_since(*start).value(), 0.0025);
  gpu->destroy_stream(stream);
}

}  // namespace
}  // namespace einkern::runtime::cuda
