// Filling a table of function pointers from a library.
#pragma once

#include <dlfcn.h>

#include <string>

namespace einkern::runtime::cuda {

/// A symbol that a library lacks, and the CUDA version that brought it (12000 for 12.0).
struct MissingSymbol {
  std::string name;
  int since = 0;
};

/// Looks `symbol` up; notes the newest of the symbols that are missing.
template <typename Function>
void look_up(void* library, const char* symbol, int since, Function*& function, MissingSymbol& missing) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr && since >= missing.since) missing = {symbol, since};
}

}  // namespace einkern::runtime::cuda
