#include "runtime/cpu/host.h"

#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/hash.h"

namespace einkern::runtime::cpu {
namespace {

std::string take_llvm_text(char* text) {
  std::string result = text;
  LLVMDisposeMessage(text);
  return result;
}

/// LLVM's map of features has no stable order across versions; sorted, the text can be part of a key. The
/// negative entries stay: a hypervisor may hide features that the CPU's name implies.
std::string sorted_features() {
  std::stringstream text(take_llvm_text(LLVMGetHostCPUFeatures()));
  std::vector<std::string> features;
  for (std::string feature; std::getline(text, feature, ',');) features.push_back(feature);
  std::sort(features.begin(), features.end(),
            [](const std::string& a, const std::string& b) { return a.substr(1) < b.substr(1); });
  return fmt::format("{}", fmt::join(features, ","));
}

bool has_feature(const std::string& features, std::string_view name) {
  return ("," + features + ",").find(fmt::format(",+{},", name)) != std::string::npos;
}

int widest_vector_bytes(const std::string& features) {
  if (has_feature(features, "avx512f") && has_feature(features, "avx512vl")) return 64;
  return has_feature(features, "avx2") && has_feature(features, "fma") ? 32 : 16;
}

/// LLVM calls a CPU that it does not know "generic" and would then schedule for the oldest one.
std::string architecture_name(const std::string& features) {
  std::string name = take_llvm_text(LLVMGetHostCPUName());
  if (name != "generic" || !has_feature(features, "sse2")) return name;
  if (has_feature(features, "avx512vl") && has_feature(features, "avx512bw")) return "x86-64-v4";
  return has_feature(features, "avx2") && has_feature(features, "fma") ? "x86-64-v3" : "x86-64";
}

std::string read_line(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line;
  return {};
}

std::string marketing_name() {
  std::string line = read_line("/proc/cpuinfo", "model name");
  std::size_t value = line.find(": ");
  return value == std::string::npos ? "CPU" : line.substr(value + 2);
}

std::int64_t cache_bytes(int name, std::int64_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

int available_threads() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int count = sched_getaffinity(0, sizeof mask, &mask) == 0
                  ? CPU_COUNT(&mask)
                  : static_cast<int>(std::thread::hardware_concurrency());
  int quota = cpus_of_quota(read_line("/sys/fs/cgroup/cpu.max", ""));
  return std::max(1, quota > 0 ? std::min(count, quota) : count);
}

core::Result<int> worker_threads() {
  const char* text = std::getenv("EINKERN_THREADS");
  if (text == nullptr || *text == '\0') return available_threads();
  std::string_view digits = text;
  int count = 0;
  auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (status != std::errc{} || end != digits.data() + digits.size() || count < 1 || count > 1024)
    return core::Error{
        core::ErrorKind::usage,
        fmt::format("EINKERN_THREADS is \"{}\". Set it to a whole number from 1 to 1024, or unset it "
                    "to use every CPU that this process may run on.",
                    digits)};
  return count;
}

}  // namespace

int cpus_of_quota(std::string_view cpu_max) {
  std::int64_t quota = 0, period = 0;
  const char* end = cpu_max.data() + cpu_max.size();
  auto first = std::from_chars(cpu_max.data(), end, quota);
  if (first.ec != std::errc{} || first.ptr == end) return 0;
  auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc{} || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<std::int64_t>((quota - 1) / period + 1, 1 << 20));
}

core::Result<core::DeviceFacts> host_facts() {
  EINKERN_TRY(int threads, worker_threads());
  core::DeviceFacts facts;
  facts.backend = core::Backend::cpu;
  facts.name = marketing_name();
  facts.features = sorted_features();
  facts.architecture = architecture_name(facts.features);
  facts.uuid = core::fingerprint(fmt::format("{}\n{}\n{}", facts.name, facts.architecture, facts.features));
  facts.multiprocessors = threads;
  facts.warp_size = 1;
  facts.max_threads_per_block = 1;
  facts.max_threads_per_multiprocessor = 1;
  facts.max_blocks_per_multiprocessor = 1;
  facts.vector_bytes = widest_vector_bytes(facts.features);
  facts.registers_per_multiprocessor = facts.vector_bytes == 64 ? 32 : 16;  // vector registers
  facts.max_registers_per_thread = facts.registers_per_multiprocessor;
  facts.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  facts.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10);
  facts.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 0);
  facts.memory_bytes = cache_bytes(_SC_PHYS_PAGES, 0) * cache_bytes(_SC_PAGESIZE, 4096);
  return facts;
}

}  // namespace einkern::runtime::cpu
