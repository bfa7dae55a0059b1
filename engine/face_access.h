// What stands behind the classes of the face, for the files of engine alone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "codegen/plan/plan.h"
#include "dsl/element_checks.h"
#include "dsl/program.h"
#include "einkern/einkern.hpp"
#include "engine/call.h"
#include "engine/prepared_call.h"
#include "runtime/device.h"
#include "runtime/kernel_builder.h"

namespace einkern::detail {

struct DeviceHandle {
  std::shared_ptr<runtime::Device> device;
};

/// Memory of tensors: owned (freed with the last tensor), or somebody else's.
struct Storage {
  Device device;
  std::shared_ptr<runtime::Device> runtime;
  runtime::Address address = 0;
  bool owned = true;
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (owned) runtime->free(address);
  }
};

struct ProgramState {
  dsl::Program program;
  std::string warnings;
};

/// A function for one choice of types on one device, with its prepared calls.
struct FunctionState {
  Program program;
  std::string name;
  dsl::TypeBinding types;
  Device device;
  /// Instances by element types, each with its prepared calls; guarded by `mutex`.
  struct Instance {
    explicit Instance(std::shared_ptr<const dsl::Function> of);
    std::shared_ptr<const dsl::Function> function;
    std::vector<codegen::Plan> plans;
    std::shared_mutex mutex;
    std::map<std::string, std::shared_ptr<const engine::PreparedCall>, std::less<>>
        prepared;                              // by layout_key; guarded by `mutex`, as is what follows
    std::optional<dsl::ElementChecks> checks;  // once EINKERN_CHECK asks for them, if there are any
    std::shared_ptr<Instance> checking;        // their function
  };
  std::mutex mutex;
  std::map<dsl::TypeBinding, std::shared_ptr<Instance>> instances;
};

struct Access {
  static std::shared_ptr<runtime::Device> runtime(const Device& device);
  static Device wrap(std::shared_ptr<runtime::Device> device);
  static engine::TensorPlace place(const Tensor& tensor);
  static Tensor allocate(const Shape& shape, DType dtype, const Device& device);
  static const dsl::Program& program(const Program& program) { return program.state_->program; }
  static const std::shared_ptr<FunctionState>& state(const Function& function) { return function.state_; }
};

/// Throws the exception that stands for an error.
[[noreturn]] void raise(const core::Error& error);

template <typename T>
T unwrap(core::Result<T> result) {
  if (!result.ok()) raise(result.error());
  return std::move(result).value();
}
inline void unwrap(const core::Result<void>& result) {
  if (!result.ok()) raise(result.error());
}

/// The process's compiler of kernels, with the disk cache behind it.
runtime::KernelBuilder& process_builder();

}  // namespace einkern::detail
