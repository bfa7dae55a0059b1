// Machine code in memory: one object file linked into the process by LLVM's ORC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/artifact.h"
#include "core/result.h"

namespace einkern::runtime::cpu {

/// The form of every CPU entry; see core::CpuStep.
using Entry = void (*)(const std::uint64_t* arguments, std::int64_t begin, std::int64_t end, void* scratch);

/// Owns the code of one artifact; its entries are valid as long as it lives. Movable; lookups are safe from
/// many threads.
class Module {
 public:
  /// Links an artifact of format `object`. The code sees only `support_symbols()`. A damaged object, one for
  /// another architecture, or a symbol that is not on the list, is an error.
  static core::Result<Module> load(const core::Artifact& artifact);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  /// An error names the entry that is missing.
  core::Result<Entry> find(std::string_view entry) const;

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace einkern::runtime::cpu
