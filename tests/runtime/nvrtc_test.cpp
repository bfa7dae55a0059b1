// Compiling: with the machine's NVRTC where there is one (no GPU is needed), and with the fake for what it
// cannot show.
#include "runtime/cuda/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/warnings.h"
#include "tests/fakes/fake_gpu.h"

namespace einkern::runtime::cuda {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* saxpy = R"(
extern "C" __global__ void __launch_bounds__(256) saxpy(float a, const float* x, float* y, long long n) {
  __shared__ float tile[256];
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = a * tile[255 - threadIdx.x] + y[i];
}
)";

/// The machine's NVRTC; the test is skipped where there is none.
#define REQUIRE_NVRTC(nvrtc)                                \
  const auto nvrtc##_found = process_nvrtc();               \
  if (!nvrtc##_found.ok()) GTEST_SKIP() << "no NVRTC here"; \
  const Nvrtc& nvrtc = **nvrtc##_found

CudaSource source_of(const char* text, const char* architecture) {
  CudaSource source;
  source.text = text;
  source.architecture = architecture;
  return source;
}

TEST(Nvrtc, CompilesToACubinAndReportsResources) {
  REQUIRE_NVRTC(nvrtc);
  for (const char* architecture : {"sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
    const int capability = core::facts_of_architecture(architecture)->compute_capability;
    if (!std::binary_search(nvrtc.architectures.begin(), nvrtc.architectures.end(), capability)) continue;
    const auto artifact = compile_cuda(nvrtc, source_of(saxpy, architecture));
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    EXPECT_EQ(artifact->format, core::CodeFormat::cubin);
    EXPECT_EQ(artifact->code.substr(1, 3), "ELF");
    ASSERT_EQ(artifact->entries.count("saxpy"), 1u) << artifact->log;
    EXPECT_GT(artifact->entries.at("saxpy").registers, 4);
    EXPECT_EQ(artifact->entries.at("saxpy").shared_bytes, 1024);
    EXPECT_GT(artifact->compile_seconds, 0);
  }
}

TEST(Nvrtc, NeverFusesMultiplyAndAddByItself) {
  REQUIRE_NVRTC(nvrtc);
  CudaSource source = source_of(saxpy, "sm_90a");
  source.ptx_only = true;
  const auto artifact = compile_cuda(nvrtc, source);
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_EQ(artifact->format, core::CodeFormat::ptx);
  EXPECT_THAT(artifact->code, HasSubstr("mul.rn.f32"));
  EXPECT_THAT(artifact->code, Not(HasSubstr("fma.rn.f32")));
  source.options = {"--fmad=true"};  // who asks for it gets it: a later option wins
  EXPECT_THAT(compile_cuda(nvrtc, source)->code, HasSubstr("fma.rn.f32"));
}

TEST(Nvrtc, GivesTheSameBytesForTheSameSource) {
  REQUIRE_NVRTC(nvrtc);
  const auto first = compile_cuda(nvrtc, source_of(saxpy, "sm_90a")),
             second = compile_cuda(nvrtc, source_of(saxpy, "sm_90a"));
  EXPECT_EQ(first->code, second->code);
  EXPECT_FALSE(second->log.empty()) << "a cached compile would have no log";
}

TEST(Nvrtc, CompilesInManyThreads) {
  REQUIRE_NVRTC(nvrtc);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&nvrtc, &good, i] {
      const std::string text = std::string(saxpy) + "// " + std::to_string(i);
      if (compile_cuda(nvrtc, source_of(text.c_str(), "sm_90a")).ok()) ++good;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
}

TEST(Nvrtc, ShowsTheLinesOfErrors) {
  REQUIRE_NVRTC(nvrtc);
  const auto artifact = compile_cuda(
      nvrtc, source_of("extern \"C\" __global__ void f(float* y) {\n  y[0] = missing;\n}\n", "sm_90a"));
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.error().kind, core::ErrorKind::compile);
  EXPECT_THAT(artifact.error().message,
              HasSubstr("kernel.cu:2: error: identifier \"missing\" is undefined\n    y[0] = missing;"));
}

TEST(Nvrtc, RefusesOptionsAndArchitecturesThatAreNone) {
  REQUIRE_NVRTC(nvrtc);
  CudaSource source = source_of(saxpy, "sm_90a");
  source.options = {"--no-such-option"};
  EXPECT_THAT(compile_cuda(nvrtc, source).error().message, HasSubstr("--no-such-option"));
  for (const char* architecture : {"", "90a", "sm_", "sm_x", "gfx942"})
    EXPECT_EQ(compile_cuda(nvrtc, source_of(saxpy, architecture)).error().kind, core::ErrorKind::usage)
        << architecture;
}

TEST(NvrtcFake, FallsBackToTheNewestPtxAndSaysSoOnce) {
  reset_fake_nvrtc();
  const auto nvrtc = load_fake_nvrtc().value();
  std::vector<std::string> warnings;
  set_warning_handler([&](std::string_view message) { warnings.emplace_back(message); });
  for (int i = 0; i < 2; ++i) {
    const auto artifact = compile_cuda(*nvrtc, source_of("text", "sm_120a"));
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    EXPECT_EQ(artifact->format, core::CodeFormat::ptx);
    EXPECT_THAT(artifact->code, HasSubstr("--gpu-architecture=compute_90\n"));
  }
  EXPECT_THAT(compile_cuda(*nvrtc, source_of("text", "sm_86"))->code,
              HasSubstr("--gpu-architecture=compute_80\n"));
  set_warning_handler(nullptr);
  ASSERT_EQ(warnings.size(), 2u) << "one for each architecture";
  EXPECT_THAT(warnings[0], HasSubstr("NVRTC 12.4 does not know sm_120a"));
  const auto too_old = compile_cuda(*nvrtc, source_of("text", "sm_50"));
  ASSERT_FALSE(too_old.ok());
  EXPECT_THAT(too_old.error().message, HasSubstr("starts at sm_60"));
}

TEST(NvrtcFake, AsksForNoCacheFromTheVersionThatHasOne) {
  auto& state = reset_fake_nvrtc();
  EXPECT_THAT(compile_cuda(*load_fake_nvrtc().value(), source_of("text", "sm_90a"))->code,
              Not(HasSubstr("--no-cache")));
  state.minor = 9;
  EXPECT_THAT(compile_cuda(*load_fake_nvrtc().value(), source_of("text", "sm_90a"))->code,
              HasSubstr("--no-cache"));
}

TEST(NvrtcFake, LeavesSomebodyElsesSourceItsOwnOptions) {
  reset_fake_nvrtc();
  CudaSource source = source_of("text", "sm_90a");
  source.bare = true;
  source.options = {"--std=c++20"};
  EXPECT_EQ(compile_cuda(*load_fake_nvrtc().value(), source)->code,
            "--gpu-architecture=sm_90a\n--std=c++20\ntext");
}

TEST(NvrtcFake, NamesTheMissingCompanion) {
  auto& state = reset_fake_nvrtc();
  state.compile_status = 7;
  state.log = "nvrtc: error: failed to open libnvrtc-builtins.so.12.4.";
  const auto artifact = compile_cuda(*load_fake_nvrtc().value(), source_of("text", "sm_90a"));
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.error().kind, core::ErrorKind::device);
  EXPECT_THAT(artifact.error().message, HasSubstr("libnvrtc-builtins.so.12.4, which belongs beside it"));
}

