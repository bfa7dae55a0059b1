// What a compiler gives back for one source, and what the kernel cache keeps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace einkern::core {

enum class CodeFormat { cubin, ptx, object };  // object: a relocatable ELF for ORC

/// Resources of one entry as the compiler reported them (0 on a CPU).
struct EntryResources {
  int registers = 0;
  int stack_bytes = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  std::int64_t shared_bytes = 0;  // static
};

struct Artifact {
  CodeFormat format = CodeFormat::cubin;
  std::string code;                               // bytes
  std::map<std::string, EntryResources> entries;  // by entry name
  std::string log;                                // the compiler's warnings and notes
  double compile_seconds = 0;
};

}  // namespace einkern::core
