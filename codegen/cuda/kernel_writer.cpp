#include "codegen/cuda/kernel_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace einkern::codegen::cuda {

namespace {

using core::SizeExpression;

core::BufferKind buffer_kind(dsl::TensorRole role) {
  switch (role) {
    case dsl::TensorRole::input:
      return core::BufferKind::input;
    case dsl::TensorRole::inout:
      return core::BufferKind::inout;
    case dsl::TensorRole::output:
      return core::BufferKind::output;
    default:
      return core::BufferKind::scratch;
  }
}

/// On one line, and without a backslash at its end, which would swallow the next line.
std::string comment_safe(std::string_view text) {
  std::string safe;
  for (const char c : text) safe.push_back(c == '\\' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  return safe;
}

bool is_symbol(const std::string& text) {
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return !text.empty();
}

}  // namespace

const KernelContext& KernelWriter::context() const { return module_.context(); }

Arithmetic KernelWriter::arithmetic() const { return module_.arithmetic(); }

std::string_view KernelWriter::index_type() const { return narrow() ? "int" : "long long"; }

std::string KernelWriter::parameter(const std::string& key, std::string_view prefix, std::string_view name,
                                    std::string_view type, core::Argument argument) {
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const std::string unique = names_.unique_in_function(prefix, name);
  parameters_.push_back({fmt::format("{} {}", type, unique), std::move(argument)});
  return known_[key] = unique;
}

namespace {

/// A recurrence, or an update in place. NVRTC 13.0 turns `c ? h[i] : h0[i]` into one load from a chosen
/// address, and where h0 is read-only for being __restrict__ that is a load through the read-only cache
/// (ld.global.nc), which does not see what the same kernel has stored to h. So such a kernel promises nothing
/// about its pointers.
bool reads_what_it_writes(const Kernel& kernel) {
  return std::any_of(kernel.writes.begin(), kernel.writes.end(), [&](dsl::TensorId written) {
    return std::find(kernel.reads.begin(), kernel.reads.end(), written) != kernel.reads.end();
  });
}

}  // namespace

std::string KernelWriter::tensor(dsl::TensorId id) {
  const dsl::Tensor& tensor = graph()[id];
  bool written = false;
  for (const Store& store : context().kernel.stores) written = written || store.target == id;
  const std::string type = fmt::format("{}{}*{}", written ? "" : "const ", storage_type(tensor.dtype),
                                       reads_what_it_writes(context().kernel) ? "" : " __restrict__");
  return parameter(fmt::format("tensor {}", id.value), "t", tensor.name, type,
                   core::PointerArgument{module_.buffer(module_.tensor_buffer(id)), 0});
}

int KernelWriter::scratch_buffer(std::string_view name, DType dtype, const SizeExpression& bytes) {
  return module_.buffer({.name = fmt::format("{}.{}", context().kernel.name, name),
                         .kind = core::BufferKind::scratch,
                         .dtype = dtype,
                         .bytes = bytes});
}

std::string KernelWriter::scratch(std::string_view name, DType dtype, const SizeExpression& bytes,
                                  bool written) {
  const std::string type = fmt::format("{}{}* __restrict__", written ? "" : "const ", storage_type(dtype));
  return parameter(fmt::format("scratch {}", name), "t", name, type,
                   core::PointerArgument{scratch_buffer(name, dtype, bytes), 0});
}

std::string KernelWriter::scratch_map(std::string_view name, DType dtype, const SizeExpression& bytes,
                                      const std::function<core::TensorMapArgument(int)>& argument) {
  return parameter(fmt::format("scratch map {}", name), "m", name, "const __grid_constant__ ek_tensor_map",
                   argument(scratch_buffer(name, dtype, bytes)));
}

std::string KernelWriter::tensor_map(std::string_view role, dsl::TensorId id,
                                     const std::function<core::TensorMapArgument(int)>& argument) {
  return parameter(fmt::format("map {}", role), "m", graph()[id].name,
                   "const __grid_constant__ ek_tensor_map",
                   argument(module_.buffer(module_.tensor_buffer(id))));
}

std::string KernelWriter::launch_constant(std::string_view name, std::int64_t value) {
  return parameter(fmt::format("launch constant {}", name), "d", name, "int", core::SizeArgument{value, 4});
}

std::optional<SizeExpression> KernelWriter::size(ExpressionId over_dims) const {
  std::optional<SizeExpression> size = dsl::size_expression(graph(), over_dims);
  if (!size) return size;
  core::SymbolValues baked;
  for (std::size_t d = 0; d < context().specialisation.baked.size(); ++d)
    if (const auto& value = context().specialisation.baked[d]) baked[graph().dims[d].name] = *value;
  if (const auto value = size->evaluate(baked); value.ok()) return SizeExpression(*value);
  return size;
}

std::optional<SizeExpression> KernelWriter::axis_size(AxisId axis) const {
  const auto low = size(graph().arena[axis].low), high = size(graph().arena[axis].high);
  if (!low || !high) return std::nullopt;
  if (low->is_constant() && *low == SizeExpression(0)) return high;
  return *high - *low;
}

SizeExpression KernelWriter::tensor_dimension(dsl::TensorId id, int dimension) const {
  // Shapes are over dims alone, so there is always a size expression.
  return size(graph()[id].shape[static_cast<std::size_t>(dimension)]).value_or(SizeExpression(0));
}

std::string KernelWriter::extent(ExpressionId over_dims) {
  const dsl::Expression& e = graph().arena[over_dims];
  return extent(size(over_dims).value_or(SizeExpression(0)),
                e.op == dsl::Op::dim ? graph()[dsl::DimId{e.index}].name : std::string("size"));
}

std::string KernelWriter::extent(const SizeExpression& size, std::string_view name) {
  if (size.is_constant()) {
    const auto value = size.evaluate({});
    return integer_literal(narrow() ? DType::i32 : DType::i64, value.ok() ? *value : 0);
  }
  const std::string text = size.text();
  return parameter("size " + text, "d", is_symbol(text) ? text : std::string(name), index_type(),
                   core::SizeArgument{size, narrow() ? 4 : 8});
}

std::string KernelWriter::divisor(const SizeExpression& size, std::string_view name) {
  const std::string text = size.text();
  return parameter("divisor " + text, "by", is_symbol(text) ? text : std::string(name), "ek_divisor",
                   core::DivisorArgument{size});
}

std::string KernelWriter::stride(dsl::TensorId id, int dimension) {
  const TensorLayout& layout = context().specialisation.tensors[static_cast<std::size_t>(id.value)];
  if (layout.unit_axis == dimension) return "1";
  const std::string symbol = stride_symbol(graph()[id], dimension);
  return parameter("size " + symbol, "stride", fmt::format("{}_{}", graph()[id].name, dimension),
                   index_type(), core::SizeArgument{SizeExpression::symbol(symbol), narrow() ? 4 : 8});
}

std::string KernelWriter::scalar(dsl::ScalarId id) {
  const dsl::Scalar& scalar = graph()[id];
  const std::string name =
      parameter(fmt::format("scalar {}", id.value), "s", scalar.name, storage_type(scalar.dtype),
                core::ScalarArgument{module_.scalar(scalar)});
  return converted_load(scalar.dtype, name, arithmetic());
}

std::string KernelWriter::constant(std::string_view name, std::int64_t value) {
  const std::string key = fmt::format("constant {}", name);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const std::string unique = names_.unique_in_function("k", name);
  constants_.push_back(fmt::format("constexpr int {} = {};", unique, value));
  return known_[key] = unique;
}

ModuleWriter::ModuleWriter(const KernelContext& context, std::string_view comment, Arithmetic arithmetic)
    : context_(context), arithmetic_(arithmetic), comment_(comment_safe(comment)) {}

KernelWriter& ModuleWriter::add_kernel(std::string entry) {
  kernels_.push_back(std::unique_ptr<KernelWriter>(new KernelWriter(*this, std::move(entry))));
  return *kernels_.back();
}

void ModuleWriter::add_function(std::string_view text) { functions_text_ += fmt::format("\n{}", text); }

int ModuleWriter::buffer(const core::BufferSpec& spec) {
  auto& buffers = emission_.launch.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == spec.name) return static_cast<int>(i);
  buffers.push_back(spec);
  return static_cast<int>(buffers.size()) - 1;
}

