// Kernels of functions written as source text, with everything that the tuner asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "runtime/device.h"
#include "runtime/kernel_builder.h"

namespace einkern::testing {

/// One function, bound to shapes, on a device; `context` gives a kernel of its default plan.
class BoundFunction {
 public:
  /// `shapes` of the tensor parameters, in order. Aborts with the diagnostics if the source is wrong.
  BoundFunction(const std::string& source, std::vector<std::vector<std::int64_t>> shapes,
                core::DeviceFacts device, std::vector<codegen::TensorPlacement> placements = {});
  codegen::KernelContext context(std::size_t kernel = 0) const;
  const std::vector<codegen::TensorPlacement>& placements() const { return placements_; }
  std::size_t kernel_count() const { return plan_.kernels.size(); }

 private:
  std::shared_ptr<const dsl::Function> function_;
  codegen::Plan plan_;
  dsl::Binding binding_;
  codegen::Specialisation specialisation_;
  core::DeviceFacts device_;
  std::vector<codegen::TensorPlacement> placements_;
};

/// The CPU of this machine; null if einkern was built without LLVM.
std::shared_ptr<runtime::Device> cpu_device();

/// The best guess of the best suited schedule.
core::Emission first_emission(const codegen::KernelContext& context);
std::shared_ptr<const runtime::CompiledKernel> compiled(const core::Emission& emission,
                                                        const runtime::Device& device);

/// Environment variable: the folder of this program's caches and records.
inline constexpr const char* folder_variable = "EINKERN_TUNER_TEST_FOLDER";

/// A folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace einkern::testing
