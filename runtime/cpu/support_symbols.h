// What compiled kernels may call: a fixed list, never whatever the process happens to hold.
#pragma once

#include <span>
#include <string_view>

namespace einkern::runtime::cpu {

struct SupportSymbol {
  const char* name;
  void* address;
};

/// Functions of the C mathematics library that emitters call or LLVM lowers intrinsics to, the memory
/// functions that LLVM recognises in loops, and conversions of halves for CPUs without instructions for them.
std::span<const SupportSymbol> support_symbols();

}  // namespace einkern::runtime::cpu
