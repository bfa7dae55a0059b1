// libnvrtc, opened at run time: CUDA C++ text to machine code. Needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/result.h"
#include "runtime/library_search.h"

namespace einkern::runtime::cuda {

using ProgramHandle = struct ProgramTag*;  // nvrtcProgram
using NvrtcStatus = int;                   // nvrtcResult

/// The functions of a loaded NVRTC, by the names of nvrtc_functions.def, and what it says of itself.
struct Nvrtc {
#define F(member, symbol, since, parameters) NvrtcStatus(*member) parameters = nullptr;
#include "runtime/cuda/nvrtc_functions.def"
#undef F
  std::string path;
  int version_number = 0;          // 12090 for 12.9
  std::vector<int> architectures;  // compute capabilities it makes code for, ascending: 75, 80, …
};

core::Result<std::shared_ptr<const Nvrtc>> load_nvrtc(const LibrarySearch& search);

/// The process's NVRTC, found at the first call (`nvrtc_search`); the same error again where there is none.
core::Result<std::shared_ptr<const Nvrtc>> process_nvrtc();

/// For keys of caches: the version and the options that every compile gets, "nvrtc 13.0 --fmad=false …".
std::string compiler_version(const Nvrtc& nvrtc);

struct CudaSource {
  std::string text;
  std::string name = "kernel.cu";    // in messages
  std::string architecture;          // "sm_90a"
  std::vector<std::string> options;  // beyond those of every compile; a later option wins
  bool ptx_only = false;             // PTX text although NVRTC could make a cubin
  bool bare = false;                 // only the architecture and `options`: somebody else's source
};

/// Compiles to a cubin for exactly `architecture`. Where this NVRTC does not know it, to the newest PTX that
/// it knows and that the device can run, with one warning. The artifact has the resources of the log and the
/// log itself. Errors: of kind compile with the lines of the source; of kind device where NVRTC is incomplete
/// or the architecture too old for it. Safe from many threads at once.
core::Result<core::Artifact> compile_cuda(const Nvrtc& nvrtc, const CudaSource& source);

}  // namespace einkern::runtime::cuda
