#include "runtime/cpu/compiler.h"

#include <fmt/format.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include <chrono>
#include <memory>
#include <mutex>

namespace einkern::runtime::cpu {
namespace {

// The emitters write vectors, unrolled blocks and hoisted addresses themselves, so LLVM's vectorisers and
// unroller would only cost time; what is left to do is cleaning up after the text.
constexpr const char* pass_pipeline = "default<O2>";

template <auto dispose>
struct Disposer {
  template <typename T>
  void operator()(T* object) const {
    dispose(object);
  }
};
using Context = std::unique_ptr<LLVMOpaqueContext, Disposer<LLVMContextDispose>>;
using Module = std::unique_ptr<LLVMOpaqueModule, Disposer<LLVMDisposeModule>>;
using Machine = std::unique_ptr<LLVMOpaqueTargetMachine, Disposer<LLVMDisposeTargetMachine>>;
using Options = std::unique_ptr<LLVMOpaquePassBuilderOptions, Disposer<LLVMDisposePassBuilderOptions>>;
using MemoryBuffer = std::unique_ptr<LLVMOpaqueMemoryBuffer, Disposer<LLVMDisposeMemoryBuffer>>;

std::string take_message(char* message) {
  std::string text = message != nullptr ? message : "no message";
  LLVMDisposeMessage(message);
  return text;
}

core::Error internal_error(std::string_view stage, const std::string& message) {
  return {core::ErrorKind::internal, fmt::format("LLVM {} does not accept the emitted kernel ({}): {}",
                                                 LLVM_VERSION_STRING, stage, message)};
}

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
  });
}

/// One source on its way through LLVM; the members are destroyed in reverse order.
struct Unit {
  Context context{LLVMContextCreate()};
  Machine machine;
  Module module;
  std::string log;
};

void collect_diagnostic(LLVMDiagnosticInfoRef info, void* log) {
  LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
  std::string text = take_message(LLVMGetDiagInfoDescription(info));
  if (severity == LLVMDSError || severity == LLVMDSWarning) *static_cast<std::string*>(log) += text + "\n";
}

core::Result<Machine> make_machine(const core::DeviceFacts& target) {
  std::string triple = take_message(LLVMGetDefaultTargetTriple());
  LLVMTargetRef description = nullptr;
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(triple.c_str(), &description, &message))
    return internal_error("target", take_message(message));
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      description, triple.c_str(), target.architecture.c_str(), target.features.c_str(),
      LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelSmall);
  if (machine == nullptr) return internal_error("target", "no target machine for " + triple);
  return Machine(machine);
}

core::Result<void> parse(std::string_view ir, Unit& unit) {
  LLVMContextSetDiagnosticHandler(unit.context.get(), collect_diagnostic, &unit.log);
  // The parser takes the buffer, whether it succeeds or not.
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir.data(), ir.size(), "kernel.ll");
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  if (LLVMParseIRInContext(unit.context.get(), buffer, &module, &message))
    return internal_error("parsing", take_message(message));
  unit.module.reset(module);
  LLVMSetModuleDataLayout(module, LLVMCreateTargetDataLayout(unit.machine.get()));
  std::unique_ptr<char, Disposer<LLVMDisposeMessage>> triple(LLVMGetTargetMachineTriple(unit.machine.get()));
  LLVMSetTarget(module, triple.get());
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
    return internal_error("verifying", take_message(message));
  LLVMDisposeMessage(message);
  return {};
}

core::Result<void> run_passes(Unit& unit) {
  Options options(LLVMCreatePassBuilderOptions());
  LLVMPassBuilderOptionsSetLoopVectorization(options.get(), 0);
  LLVMPassBuilderOptionsSetSLPVectorization(options.get(), 0);
  LLVMPassBuilderOptionsSetLoopInterleaving(options.get(), 0);
  LLVMPassBuilderOptionsSetLoopUnrolling(options.get(), 0);
  if (LLVMErrorRef error =
          LLVMRunPasses(unit.module.get(), pass_pipeline, unit.machine.get(), options.get())) {
    char* text = LLVMGetErrorMessage(error);
    std::string message = text;
    LLVMDisposeErrorMessage(text);
    return internal_error("passes", message);
  }
  return {};
}

core::Result<std::unique_ptr<Unit>> optimised_unit(std::string_view ir, const core::DeviceFacts& target) {
  initialise_llvm();
  auto unit = std::make_unique<Unit>();
  EINKERN_TRY(unit->machine, make_machine(target));
  EINKERN_CHECK_OK(parse(ir, *unit));
  EINKERN_CHECK_OK(run_passes(*unit));
  return unit;
}

core::Result<std::string> generate(Unit& unit, LLVMCodeGenFileType type) {
  LLVMMemoryBufferRef raw = nullptr;
  char* message = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(unit.machine.get(), unit.module.get(), type, &message, &raw))
    return internal_error("code generation", take_message(message));
  MemoryBuffer buffer(raw);
  if (unit.log.find("error") != std::string::npos) return internal_error("code generation", unit.log);
  return std::string(LLVMGetBufferStart(raw), LLVMGetBufferSize(raw));
}

}  // namespace

core::Result<core::Artifact> compile_object(std::string_view ir, const core::DeviceFacts& target) {
  auto start = std::chrono::steady_clock::now();
  EINKERN_TRY(std::unique_ptr<Unit> unit, optimised_unit(ir, target));
  core::Artifact artifact;
  artifact.format = core::CodeFormat::object;
  for (LLVMValueRef f = LLVMGetFirstFunction(unit->module.get()); f != nullptr; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMExternalLinkage) continue;
    std::size_t length = 0;
    const char* name = LLVMGetValueName2(f, &length);
    artifact.entries[std::string(name, length)] = {};
  }
  EINKERN_TRY(artifact.code, generate(*unit, LLVMObjectFile));
  artifact.log = unit->log;
  artifact.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return artifact;
}

core::Result<std::string> compile_assembly(std::string_view ir, const core::DeviceFacts& target) {
  EINKERN_TRY(std::unique_ptr<Unit> unit, optimised_unit(ir, target));
  return generate(*unit, LLVMAssemblyFile);
}

core::Result<std::string> optimise_ir(std::string_view ir, const core::DeviceFacts& target) {
  EINKERN_TRY(std::unique_ptr<Unit> unit, optimised_unit(ir, target));
  return take_message(LLVMPrintModuleToString(unit->module.get()));
}

std::string compiler_version() { return fmt::format("LLVM {} {}", LLVM_VERSION_STRING, pass_pipeline); }

}  // namespace einkern::runtime::cpu