TEST(NvrtcFake, RefusesOneThatIsTooOld) {
  reset_fake_nvrtc().major = 11;
  const auto nvrtc = load_fake_nvrtc();
  ASSERT_FALSE(nvrtc.ok());
  EXPECT_THAT(nvrtc.error().message, HasSubstr("is NVRTC 11.4; einkern needs NVRTC 12.0"));
}

TEST(NvrtcFake, CompilesAnEmissionForItsDevice) {
  reset_fake_driver();
  reset_fake_nvrtc();
  const auto gpu = open_fake_gpu();
  core::Emission emission;
  emission.source = "kernel k 0 32 0\n";
  emission.entries = {"k"};
  emission.options = {"--maxrregcount=64"};
  const auto artifact = gpu->compile(emission);
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_THAT(artifact->code, HasSubstr("--gpu-architecture=sm_90a"));
  EXPECT_THAT(artifact->code, HasSubstr("--maxrregcount=64"));
  EXPECT_TRUE(gpu->load(*artifact).ok()) << "entries come from the emission where the log names none";
  EXPECT_THAT(gpu->compiler_version(), HasSubstr("nvrtc 12.4 --fmad=false"));
  emission.language = core::SourceLanguage::llvm_ir;
  EXPECT_FALSE(gpu->compile(emission).ok());
}

}  // namespace
}  // namespace einkern::runtime::cuda
