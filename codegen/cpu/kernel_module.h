// One emission for the CPU: entries whose argument lists and launch arguments come from one description.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cpu/ir_writer.h"
#include "codegen/schedule.h"

namespace einkern::codegen::cpu {

/// The IR type in which values of a compute type are held (bool: i1).
IrType compute_ir_type(DType compute);
/// The IR type of a stored element (bool: i8, bf16: i16, f8: i8).
IrType storage_ir_type(DType dtype);

/// How an entry is run; see core::CpuStep.
struct LoopShape {
  core::SizeExpression tasks = 1, grain = 1, scratch_bytes = 0;
};

/// The function being written for one CpuStep. An argument comes to be, at the head of the function, when the
/// body first asks for it.
class EntryFrame {
 public:
  IrWriter& writer() { return writer_; }
  const KernelContext& context() const { return context_; }
  const dsl::Function& graph() const { return *context_.plan.graph; }
  const TensorLayout& layout(TensorId tensor) const {
    return context_.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
  }

  /// First and past-the-end task, and the thread's scratch memory.
  const IrValue& begin() const { return begin_; }
  const IrValue& end() const { return end_; }
  const IrValue& scratch() const { return scratch_; }

  /// Pointer to a tensor's first element.
  IrValue tensor(TensorId tensor);
  /// True if the kernel does not write the tensor, so that its elements stay the same while an entry runs.
  bool is_constant(TensorId tensor) const;
  /// Distance in elements between neighbours along a dimension (i64).
  IrValue stride(TensorId tensor, int dimension);
  /// Number of elements along a dimension (i64).
  IrValue extent(TensorId tensor, int dimension);
  /// Value of a size (i64): a literal if constant, else an argument.
  IrValue size(const core::SizeExpression& size, std::string_view name);
  IrValue dim(dsl::DimId dim);
  /// A scalar argument's bits, in its storage form.
  IrValue scalar(dsl::ScalarId scalar);
  /// Pointer to a buffer of the launch's own, named for the kernel, that its steps share.
  IrValue buffer(std::string_view name, DType dtype, const core::SizeExpression& bytes);

 private:
  friend class KernelModule;
  EntryFrame(const KernelContext& context, IrWriter& writer, core::LaunchPlan& launch)
      : context_(context), writer_(writer), launch_(launch) {}
  IrValue argument(const std::string& key, IrType type, std::string_view name, core::Argument argument);
  int buffer_index(core::BufferSpec spec);

  const KernelContext& context_;
  IrWriter& writer_;
  core::LaunchPlan& launch_;
  IrValue arguments_, begin_, end_, scratch_;
  std::map<std::string, IrValue, std::less<>> known_;
  std::vector<core::Argument> list_;
};

/// Text and launch plan of one kernel.
class KernelModule {
 public:
  KernelModule(const KernelContext& context, const Schedule& schedule, const Configuration& configuration);

  /// Writes the entry `<kernel's entry name><suffix>` and appends its step. Steps run in the order of these
  /// calls.
  void entry(std::string_view suffix, const LoopShape& shape, const std::function<void(EntryFrame&)>& body);
  core::Emission finish();

 private:
  const KernelContext& context_;
  std::string base_name_, head_;
  IrWriter writer_;
  core::Emission emission_;
};

/// An i64 expression over dims as a size, baked dims put in; nullopt if it is none.
std::optional<core::SizeExpression> size_of(const KernelContext& context, ExpressionId over_dims);
/// The number of values of an axis whose bounds are over dims (never negative), else nullopt.
std::optional<core::SizeExpression> extent_size(const KernelContext& context, AxisId axis);

}  // namespace einkern::codegen::cpu
