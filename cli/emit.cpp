// einkern emit and einkern explain: what is generated, and why.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/json_report.h"
#include "cli/problem.h"
#include "cli/terminal.h"
#include "engine/explain.h"
#include "runtime/cuda/nvrtc.h"
#ifdef EINKERN_HAS_LLVM
#include "runtime/cpu/compiler.h"
#endif

namespace einkern::cli {
namespace {

core::Result<core::Artifact> compile_for(const core::Emission& emission, const core::DeviceFacts& facts,
                                         bool ptx) {
  EINKERN_TRY(const auto nvrtc, runtime::cuda::process_nvrtc());
  return runtime::cuda::compile_cuda(*nvrtc, {.text = emission.source,
                                              .architecture = facts.architecture,
                                              .options = emission.options,
                                              .ptx_only = ptx});
}

/// Machine code as text, by the toolkit's cuobjdump: NVRTC has no disassembler.
core::Result<std::string> disassemble(const std::string& cubin) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("einkern-{}.cubin", getpid())).string();
  {
    std::ofstream out(path, std::ios::binary);
    out << cubin;
  }
  std::string text;
  for (const char* program : {"cuobjdump", "/usr/local/cuda/bin/cuobjdump"}) {
    std::FILE* pipe = popen(fmt::format("{} -sass {} 2>/dev/null", program, path).c_str(), "r");
    if (!pipe) continue;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, count);
    if (pclose(pipe) == 0 && !text.empty()) break;
    text.clear();
  }
  std::filesystem::remove(path);
  if (text.empty())
    return core::Error{
        core::ErrorKind::device,
        "--as sass needs cuobjdump of the CUDA Toolkit on the PATH; --as ptx needs only NVRTC"};
  return text;
}

core::Result<std::string> emitted_text(const core::Emission& emission, const core::DeviceFacts& facts,
                                       const std::string& as) {
  const bool cuda = emission.language == core::SourceLanguage::cuda;
  if (as == "source" || (as == "cuda" && cuda) || (as == "llvm-source" && !cuda)) return emission.source;
  if (cuda && as == "ptx") {
    EINKERN_TRY(core::Artifact artifact, compile_for(emission, facts, true));
    return artifact.code;
  }
  if (cuda && as == "sass") {
    EINKERN_TRY(const core::Artifact artifact, compile_for(emission, facts, false));
    return disassemble(artifact.code);
  }
#ifdef EINKERN_HAS_LLVM
  if (!cuda && as == "llvm") return runtime::cpu::optimise_ir(emission.source, facts);
  if (!cuda && as == "asm") return runtime::cpu::compile_assembly(emission.source, facts);
#endif
  return core::Error{core::ErrorKind::usage, fmt::format("--as {} does not go with {}: {}", as, facts.name,
                                                         cuda ? "it has source, cuda, ptx and sass"
                                                              : "it has source, llvm-source, llvm and asm")};
}

/// `--as cuda` without a GPU or an architecture: the newest that the table knows well.
std::string default_architecture(const EmitOptions& options) {
  const bool cuda = options.as == "cuda" || options.as == "ptx" || options.as == "sass";
  if (!options.architecture.empty() || !cuda || options.device != "best") return options.architecture;
  const auto facts = find_facts("cuda", "");
  return facts.ok() ? "" : "sm_90a";
}

}  // namespace

int emit_command(const EmitOptions& options) {
  auto loaded = load_problem(options.problem);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const bool cpu_form = options.as == "llvm" || options.as == "asm" || options.as == "llvm-source";
  const auto facts = find_facts(cpu_form && options.device == "best" ? "cpu" : options.device,
                                default_architecture(options));
  if (!facts) return report(facts.error());
  const auto emitted = emit_plan(std::get<Problem>(loaded), *facts, options.choice);
  if (!emitted) return report(emitted.error());
  for (const core::Emission& emission : emitted->emissions) {
    const auto text = emitted_text(emission, *facts, options.as);
    if (!text) return report(text.error());
    fmt::print("{}\n", *text);
  }
  return success;
}

int explain_command(const ExplainOptions& options) {
  auto loaded = load_problem(options.problem);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const Problem& problem = std::get<Problem>(loaded);
  const auto facts = find_facts(options.device, options.architecture);
  if (!facts) return report(facts.error());
  const auto emitted = emit_plan(problem, *facts, options.choice);
  if (!emitted) return report(emitted.error());
  std::vector<engine::KernelExplanation> kernels;
  for (std::size_t i = 0; i < emitted->choices.size(); ++i)
    kernels.push_back(engine::explain_kernel(emitted->plan.kernels[i], emitted->choices[i]));
  if (options.json) {
    fmt::print("{}\n", explain_json({problem, *facts, emitted->plan, kernels}));
    return success;
  }
  fmt::print("{} on {}: plan {} of {}, {} kernel{}\n", problem.function->name, facts->name,
             emitted->plan.name, problem.plans.size(), kernels.size(), kernels.size() == 1 ? "" : "s");
  for (const engine::KernelExplanation& kernel : kernels) fmt::print("{}", engine::kernel_text(kernel));
  fmt::print("\n{}", codegen::describe(emitted->plan));
  return success;
}

}  // namespace einkern::cli
