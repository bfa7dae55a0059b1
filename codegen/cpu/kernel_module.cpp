#include "codegen/cpu/kernel_module.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/dtype.h"

namespace einkern::codegen::cpu {
namespace {

core::BufferKind buffer_kind(dsl::TensorRole role) {
  switch (role) {
    case dsl::TensorRole::input:
      return core::BufferKind::input;
    case dsl::TensorRole::output:
      return core::BufferKind::output;
    case dsl::TensorRole::inout:
      return core::BufferKind::inout;
    case dsl::TensorRole::local:
    case dsl::TensorRole::temporary:
      break;
  }
  return core::BufferKind::scratch;
}

core::SizeExpression dimension_size(const KernelContext& context, TensorId tensor, int dimension) {
  const dsl::Tensor& facts = (*context.plan.graph)[tensor];
  // The checker lets only expressions over dims into shapes.
  return *size_of(context, facts.shape[static_cast<std::size_t>(dimension)]);
}

}  // namespace

IrType compute_ir_type(DType compute) {
  switch (compute) {
    case DType::boolean:
      return ir_i1;
    case DType::i64:
    case DType::u64:
      return ir_i64;
    case DType::f32:
      return ir_f32;
    case DType::f64:
      return ir_f64;
    default:
      return ir_i32;
  }
}

IrType storage_ir_type(DType dtype) {
  switch (core::size_bytes(dtype)) {
    case 1:
      return ir_i8;
    case 2:
      return dtype == DType::f16 ? IrType{IrType::Kind::half} : ir_i16;
    case 4:
      return dtype == DType::f32 ? ir_f32 : ir_i32;
    default:
      return dtype == DType::f64 ? ir_f64 : ir_i64;
  }
}

std::optional<core::SizeExpression> size_of(const KernelContext& context, ExpressionId over_dims) {
  auto size = dsl::size_expression(*context.plan.graph, over_dims);
  if (!size || size->is_constant()) return size;
  core::SymbolValues baked;
  for (std::size_t d = 0; d < context.specialisation.baked.size(); ++d)
    if (context.specialisation.baked[d])
      baked[context.plan.graph->dims[d].name] = *context.specialisation.baked[d];
  if (auto value = size->evaluate(baked); value.ok()) return core::SizeExpression(*value);
  return size;
}

std::optional<core::SizeExpression> extent_size(const KernelContext& context, AxisId axis) {
  const dsl::Axis& facts = context.plan.graph->arena[axis];
  auto low = size_of(context, facts.low), high = size_of(context, facts.high);
  if (!low || !high) return std::nullopt;
  if (low->is_constant() && *low == core::SizeExpression(0)) return high;
  return core::maximum(*high - *low, 0);
}

// --- EntryFrame ---

IrValue EntryFrame::argument(const std::string& key, IrType type, std::string_view name,
                             core::Argument argument) {
  if (auto found = known_.find(key); found != known_.end()) return found->second;
  auto slot = static_cast<std::int64_t>(list_.size());
  list_.push_back(std::move(argument));
  IrValue value = writer_.in_prologue([&] {
    IrValue at =
        writer_.element(arguments_, IrWriter::integer(slot), ir_i64, fmt::format("{}.argument", name));
    return writer_.load_constant(type, at, 8, name);
  });
  return known_[key] = value;
}

int EntryFrame::buffer_index(core::BufferSpec spec) {
  auto same = [&](const core::BufferSpec& other) { return other.name == spec.name; };
  auto found = std::find_if(launch_.buffers.begin(), launch_.buffers.end(), same);
  if (found == launch_.buffers.end()) {
    launch_.buffers.push_back(std::move(spec));
    return static_cast<int>(launch_.buffers.size()) - 1;
  }
  return static_cast<int>(found - launch_.buffers.begin());
}

IrValue EntryFrame::tensor(TensorId tensor) {
  const dsl::Tensor& facts = graph()[tensor];
  core::BufferSpec spec{facts.name, buffer_kind(facts.role), facts.dtype};
  if (spec.kind == core::BufferKind::scratch) {
    spec.bytes = core::size_bytes(facts.dtype);
    for (std::size_t d = 0; d < facts.shape.size(); ++d)
      spec.bytes = spec.bytes * dimension_size(context_, tensor, static_cast<int>(d));
  }
  int index = buffer_index(std::move(spec));
  return argument(fmt::format("tensor {}", tensor.value), ir_pointer, facts.name,
                  core::PointerArgument{index, 0});
}

bool EntryFrame::is_constant(TensorId tensor) const {
  const std::vector<TensorId>& writes = context_.kernel.writes;
  return std::find(writes.begin(), writes.end(), tensor) == writes.end();
}

IrValue EntryFrame::stride(TensorId tensor, int dimension) {
  const dsl::Tensor& facts = graph()[tensor];
  if (layout(tensor).unit_axis == dimension) return IrWriter::integer(1);
  std::string name = fmt::format("{}.stride.{}", facts.name, dimension);
  if (!layout(tensor).dense) return size(core::SizeExpression::symbol(stride_symbol(facts, dimension)), name);
  core::SizeExpression distance = 1;
  for (int d = dimension + 1; d < static_cast<int>(facts.shape.size()); ++d)
    distance = distance * dimension_size(context_, tensor, d);
  return size(distance, name);
}

IrValue EntryFrame::extent(TensorId tensor, int dimension) {
  return size(dimension_size(context_, tensor, dimension),
              fmt::format("{}.extent.{}", graph()[tensor].name, dimension));
}

IrValue EntryFrame::size(const core::SizeExpression& size, std::string_view name) {
  if (size.is_constant())
    if (auto value = size.evaluate({}); value.ok()) return IrWriter::integer(*value);
  return argument("size " + size.text(), ir_i64, name, core::SizeArgument{size, 8});
}

IrValue EntryFrame::dim(dsl::DimId dim) {
  if (const auto& baked = context_.specialisation.baked[static_cast<std::size_t>(dim.value)])
    return IrWriter::integer(*baked);
  const std::string& name = graph()[dim].name;
  return size(core::SizeExpression::symbol(name), name);
}

IrValue EntryFrame::scalar(dsl::ScalarId scalar) {
  const dsl::Scalar& facts = graph()[scalar];
  auto same = [&](const core::ScalarSpec& spec) { return spec.name == facts.name; };
  auto found = std::find_if(launch_.scalars.begin(), launch_.scalars.end(), same);
  int index = static_cast<int>(found - launch_.scalars.begin());
  if (found == launch_.scalars.end()) launch_.scalars.push_back({facts.name, facts.dtype});
  return argument("scalar " + facts.name, storage_ir_type(facts.dtype), facts.name,
                  core::ScalarArgument{index});
}

IrValue EntryFrame::buffer(std::string_view name, DType dtype, const core::SizeExpression& bytes) {
  std::string full = fmt::format("{}.{}", context_.kernel.name, name);
  int index = buffer_index({full, core::BufferKind::scratch, dtype, bytes});
  return argument("buffer " + full, ir_pointer, name, core::PointerArgument{index, 0});
}

// --- KernelModule ---

KernelModule::KernelModule(const KernelContext& context, const Schedule& schedule,
                           const Configuration& configuration)
    : context_(context), base_name_(entry_name(context, schedule, configuration)) {
  head_ = fmt::format("; {}: {}\n; {} version {}, {}\n\n", context.kernel.name, context.kernel.explanation,
                      schedule.name(), schedule.version(), configuration.text());
  emission_.language = core::SourceLanguage::llvm_ir;
}

void KernelModule::entry(std::string_view suffix, const LoopShape& shape,
                         const std::function<void(EntryFrame&)>& body) {
  EntryFrame frame(context_, writer_, emission_.launch);
  std::string name = base_name_ + std::string(suffix);
  writer_.function(name,
                   {{ir_pointer, "arguments", "noalias readonly"},
                    {ir_i64, "begin", ""},
                    {ir_i64, "end", ""},
                    {ir_pointer, "scratch", "noalias"}},
                   [&](const IrWriter::Values& parameters) {
                     frame.arguments_ = parameters[0];
                     frame.begin_ = parameters[1];
                     frame.end_ = parameters[2];
                     frame.scratch_ = parameters[3];
                     body(frame);
                   });
  emission_.entries.push_back(name);
  emission_.launch.steps.emplace_back(
      core::CpuStep{name, shape.tasks, shape.grain, shape.scratch_bytes, std::move(frame.list_)});
}

core::Emission KernelModule::finish() {
  emission_.source = head_ + writer_.finish();
  return std::move(emission_);
}

}  // namespace einkern::codegen::cpu