int ModuleWriter::scalar(const dsl::Scalar& scalar) {
  auto& scalars = emission_.launch.scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i].name == scalar.name) return static_cast<int>(i);
  scalars.push_back({scalar.name, scalar.dtype});
  return static_cast<int>(scalars.size()) - 1;
}

core::BufferSpec ModuleWriter::tensor_buffer(dsl::TensorId id) const {
  const dsl::Tensor& tensor = (*context_.plan.graph)[id];
  core::BufferSpec spec{.name = tensor.name, .kind = buffer_kind(tensor.role), .dtype = tensor.dtype};
  if (spec.kind != core::BufferKind::scratch) return spec;
  spec.bytes = core::size_bytes(tensor.dtype);
  for (const ExpressionId dimension : tensor.shape)
    spec.bytes =
        spec.bytes * dsl::size_expression(*context_.plan.graph, dimension).value_or(SizeExpression(0));
  return spec;
}

void ModuleWriter::finish_kernel(KernelWriter& kernel, const LaunchShape& launch) {
  const std::string bounds = launch.least_blocks > 0
                                 ? fmt::format("{}, {}", launch.threads, launch.least_blocks)
                                 : fmt::format("{}", launch.threads);
  std::string& text = kernels_text_;
  text += fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}) {}(", bounds, kernel.entry_);
  core::KernelStep step{.entry = kernel.entry_,
                        .grid = launch.grid,
                        .block = {launch.threads, 1, 1},
                        .cluster = {launch.cluster, 1, 1},
                        .shared_bytes = launch.shared_bytes,
                        .cooperative = launch.cooperative};
  for (std::size_t i = 0; i < kernel.parameters_.size(); ++i) {
    text += (i == 0 ? "\n    " : ",\n    ") + kernel.parameters_[i].declaration;
    step.arguments.push_back(kernel.parameters_[i].argument);
  }
  text += ") {\n";
  for (const std::string& constant : kernel.constants_) text += "  " + constant + "\n";
  text += kernel.body_.text() + "}\n";
  emission_.entries.push_back(kernel.entry_);
  emission_.launch.steps.emplace_back(std::move(step));
}

core::Emission ModuleWriter::finish() && {
  Prelude prelude(context_.device.compute_capability);
  prelude.use_names_in(functions_text_);
  prelude.use_names_in(kernels_text_);
  const std::string prelude_text = prelude.text();
  emission_.language = core::SourceLanguage::cuda;
  emission_.options = {
      "--diag-suppress=177"};  // "declared but never referenced": overloads of a prelude function
  emission_.source = fmt::format("// {}\n{}{}{}{}", comment_, prelude_text.empty() ? "" : "\n", prelude_text,
                                 functions_text_, kernels_text_);
  return std::move(emission_);
}

}  // namespace einkern::codegen::cuda
