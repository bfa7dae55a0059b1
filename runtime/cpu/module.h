// Machine code in memory: one object file linked into the process by LLVM's ORC.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/artifact.h"
#include "core/result.h"
#include "runtime/device.h"

namespace einkern::runtime::cpu {

/// The form of every CPU entry; see core::CpuStep.
using Entry = void (*)(const std::uint64_t* arguments, std::int64_t begin, std::int64_t end, void* scratch);

/// Owns the code of one artifact; its entries are valid as long as it lives.
class CpuModule final : public Module {
 public:
  /// Links an artifact of format `object`. The code sees only `support_symbols()`. A damaged object, one for
  /// another architecture, or a symbol that is not on the list, is an error.
  static core::Result<std::shared_ptr<const CpuModule>> load(const core::Artifact& artifact);
  ~CpuModule() override;

  const std::map<std::string, core::EntryResources>& entries() const override { return entries_; }
  /// Null if the module has no such entry.
  Entry find(std::string_view entry) const;

 private:
  struct Linker;
  CpuModule(std::unique_ptr<Linker> linker, std::map<std::string, core::EntryResources> entries);
  std::unique_ptr<Linker> linker_;
  std::map<std::string, core::EntryResources> entries_;
};

}  // namespace einkern::runtime::cpu
