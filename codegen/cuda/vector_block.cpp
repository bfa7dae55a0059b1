#include "codegen/cuda/vector_block.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

std::string vector_type(DType dtype, int width) {
  return fmt::format("ek_vector<{}, {}>", storage_type(dtype), width);
}

const TensorLayout& layout_of(const KernelContext& context, TensorId tensor) {
  return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
}

std::vector<ExpressionId> store_values(const KernelContext& context) {
  std::vector<ExpressionId> roots;
  for (const Store& store : context.kernel.stores) roots.push_back(store.value);
  return roots;
}

}  // namespace

int widest_vector(const KernelContext& context, AxisId axis, int most) {
  const dsl::Function& graph = *context.plan.graph;
  int widest = 1;
  for (const ExpressionId read : reads_of(graph.arena, store_values(context)))
    widest = std::max(widest, vector_width(graph, read, axis, context.specialisation));
  for (const Store& store : context.kernel.stores)
    widest = std::max(widest, vector_width(graph, store, axis, context.specialisation));
  return std::min(widest, most);
}

bool divides_axis(const KernelContext& context, AxisId axis, int width) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  if (width == 1) return true;
  if (dsl::constant_value(arena, arena[axis].low) != 0) return false;
  return known_divisor(arena, arena[axis].high, {}, context.specialisation) >= width;
}

VectorBlock::VectorBlock(ExpressionEmitter& emitter, AxisId axis, int width,
                         const std::vector<ExpressionId>& roots, const std::vector<ExpressionId>& elsewhere)
    : emitter_(emitter), axis_(axis), width_(width) {
  const KernelContext& context = emitter.kernel().context();
  const dsl::Function& graph = *context.plan.graph;
  for (const ExpressionId read : reads_of(graph.arena, roots)) {
    const dsl::Expression& e = graph.arena[read];
    if (e.guard != dsl::Guard::proven || !depends_on(graph.arena, read, axis)) continue;
    if (std::find(elsewhere.begin(), elsewhere.end(), read) != elsewhere.end()) continue;
    const Movement moves = movement(graph.arena, read, axis, layout_of(context, TensorId{e.index}));
    const int piece = std::min(width, vector_width(graph, read, axis, context.specialisation));
    const bool one_element = width == 1 && moves != Movement::general;
    if (one_element || piece > 1) reads_.push_back({read, piece, {}});
  }
}

std::vector<ExpressionId> VectorBlock::reads() const {
  std::vector<ExpressionId> reads;
  for (const VectorRead& read : reads_) reads.push_back(read.read);
  return reads;
}

std::string VectorBlock::slot_text(const std::string& registers, std::string_view slot) const {
  return slots_ > 1 ? fmt::format("{}[{}]", registers, slot) : registers;
}

void VectorBlock::declare(int slots) {
  slots_ = slots;
  KernelWriter& kernel = emitter_.kernel();
  for (VectorRead& read : reads_) {
    const dsl::Tensor& tensor = kernel.graph()[TensorId{kernel.graph().arena[read.read].index}];
    read.registers = kernel.names().unique("w", tensor.name);
    kernel.body().line(fmt::format("{} {}{};", vector_type(tensor.dtype, width_), read.registers,
                                   slots > 1 ? fmt::format("[{}]", slots) : ""));
  }
}

void VectorBlock::load(std::string_view slot, const Hooks& hooks) {
  KernelWriter& kernel = emitter_.kernel();
  for (const VectorRead& read : reads_) {
    const dsl::Expression& e = kernel.graph().arena[read.read];
    const TensorId tensor{e.index};
    std::string offset;
    if (hooks.read_offset) {
      offset = hooks.read_offset(read.read);
    } else {
      std::vector<std::string> indices;
      for (const ExpressionId index : e.operands) indices.push_back(emitter_.value(index));
      offset = without_parentheses(emitter_.offset(tensor, indices));
    }
    kernel.body().line(fmt::format("ek_load<{}>({}, {} + {});", read.piece, slot_text(read.registers, slot),
                                   kernel.tensor(tensor), offset));
  }
}

