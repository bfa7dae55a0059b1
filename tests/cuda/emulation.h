// Emitted CUDA text run on the host: see emulated_cuda.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/emission.h"
#include "core/result.h"
#include "runtime/resolved_plan.h"

namespace einkern::testing {

/// Emissions compiled together by the host's C++ compiler: one start of it for many kernels.
class EmulatedModule {
 public:
  /// Gives an index for `launch`. Only before `build`.
  std::size_t add(const core::Emission& emission);
  /// Compiles and loads. An error holds the compiler's words.
  core::Result<void> build();
  /// Runs all steps of an emission. Addresses are the host's.
  core::Result<void> launch(std::size_t emission, const core::SymbolValues& symbols,
                            const std::vector<runtime::Address>& buffers,
                            const std::vector<std::uint64_t>& scalars) const;
  /// The same for a plan made of several added emissions.
  core::Result<void> launch(const core::LaunchPlan& plan, const core::SymbolValues& symbols,
                            const std::vector<runtime::Address>& buffers,
                            const std::vector<std::uint64_t>& scalars) const;
  const core::Emission& emission(std::size_t index) const { return emissions_[index]; }

 private:
  std::string source() const;
  std::vector<core::Emission> emissions_;
  std::shared_ptr<void> library_;
};

/// Whether there is a compiler to build with (the one that built the tests).
bool can_emulate();

}  // namespace einkern::testing
