// einkern emit and einkern explain: what is generated, and why.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

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

using Json = nlohmann::ordered_json;

core::Result<core::Artifact> compile_for(const core::Emission& emission, const core::DeviceFacts& facts,
                                         bool ptx) {
  EINKERN_TRY(const auto nvrtc, runtime::cuda::process_nvrtc());
  return runtime::cuda::compile_cuda(*nvrtc, {.text = emission.source,
                                              .architecture = facts.architecture,
                                              .options = emission.options,
                                              .ptx_only = ptx});
}

/// A file in the folder for temporary ones, gone with its owner.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_((std::filesystem::temp_directory_path() / "einkern-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    written_ =
        file >= 0 && write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    if (file >= 0) close(file);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  bool written() const { return written_; }
  /// The path as one word of a shell's command line.
  std::string quoted() const {
    std::string text = "'";
    for (const char c : path_) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
  }

 private:
  std::string path_;
  bool written_ = false;
};

/// Machine code as text, by the toolkit's cuobjdump: NVRTC has no disassembler.
core::Result<std::string> disassemble(const std::string& cubin) {
  const TemporaryFile file(cubin);
  std::string text;
  for (const char* program : {"cuobjdump", "/usr/local/cuda/bin/cuobjdump"}) {
    if (!file.written()) break;
    std::FILE* pipe = popen(fmt::format("{} -sass {} 2>/dev/null", program, file.quoted()).c_str(), "r");
    if (!pipe) continue;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, count);
    if (pclose(pipe) == 0 && !text.empty()) return text;
    text.clear();
  }
  return core::Error{
      core::ErrorKind::device,
      file.written() ? "--as sass needs cuobjdump of the CUDA Toolkit on the PATH; --as ptx needs only NVRTC"
                     : "--as sass needs a folder for temporary files: set TMPDIR to one with space"};
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
  Json kernels = Json::array();
  for (std::size_t i = 0; i < emitted->emissions.size(); ++i) {
    const auto text = emitted_text(emitted->emissions[i], *facts, options.as);
    if (!text) return report(text.error());
    if (!options.json) fmt::print("{}\n", *text);
    kernels.push_back({{"name", emitted->plan.kernels[i].name},
                       {"schedule", emitted->choices[i].schedule->name()},
                       {"configuration", emitted->choices[i].configuration.text()},
                       {"text", *text}});
  }
  if (options.json)
    fmt::print("{}\n", Json{{"device", facts->name},
                            {"architecture", facts->architecture},
                            {"as", options.as},
                            {"plan", emitted->plan.name},
                            {"kernels", kernels}}
                           .dump(1));
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
