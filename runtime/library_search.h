// Finding a shared library that may be in many places, and saying where it was looked for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace einkern::runtime {

/// Reads environment variables; "" where one is not set. Tests give their own.
using Environment = std::function<std::string(std::string_view name)>;
std::string process_environment(std::string_view name);

struct LibrarySearch {
  std::string name;                         // for people: "NVRTC"
  std::vector<std::string> names;           // sonames, the preferred one first
  std::vector<std::string> explicit_paths;  // what a variable named: if there is one, nothing else is tried
  std::vector<std::string> folders;         // looked through after the loader's own search
  std::string companion_prefix;             // files beside it that it opens itself: "libnvrtc-builtins.so."
  std::string remedy;                       // what to do when there is none
};

struct FoundLibrary {
  void* handle = nullptr;  // of dlopen, kept open for the life of the process
  std::string path;
};

/// Opens the first library that loads: one already in the process, the explicit path, the loader's own search
/// by soname, then the folders. The companion beside it is loaded too, since it may be found in no other way.
/// The error, of kind device, lists what was tried with the loader's reasons, then the remedy.
core::Result<FoundLibrary> open_library(const LibrarySearch& search);

/// libnvrtc: EINKERN_NVRTC (a file, or a folder that holds it), sonames 13 then 12, CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda, and the folders in which pip's wheels put it (of VIRTUAL_ENV, CONDA_PREFIX, HOME,
/// /usr/local, /usr).
LibrarySearch nvrtc_search(const Environment& environment = process_environment);
/// libcuda: the driver's own library, which is nowhere but on the loader's path.
LibrarySearch driver_search();

}  // namespace einkern::runtime
