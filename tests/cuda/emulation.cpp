#include "tests/cuda/emulation.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "codegen/cuda/prelude.h"

namespace einkern::testing {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Pieces with PTX make way for the portable piece of the same name, or for emulated_cuda.h's function.
std::string without_ptx(std::string text) {
  const auto& pieces = codegen::cuda::prelude_pieces();
  for (const codegen::cuda::PreludePiece& piece : pieces) {
    if (piece.text.find("asm") == std::string_view::npos) continue;
    std::string_view portable;
    for (const codegen::cuda::PreludePiece& other : pieces)
      if (other.name == piece.name && other.text.find("asm") == std::string_view::npos) portable = other.text;
    replace_all(text, piece.text, portable);
  }
  replace_all(text, "extern __shared__ __align__(16) unsigned char shared[];",
              "unsigned char* const shared = emulation::dynamic_shared;");
  return text;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "einkern_emulation_XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

bool can_emulate() { return access(EINKERN_TEST_COMPILER, X_OK) == 0; }

std::size_t EmulatedModule::add(const core::Emission& emission) {
  emissions_.push_back(emission);
  return emissions_.size() - 1;
}

std::string EmulatedModule::source() const {
  std::string text = "#include \"tests/cuda/emulated_cuda.h\"\n";
  std::set<std::string> seen;  // the same kernel may have been added for several calls
  for (std::size_t i = 0; i < emissions_.size(); ++i) {
    const core::Emission& emission = emissions_[i];
    if (!seen.insert(emission.entries.front()).second) continue;
    text += fmt::format("\nnamespace emission_{} {{\n{}\n}}\n", i, without_ptx(emission.source));
    for (const std::string& entry : emission.entries)
      text += fmt::format(
          "extern \"C\" void run_{0}(const unsigned* grid, unsigned threads, void* const* arguments) {{\n"
          "  emulation::launch(&emission_{1}::{0}, grid, threads, arguments);\n}}\n",
          entry, i);
  }
  return text;
}

core::Result<void> EmulatedModule::build() {
  const TemporaryFolder folder;
  const fs::path source_path = folder.path() / "kernels.cpp", library_path = folder.path() / "kernels.so";
  const fs::path log_path = folder.path() / "log";
  std::ofstream(source_path, std::ios::binary) << source();
  const std::string command = fmt::format(
      "'{}' -std=c++20 -O0 -w -shared -fPIC -ffp-contract=off -fno-strict-aliasing -fwrapv -I'{}/..' '{}' -o "
      "'{}' > '{}' 2>&1",
      EINKERN_TEST_COMPILER, EINKERN_TEST_DIR, source_path.string(), library_path.string(),
      log_path.string());
  if (std::system(command.c_str()) != 0)
    return core::Error{core::ErrorKind::compile, read_file(log_path) + source()};
  void* handle = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return core::Error{core::ErrorKind::compile, dlerror()};
  library_ = std::shared_ptr<void>(handle, [](void* h) { dlclose(h); });
  return {};
}

core::Result<void> EmulatedModule::launch(std::size_t emission, const core::SymbolValues& symbols,
                                          const std::vector<runtime::Address>& buffers,
                                          const std::vector<std::uint64_t>& scalars) const {
  return launch(emissions_[emission].launch, symbols, buffers, scalars);
}

core::Result<void> EmulatedModule::launch(const core::LaunchPlan& plan, const core::SymbolValues& symbols,
                                          const std::vector<runtime::Address>& buffers,
                                          const std::vector<std::uint64_t>& scalars) const {
  EINKERN_TRY(const runtime::ResolvedPlan resolved, runtime::resolve(plan, symbols));
  std::vector<unsigned char> workspace(static_cast<std::size_t>(resolved.workspace_bytes) + 256, 0xcd);
  void* aligned = workspace.data();
  std::size_t space = workspace.size();
  std::align(256, static_cast<std::size_t>(resolved.workspace_bytes), aligned, space);
  const auto base = reinterpret_cast<runtime::Address>(aligned);
  const runtime::LaunchArguments arguments{buffers, scalars, {}};
  for (const runtime::ResolvedStep& step : resolved.steps) {
    const auto* kernel = std::get_if<runtime::ResolvedKernel>(&step);
    if (kernel == nullptr) return core::Error{core::ErrorKind::internal, "only kernel steps are emulated"};
    using Run = void (*)(const unsigned*, unsigned, void* const*);
    const auto run = reinterpret_cast<Run>(dlsym(library_.get(), ("run_" + kernel->entry).c_str()));
    if (run == nullptr) return core::Error{core::ErrorKind::internal, "no kernel " + kernel->entry};
    std::vector<std::uint64_t> words = kernel->arguments.words;
    resolved.patch(kernel->arguments, arguments, base, words.data());
    std::vector<void*> pointers;
    for (const int start : kernel->arguments.starts) pointers.push_back(words.data() + start);
    unsigned grid[3];
    for (std::size_t d = 0; d < 3; ++d) grid[d] = static_cast<unsigned>(kernel->grid[d]);
    run(grid, static_cast<unsigned>(kernel->block[0]), pointers.data());
  }
  return {};
}

}  // namespace einkern::testing
