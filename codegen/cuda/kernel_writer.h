// Writes one CUDA file: kernels whose signatures and launch arguments come from one description.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/c_types.h"
#include "codegen/cuda/prelude.h"
#include "codegen/cuda/text_writer.h"
#include "codegen/schedule.h"

namespace einkern::codegen::cuda {

class ModuleWriter;

/// How a kernel is launched. Threads of a block are a plain number: they stand in __launch_bounds__.
struct LaunchShape {
  std::array<core::SizeExpression, 3> grid = {1, 1, 1};
  int threads = 256;
  int least_blocks = 0;  // resident blocks an SM that __launch_bounds__ asks for; 0: says nothing
  core::SizeExpression shared_bytes = 0;
  bool cooperative = false;
  int cluster = 1;  // neighbours along the grid's first dimension that share a cluster
};

/// One kernel: the body's text and its parameters. A parameter comes to be when the body first asks for its
/// name, and brings its launch argument along, so that the two cannot differ.
class KernelWriter {
 public:
  TextWriter& body() { return body_; }
  NameTable& names() { return names_; }
  const KernelContext& context() const;
  const dsl::Function& graph() const { return *context().plan.graph; }
  Arithmetic arithmetic() const;
  /// "int" where the specialisation proves 32 bits enough, else "long long".
  std::string_view index_type() const;
  bool narrow() const { return context().specialisation.index_bits == 32; }

  /// Pointer to a tensor's elements, of its storage type; const where this kernel only reads
  /// it; __restrict__ in kernels that read nothing of what they write.
  std::string tensor(dsl::TensorId id);
  /// Pointer to a buffer of the launch's own, named for the kernel; `bytes` are allocated by the runtime.
  std::string scratch(std::string_view name, DType dtype, const core::SizeExpression& bytes, bool written);
  /// The copy engine's map of a tensor, which `argument` makes, given the number of the tensor's buffer. One
  /// tensor may have several maps, each with a role of its own.
  std::string tensor_map(std::string_view role, dsl::TensorId id,
                         const std::function<core::TensorMapArgument(int)>& argument);
  /// The same of a buffer of the launch's own: see scratch().
  std::string scratch_map(std::string_view name, DType dtype, const core::SizeExpression& bytes,
                          const std::function<core::TensorMapArgument(int)>& argument);
  /// A number that the launch passes: changing it needs no other code.
  std::string launch_constant(std::string_view name, std::int64_t value);
  /// Value of an i64 expression over dims: a literal if constant or baked, else a parameter of the index
  /// type.
  std::string extent(ExpressionId over_dims);
  std::string extent(const core::SizeExpression& size, std::string_view name);
  /// The same for a divisor: an `ek_divisor` parameter for ek_quotient and ek_remainder; only in narrow
  /// kernels.
  std::string divisor(const core::SizeExpression& size, std::string_view name);
  /// Stride in elements of one dimension; "1" along the unit axis. Only for tensors that are not dense.
  std::string stride(dsl::TensorId id, int dimension);
  /// The scalar parameter, in its compute type (a storage type is converted).
  std::string scalar(dsl::ScalarId id);
  /// `constexpr int k_<name> = value;` at the top of the body, once a name.
  std::string constant(std::string_view name, std::int64_t value);

  /// An i64 expression over dims as a size, baked dims put in; nullopt if it is none.
  std::optional<core::SizeExpression> size(ExpressionId over_dims) const;
  /// high - low of an axis, where both are over dims.
  std::optional<core::SizeExpression> axis_size(AxisId axis) const;
  core::SizeExpression tensor_dimension(dsl::TensorId id, int dimension) const;

 private:
  friend class ModuleWriter;
  KernelWriter(ModuleWriter& module, std::string entry) : module_(module), entry_(std::move(entry)) {}

  struct Parameter {
    std::string declaration;
    core::Argument argument;
  };
  int scratch_buffer(std::string_view name, DType dtype, const core::SizeExpression& bytes);
  std::string parameter(const std::string& key, std::string_view prefix, std::string_view name,
                        std::string_view type, core::Argument argument);

  ModuleWriter& module_;
  std::string entry_;
  NameTable names_;
  TextWriter body_{names_};
  std::map<std::string, std::string, std::less<>> known_;  // what was asked for → its name
  std::vector<Parameter> parameters_;
  std::vector<std::string> constants_;
};

/// One source text with its kernels and launch plan. Kernels are launched in the order in which they are
/// finished.
class ModuleWriter {
 public:
  ModuleWriter(const KernelContext& context, std::string_view comment,
               Arithmetic arithmetic = Arithmetic::as_typed);

  /// Begins a kernel. The reference stays valid as long as the module.
  KernelWriter& add_kernel(std::string entry);
  /// Puts a device function before the kernels.
  void add_function(std::string_view text);
  /// Writes the kernel's text and appends its launch step.
  void finish_kernel(KernelWriter& kernel, const LaunchShape& launch);
  core::Emission finish() &&;

  const KernelContext& context() const { return context_; }
  Arithmetic arithmetic() const { return arithmetic_; }

 private:
  friend class KernelWriter;
  int buffer(const core::BufferSpec& spec);
  int scalar(const dsl::Scalar& scalar);
  core::BufferSpec tensor_buffer(dsl::TensorId id) const;

  KernelContext context_;
  Arithmetic arithmetic_;
  std::string comment_;
  std::string functions_text_, kernels_text_;
  std::vector<std::unique_ptr<KernelWriter>> kernels_;
  core::Emission emission_;
};

}  // namespace einkern::codegen::cuda
