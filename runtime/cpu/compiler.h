// LLVM IR text to machine code, through LLVM's C API.
#pragma once

#include <string>
#include <string_view>

#include "core/artifact.h"
#include "core/device_facts.h"
#include "core/result.h"

namespace einkern::runtime::cpu {

/// Compiles LLVM IR text for `target` (its `architecture` and `features`) to a relocatable object with one
/// entry for each function that the text defines and exports. Text that does not parse or verify is an
/// internal error that quotes LLVM's message. Safe from many threads at once.
core::Result<core::Artifact> compile_object(std::string_view ir, const core::DeviceFacts& target);

/// The assembly that `compile_object` would put into the object.
core::Result<std::string> compile_assembly(std::string_view ir, const core::DeviceFacts& target);

/// The LLVM IR after the passes, as text.
core::Result<std::string> optimise_ir(std::string_view ir, const core::DeviceFacts& target);

/// LLVM's version and the passes that run, for the keys of caches.
std::string compiler_version();

}  // namespace einkern::runtime::cpu