std::string VectorBlock::stored_element(ExpressionId id, std::string_view slot,
                                        std::string_view element) const {
  for (const VectorRead& read : reads_)
    if (read.read == id) return fmt::format("{}.element[{}]", slot_text(read.registers, slot), element);
  return {};
}

void VectorBlock::bind(std::string_view slot, std::string_view element) {
  const dsl::Function& graph = emitter_.kernel().graph();
  for (const VectorRead& read : reads_) {
    const DType dtype = graph[TensorId{graph.arena[read.read].index}].dtype;
    const std::string stored = fmt::format("{}.element[{}]", slot_text(read.registers, slot), element);
    emitter_.bind_node(read.read, converted_load(dtype, stored, emitter_.arithmetic()));
  }
}

std::string VectorBlock::store_offset(const Store& store, const Hooks& hooks) {
  if (hooks.store_offset) return hooks.store_offset(store);
  std::vector<std::string> indices;
  for (const AxisId axis : store.axes) indices.push_back(emitter_.axis_text(axis));
  return without_parentheses(emitter_.offset(store.target, indices));
}

std::vector<VectorBlock::VectorStore> VectorBlock::declare_stores(const std::vector<Store>& stores) {
  KernelWriter& kernel = emitter_.kernel();
  std::vector<VectorStore> result;
  for (const Store& store : stores) {
    const dsl::Tensor& target = kernel.graph()[store.target];
    const int piece =
        std::min(width_, vector_width(kernel.graph(), store, axis_, kernel.context().specialisation));
    result.push_back({&store, piece, {}});
    if (piece == 1) continue;  // written one by one
    result.back().registers = kernel.names().unique("w", target.name);
    kernel.body().line(fmt::format("{} {};", vector_type(target.dtype, width_), result.back().registers));
  }
  return result;
}

void VectorBlock::emit_element(const std::vector<VectorStore>& stores, const std::string& element,
                               const Hooks& hooks) {
  KernelWriter& kernel = emitter_.kernel();
  std::vector<std::string> values;
  for (const VectorStore& s : stores)
    values.push_back(stores.size() > 1 ? emitter_.named_value(s.store->value)
                                       : emitter_.value(s.store->value));
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const Store& store = *stores[i].store;
    const dsl::Tensor& target = kernel.graph()[store.target];
    std::string place = fmt::format("{}.element[{}]", stores[i].registers, element);
    if (stores[i].piece == 1) {
      const std::string step = hooks.store_offset && width_ > 1 ? fmt::format(" + {}", element) : "";
      place = fmt::format("{}[{}{}]", kernel.tensor(store.target), store_offset(store, hooks), step);
    }
    kernel.body().line(fmt::format("{} = {};", place,
                                   converted_store(target.dtype, kernel.graph().arena[store.value].type,
                                                   values[i], emitter_.arithmetic())));
  }
}

void VectorBlock::emit_stores(const std::vector<Store>& stores, const std::string& first,
                              std::string_view slot, const Hooks& hooks) {
  KernelWriter& kernel = emitter_.kernel();
  const ExpressionEmitter::Scope around(emitter_);
  emitter_.bind_axis(axis_, first);
  if (hooks.bind_element) hooks.bind_element("0");  // so that nothing below those nodes is hoisted
  for (const Store& store : stores) emitter_.hoist(store.value, {axis_});
  const std::vector<VectorStore> wide = declare_stores(stores);
  const bool loop = width_ > 1;
  const std::string element = loop ? kernel.names().unique("i", "element") : "0";
  if (loop) {
    kernel.body().line("#pragma unroll");
    kernel.body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", element, width_));
  }
  {
    const ExpressionEmitter::Scope scope(emitter_);
    emitter_.bind_axis(axis_, loop ? fmt::format("({} + {})", first, element) : first);
    bind(slot, element);
    if (hooks.bind_element) hooks.bind_element(element);
    emit_element(wide, element, hooks);
  }
  if (loop) kernel.body().close();
  for (const VectorStore& s : wide)
    if (s.piece > 1)
      kernel.body().line(fmt::format("ek_store<{}>({} + {}, {});", s.piece, kernel.tensor(s.store->target),
                                     store_offset(*s.store, hooks), s.registers));
}

}  // namespace einkern::codegen::cuda
