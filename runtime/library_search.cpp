#include "runtime/library_search.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

namespace einkern::runtime {
namespace {

namespace fs = std::filesystem;

std::string path_of(void* handle, std::string_view fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0')
    return map->l_name;
  return std::string(fallback);
}

/// Names of a folder's entries in descending order (newer versions first), none if it cannot be read.
std::vector<std::string> entries_of(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

/// Opens what a library beside it would open by soname later: the loader then finds it already loaded.
void open_companions(const LibrarySearch& search, const std::string& path) {
  if (search.companion_prefix.empty()) return;
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string& name : entries_of(folder, search.companion_prefix))
    dlopen((folder / name).c_str(), RTLD_LAZY | RTLD_LOCAL);
}

class Attempts {
 public:
  explicit Attempts(const LibrarySearch& search) : search_(search) {}

  std::optional<FoundLibrary> open(const std::string& path) {
    dlerror();
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      FoundLibrary found{handle, path_of(handle, path)};
      open_companions(search_, found.path);
      return found;
    }
    const char* reason = dlerror();
    tried_ += fmt::format("\n  {}", reason != nullptr ? reason : path.c_str());
    return std::nullopt;
  }

  core::Error error() const {
    return {core::ErrorKind::device,
            fmt::format("{} could not be loaded. Tried:{}\n{}", search_.name, tried_, search_.remedy)};
  }

 private:
  const LibrarySearch& search_;
  std::string tried_;
};

/// What a variable names: the file itself, or each of the sonames in that folder.
std::vector<std::string> named_files(const std::string& value, const std::vector<std::string>& names) {
  std::error_code failure;
  if (!fs::is_directory(value, failure)) return {value};
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back((fs::path(value) / name).string());
  return files;
}

/// Where pip puts NVIDIA's wheels under a Python prefix: nvidia/cu13/lib since CUDA 13, nvidia/cuda_nvrtc/lib
/// before.
void add_wheel_folders(const std::string& prefix, std::vector<std::string>& folders) {
  if (prefix.empty()) return;
  const fs::path libraries = fs::path(prefix) / "lib";
  for (const std::string& python : entries_of(libraries, "python3"))
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}) {
        const fs::path folder = libraries / python / packages / wheel;
        std::error_code failure;
        if (fs::is_directory(folder, failure)) folders.push_back(folder.string());
      }
}

}  // namespace

std::string process_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr ? value : "";
}

core::Result<FoundLibrary> open_library(const LibrarySearch& search) {
  Attempts attempts(search);
  if (search.explicit_paths.empty()) {
    for (const std::string& name : search.names)
      if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD))
        return FoundLibrary{handle, path_of(handle, name)};
    for (const std::string& name : search.names)
      if (auto found = attempts.open(name)) return *found;
    for (const std::string& folder : search.folders)
      for (const std::string& name : search.names)
        if (auto found = attempts.open((fs::path(folder) / name).string())) return *found;
  }
  for (const std::string& path : search.explicit_paths)
    if (auto found = attempts.open(path)) return *found;
  return attempts.error();
}

LibrarySearch nvrtc_search(const Environment& environment) {
  LibrarySearch search;
  search.name = "NVRTC, the compiler for NVIDIA GPUs (libnvrtc),";
  search.names = {"libnvrtc.so.13", "libnvrtc.so.12"};
  search.companion_prefix = "libnvrtc-builtins.so.";
  search.remedy =
      "Install it from CUDA 12 or 13 (`pip install nvidia-cuda-nvrtc`, or the package cuda-nvrtc-13-0 of "
      "NVIDIA's "
      "repository), or set EINKERN_NVRTC to the path of libnvrtc.so.";
  if (const std::string named = environment("EINKERN_NVRTC"); !named.empty())
    search.explicit_paths = named_files(named, search.names);
  std::vector<std::string> toolkits = {environment("CUDA_HOME"), environment("CUDA_PATH"), "/usr/local/cuda"};
  for (const std::string& toolkit : toolkits)
    for (const char* folder : {"lib64", "lib"})
      if (!toolkit.empty()) search.folders.push_back((fs::path(toolkit) / folder).string());
  const std::string home = environment("HOME");
  for (const std::string& prefix :
       {environment("VIRTUAL_ENV"), environment("CONDA_PREFIX"), home.empty() ? home : home + "/.local",
        std::string("/usr/local"), std::string("/usr")})
    add_wheel_folders(prefix, search.folders);
  return search;
}

LibrarySearch driver_search() {
  LibrarySearch search;
  search.name = "The NVIDIA driver (libcuda)";
  search.names = {"libcuda.so.1"};
  search.folders = {"/usr/lib/wsl/lib"};  // Windows' driver, as its Linux guests see it
  search.remedy =
      "Install NVIDIA's driver, version 525 or newer, or use the CPU. In a container, start it with the GPUs "
      "(`docker run --gpus all`).";
  return search;
}

}  // namespace einkern::runtime
