// What to say when einkern itself fails: the program, the sizes and the command that show it again.
#pragma once

#include "codegen/schedule.h"
#include "core/result.h"
#include "engine/call.h"
#include "engine/kernel_choice.h"

namespace einkern::engine {

/// A failure to emit or compile a kernel of a checked program. Nothing that a caller can do brings it about,
/// so errors of kind compile and internal become internal ones that carry a runnable repro; others, such as a
/// missing compiler, stay as they are.
core::Error with_repro(const core::Error& error, const codegen::KernelContext& context,
                       const KernelChoice& choice, const Call& call);

}  // namespace einkern::engine
