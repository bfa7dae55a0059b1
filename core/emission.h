// What a schedule emits: source text with everything needed to compile and launch it.
#pragma once

#include <string>
#include <vector>

#include "core/launch_plan.h"

namespace einkern::core {

enum class SourceLanguage { cuda, llvm_ir };

struct Emission {
  SourceLanguage language = SourceLanguage::cuda;
  std::string source;                // CUDA C++ text, or LLVM IR text
  std::vector<std::string> entries;  // extern "C" names
  std::vector<std::string> options;  // further compiler options, beyond the runtime's own
  LaunchPlan launch;
};

}  // namespace einkern::core
