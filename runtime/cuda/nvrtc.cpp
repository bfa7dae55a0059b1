#include "runtime/cuda/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>

#include "runtime/cuda/compile_log.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/function_table.h"
#include "runtime/warnings.h"

namespace einkern::runtime::cuda {
namespace {

using core::Error;
using core::ErrorKind;
using core::Result;

constexpr NvrtcStatus status_success = 0, status_invalid_option = 5, status_compilation = 6,
                      status_builtins = 7;  // nvrtc.h
constexpr int oldest_version = 12000;
constexpr int version_with_cache = 12090;  // NVRTC keeps compiled code from 12.9 on, and gives no log with it

/// Multiply-adds are decided in the program, never by the compiler (docs/semantics.md), hence no fmad.
constexpr std::array<const char*, 4> common_options = {"--fmad=false", "--std=c++17", "-default-device",
                                                       "--ptxas-options=-v"};

/// What to ask NVRTC for, and the form it gives back.
struct Target {
  std::string option;
  core::CodeFormat format;
};

Result<Target> target_of(const Nvrtc& nvrtc, const CudaSource& source) {
  int capability = 0;
  const std::string& name = source.architecture;
  if (name.starts_with("sm_")) std::from_chars(name.data() + 3, name.data() + name.size(), capability);
  if (capability == 0)
    return Error{ErrorKind::usage,
                 fmt::format("'{}' names no GPU architecture; one looks like sm_90a.", name)};
  const auto& known = nvrtc.architectures;
  if (std::binary_search(known.begin(), known.end(), capability)) {
    if (source.ptx_only) return Target{fmt::format("compute_{}", name.substr(3)), core::CodeFormat::ptx};
    return Target{name, core::CodeFormat::cubin};
  }
  const auto newer = std::upper_bound(known.begin(), known.end(), capability);
  if (newer == known.begin())
    return Error{
        ErrorKind::device,
        fmt::format(
            "NVRTC {} makes no code for {}; it starts at sm_{}. Set EINKERN_NVRTC to an older libnvrtc.",
            cuda_version_text(nvrtc.version_number), name, known.empty() ? 0 : known.front())};
  const int newest = *(newer - 1);
  warn_once("nvrtc lacks " + name,
            fmt::format("NVRTC {} does not know {}, so kernels are compiled to PTX for compute_{} and the "
                        "driver makes machine code of them; a newer NVRTC would make faster code.",
                        cuda_version_text(nvrtc.version_number), name, newest));
  return Target{fmt::format("compute_{}", newest), core::CodeFormat::ptx};
}

/// Owns an nvrtcProgram.
class Program {
 public:
  explicit Program(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
  ~Program() {
    if (handle_ != nullptr) nvrtc_.destroy_program(&handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  NvrtcStatus compile(const CudaSource& source, const std::vector<std::string>& options) {
    if (const NvrtcStatus status =
            nvrtc_.create_program(&handle_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr);
        status != status_success)
      return status;
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return nvrtc_.compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  std::string log() const {
    std::string text = read(nvrtc_.get_log_size, nvrtc_.get_log).value_or("");
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  std::optional<std::string> code(core::CodeFormat format) const {
    auto bytes = format == core::CodeFormat::cubin ? read(nvrtc_.get_cubin_size, nvrtc_.get_cubin)
                                                   : read(nvrtc_.get_ptx_size, nvrtc_.get_ptx);
    if (bytes && bytes->empty()) return std::nullopt;
    return bytes;
  }

 private:
  std::optional<std::string> read(NvrtcStatus (*size)(ProgramHandle, std::size_t*),
                                  NvrtcStatus (*get)(ProgramHandle, char*)) const {
    std::size_t bytes = 0;
    if (handle_ == nullptr || size(handle_, &bytes) != status_success) return std::nullopt;
    std::string text(bytes, '\0');
    if (bytes > 0 && get(handle_, text.data()) != status_success) return std::nullopt;
    return text;
  }

  const Nvrtc& nvrtc_;
  ProgramHandle handle_ = nullptr;
};

std::vector<std::string> options_of(const Nvrtc& nvrtc, const CudaSource& source, const Target& target) {
  std::vector<std::string> options = {"--gpu-architecture=" + target.option};
  if (!source.bare) options.insert(options.end(), common_options.begin(), common_options.end());
  if (nvrtc.version_number >= version_with_cache) options.emplace_back("--no-cache");
  options.insert(options.end(), source.options.begin(), source.options.end());
  return options;
}

Error failure(const Nvrtc& nvrtc, NvrtcStatus status, const std::string& log, const CudaSource& source) {
  if (status == status_compilation)
    return {ErrorKind::compile, fmt::format("The CUDA source does not compile:\n{}",
                                            describe_errors(log, source.name, source.text))};
  if (status == status_invalid_option)
    return {ErrorKind::usage,
            fmt::format("NVRTC {} refuses an option: {}", cuda_version_text(nvrtc.version_number), log)};
  if (status == status_builtins)
    return {
        ErrorKind::device,
        fmt::format("NVRTC ({}) cannot load its companion libnvrtc-builtins.so.{}, which belongs beside it. "
                    "Install NVRTC anew, or set EINKERN_NVRTC to a complete one. {}",
                    nvrtc.path, cuda_version_text(nvrtc.version_number), log)};
  return {ErrorKind::device, fmt::format("NVRTC {} failed with status {}. {}",
                                         cuda_version_text(nvrtc.version_number), status, log)};
}

}  // namespace

Result<std::shared_ptr<const Nvrtc>> load_nvrtc(const LibrarySearch& search) {
  EINKERN_TRY(const FoundLibrary library, open_library(search));
  auto nvrtc = std::make_shared<Nvrtc>();
  nvrtc->path = library.path;
  MissingSymbol missing;
#define F(member, symbol, since, parameters) look_up(library.handle, #symbol, since, nvrtc->member, missing);
#include "runtime/cuda/nvrtc_functions.def"
#undef F
  int major = 0, minor = 0, count = 0;
  if (nvrtc->version != nullptr) nvrtc->version(&major, &minor);
  nvrtc->version_number = 1000 * major + 10 * minor;
  if (!missing.name.empty() || nvrtc->version_number < oldest_version)
    return Error{
        ErrorKind::device,
        fmt::format("{} is NVRTC {}; einkern needs NVRTC 12.0 or newer{}. {}", library.path,
                    cuda_version_text(nvrtc->version_number),
                    missing.name.empty() ? "" : " (this one lacks " + missing.name + ")", search.remedy)};
  if (nvrtc->get_supported_architecture_count(&count) == status_success && count > 0) {
    nvrtc->architectures.resize(static_cast<std::size_t>(count));
    nvrtc->get_supported_architectures(nvrtc->architectures.data());
    std::sort(nvrtc->architectures.begin(), nvrtc->architectures.end());
  }
  return std::shared_ptr<const Nvrtc>(std::move(nvrtc));
}

Result<std::shared_ptr<const Nvrtc>> process_nvrtc() {
  static const auto* const nvrtc =
      new Result(load_nvrtc(nvrtc_search()));  // lives as long as the library that it opened
  return *nvrtc;
}

std::string compiler_version(const Nvrtc& nvrtc) {
  return fmt::format("nvrtc {} {}", cuda_version_text(nvrtc.version_number), fmt::join(common_options, " "));
}

Result<core::Artifact> compile_cuda(const Nvrtc& nvrtc, const CudaSource& source) {
  const auto start = std::chrono::steady_clock::now();
  EINKERN_TRY(const Target target, target_of(nvrtc, source));
  Program program(nvrtc);
  const NvrtcStatus status = program.compile(source, options_of(nvrtc, source, target));
  core::Artifact artifact;
  artifact.log = program.log();
  if (status != status_success) return failure(nvrtc, status, artifact.log, source);
  auto code = program.code(target.format);
  if (!code)
    return Error{ErrorKind::device,
                 fmt::format("NVRTC ({}) compiled the source and gave no code.", nvrtc.path)};
  artifact.format = target.format;
  artifact.code = std::move(*code);
  artifact.entries = parse_resources(artifact.log);
  artifact.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return artifact;
}

}  // namespace einkern::runtime::cuda
