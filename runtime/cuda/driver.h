// libcuda, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "runtime/cuda/driver_types.h"
#include "runtime/library_search.h"

namespace einkern::runtime::cuda {

/// The functions of a loaded and initialised driver, by the names of driver_functions.def.
struct Driver {
#define F(member, symbol, since, parameters) Status(*member) parameters = nullptr;
#include "runtime/cuda/driver_functions.def"
#undef F
  std::string path;
  int version = 0;  // as cuDriverGetVersion gives it: 12040 supports CUDA 12.4

  /// A device error: what was being done ("allocating 12 bytes"), CUDA's name and text for the status, and
  /// the remedy.
  core::Error error(Status status, std::string_view doing) const;
  /// Success, or `error(status, doing)`.
  core::Result<void> check(Status status, std::string_view doing) const {
    if (status == success) return {};
    return error(status, doing);
  }
};

/// Loads the driver and calls cuInit. Errors: no library, a driver older than CUDA 12.0, no GPU.
core::Result<std::shared_ptr<const Driver>> load_driver(const LibrarySearch& search);

/// "12.4" of 12040.
std::string cuda_version_text(int version);

/// True in a child of fork() whose parent had loaded a driver: CUDA does not work there.
bool forked_after_load();

}  // namespace einkern::runtime::cuda
