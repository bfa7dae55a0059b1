#include "runtime/cpu/module.h"

#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include <map>
#include <mutex>
#include <vector>

#include "runtime/cpu/support_symbols.h"

namespace einkern::runtime::cpu {
namespace {

core::Error link_error(const std::string& message) {
  return {
      core::ErrorKind::device,
      fmt::format(
          "A compiled CPU kernel could not be loaded: {}. If it came from the cache, `einkern cache prune` "
          "removes it.",
          message)};
}

std::string take_message(LLVMErrorRef error) {
  char* text = LLVMGetErrorMessage(error);
  std::string message = text;
  LLVMDisposeErrorMessage(text);
  return message;
}

/// LLVM reports a failed link both to this and to the lookup; the lookup's copy is the one that is returned.
void keep_reason(void* reasons, LLVMErrorRef error) {
  std::string& text = *static_cast<std::string*>(reasons);
  text += (text.empty() ? "" : "; ") + take_message(error);
}

struct Lookup {
  LLVMOrcExecutorAddress address = 0;
  std::string error;
};

void finish_lookup(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, std::size_t count, void* context) {
  auto& lookup = *static_cast<Lookup*>(context);
  if (error != nullptr)
    lookup.error = take_message(error);
  else if (count == 1)
    lookup.address = result[0].Sym.Address;
}

}  // namespace

struct CpuModule::Linker {
  LLVMOrcLLJITRef jit = nullptr;
  LLVMOrcJITDylibRef library = nullptr;
  std::string reasons;
  std::map<std::string, Entry, std::less<>> addresses;

  ~Linker() {
    if (jit != nullptr)
      if (LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit)) LLVMConsumeError(error);
  }

  core::Result<void> define_support() {
    std::vector<LLVMOrcCSymbolMapPair> pairs;
    for (const SupportSymbol& symbol : support_symbols()) {
      LLVMJITSymbolFlags flags{LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
      pairs.push_back({LLVMOrcLLJITMangleAndIntern(jit, symbol.name),
                       {reinterpret_cast<LLVMOrcExecutorAddress>(symbol.address), flags}});
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs.data(), pairs.size());
    if (LLVMErrorRef error = LLVMOrcJITDylibDefine(library, unit)) {
      LLVMOrcDisposeMaterializationUnit(unit);
      return link_error(take_message(error));
    }
    return {};
  }

  core::Result<Entry> look_up(const std::string& name) {
    LLVMOrcCJITDylibSearchOrderElement order{library, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcCLookupSetElement element{LLVMOrcLLJITMangleAndIntern(jit, name.c_str()),
                                     LLVMOrcSymbolLookupFlagsRequiredSymbol};
    Lookup lookup;
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(jit), LLVMOrcLookupKindStatic, &order, 1,
                                  &element, 1, finish_lookup, &lookup);
    if (lookup.address == 0) return link_error(reasons.empty() ? lookup.error : reasons);
    return reinterpret_cast<Entry>(lookup.address);
  }
};

CpuModule::CpuModule(std::unique_ptr<Linker> linker, std::map<std::string, core::EntryResources> entries)
    : linker_(std::move(linker)), entries_(std::move(entries)) {}
CpuModule::~CpuModule() = default;

core::Result<std::shared_ptr<const CpuModule>> CpuModule::load(const core::Artifact& artifact) {
  if (artifact.format != core::CodeFormat::object)
    return link_error("it is not an object file but code for another kind of device");
  static std::once_flag once;
  std::call_once(once, [] { LLVMInitializeNativeTarget(), LLVMInitializeNativeAsmPrinter(); });

  auto linker = std::make_unique<Linker>();
  if (LLVMErrorRef error = LLVMOrcCreateLLJIT(&linker->jit, nullptr)) return link_error(take_message(error));
  LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(linker->jit);
  LLVMOrcExecutionSessionSetErrorReporter(session, keep_reason, &linker->reasons);
  // LLJIT's own library would search the whole process; a bare one holds what is put into it.
  linker->library = LLVMOrcExecutionSessionCreateBareJITDylib(session, "einkern");
  EINKERN_CHECK_OK(linker->define_support());
  LLVMMemoryBufferRef object =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(artifact.code.data(), artifact.code.size(), "kernel.o");
  if (LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(linker->jit, linker->library, object))
    return link_error(take_message(error));
  for (const auto& [name, resources] : artifact.entries) {
    EINKERN_TRY(Entry entry, linker->look_up(name));
    linker->addresses[name] = entry;
  }
  return std::shared_ptr<const CpuModule>(new CpuModule(std::move(linker), artifact.entries));
}

Entry CpuModule::find(std::string_view entry) const {
  auto found = linker_->addresses.find(entry);
  return found == linker_->addresses.end() ? nullptr : found->second;
}

}  // namespace einkern::runtime::cpu
