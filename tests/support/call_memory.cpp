#include "tests/support/call_memory.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

namespace einkern::testing {
namespace {

constexpr std::size_t guard_bytes = 256;
constexpr unsigned char guard_byte = 0xcd;

/// Calls `visit(element number, offset in elements)` for every element in row-major order.
void for_each_element(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                      const std::function<void(std::size_t, std::size_t)>& visit) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, offset = 0;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) offset += rest % shape[d] * strides[d];
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(offset));
  }
}

std::uint64_t bits_of(DType dtype, double floating, std::int64_t integer) {
  if (dtype == DType::f8e5m2 && std::isinf(floating))
    return floating < 0 ? 0xfc : 0x7c;  // a store would saturate it
  return core::is_float(dtype) ? core::encode_float(dtype, floating) : static_cast<std::uint64_t>(integer);
}

bool is_callers(const dsl::Tensor& tensor) {
  return tensor.role != dsl::TensorRole::local && tensor.role != dsl::TensorRole::temporary;
}

MemoryLayout layout_of(const MemoryLayouts& layouts, const std::string& name) {
  const auto found = layouts.find(name);
  return found == layouts.end() ? MemoryLayout{} : found->second;
}

}  // namespace

std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& shape, const MemoryLayout& layout) {
  std::vector<int> order = layout.order;
  if (order.empty()) {
    order.resize(shape.size());
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[static_cast<std::size_t>(order[i])] = next;
    next *= std::max<std::int64_t>(1, shape[static_cast<std::size_t>(order[i])]);
    if (i + 1 == order.size()) next += layout.padding;
  }
  return strides;
}

std::vector<codegen::TensorPlacement> placements_of(const Call& call, const MemoryLayouts& layouts) {
  std::vector<codegen::TensorPlacement> placements(call.function->tensors.size());
  for (std::size_t t = 0; t < placements.size(); ++t) {
    const dsl::Tensor& tensor = call.function->tensors[t];
    if (!layouts.contains(tensor.name) || !is_callers(tensor)) continue;
    const MemoryLayout layout = layout_of(layouts, tensor.name);
    placements[t].strides = strides_of(call.binding.shapes[t], layout);
    placements[t].address_modulo_16 = static_cast<int>(layout.offset * core::size_bytes(tensor.dtype) % 16);
  }
  return placements;
}

CallMemory::CallMemory(const Call& call, const MemoryLayouts& layouts) : call_(call) {
  for (std::size_t t = 0; t < call.function->tensors.size(); ++t) {
    const dsl::Tensor& tensor = call.function->tensors[t];
    if (!is_callers(tensor)) continue;
    const dsl::TensorId id{static_cast<std::int32_t>(t)};
    const MemoryLayout layout = layout_of(layouts, tensor.name);
    Region region{id, tensor.dtype, call.binding.shapes[t], strides_of(call.binding.shapes[t], layout), {}, 0,
                  {}};
    std::size_t elements = static_cast<std::size_t>(layout.offset) + 1;
    for (std::size_t d = 0; d < region.shape.size(); ++d)
      if (region.shape[d] > 0)
        elements += static_cast<std::size_t>((region.shape[d] - 1) * region.strides[d]);
    const auto width = static_cast<std::size_t>(core::size_bytes(tensor.dtype));
    region.bytes.assign(elements * width + 2 * guard_bytes + 64, guard_byte);
    const auto address = reinterpret_cast<std::uintptr_t>(region.bytes.data()) + guard_bytes;
    region.first = guard_bytes + (64 - address % 64) % 64 + static_cast<std::size_t>(layout.offset) * width;
    if (const auto given = call.arguments.tensors.find(id); given != call.arguments.tensors.end())
      for_each_element(region.shape, region.strides, [&](std::size_t i, std::size_t offset) {
        const bool floats = core::is_float(tensor.dtype);
        const std::uint64_t bits = bits_of(tensor.dtype, floats ? given->second.floats[i] : 0,
                                           floats ? 0 : given->second.integers[i]);
        std::memcpy(region.bytes.data() + region.first + offset * width, &bits, width);
      });
    regions_.push_back(std::move(region));
    regions_.back().before = regions_.back().bytes;
  }
}

core::SymbolValues CallMemory::symbols() const {
  core::SymbolValues symbols = call_.binding.symbols;
  symbols["sm_count"] = 4;
  for (const Region& region : regions_)
    for (std::size_t d = 0; d < region.strides.size(); ++d)
      symbols[codegen::stride_symbol((*call_.function)[region.id], static_cast<int>(d))] = region.strides[d];
  return symbols;
}

std::vector<std::uint64_t> CallMemory::addresses(const core::LaunchPlan& plan) {
  std::vector<std::uint64_t> addresses;
  for (const core::BufferSpec& buffer : plan.buffers) {
    addresses.push_back(0);
    for (Region& region : regions_)
      if (buffer.kind != core::BufferKind::scratch && (*call_.function)[region.id].name == buffer.name)
        addresses.back() = reinterpret_cast<std::uintptr_t>(region.bytes.data()) + region.first;
  }
  return addresses;
}

std::vector<std::uint64_t> CallMemory::scalars(const core::LaunchPlan& plan) const {
  std::vector<std::uint64_t> result;
  for (const core::ScalarSpec& spec : plan.scalars)
    for (std::size_t s = 0; s < call_.function->scalars.size(); ++s) {
      const dsl::ScalarId id{static_cast<std::int32_t>(s)};
      if ((*call_.function)[id].name != spec.name) continue;
      const auto given = call_.arguments.scalars.find(id);
      if (given != call_.arguments.scalars.end()) {
        result.push_back(bits_of(spec.dtype, given->second.floating, given->second.integer));
      } else {
        const auto value = dsl::default_value(*call_.function, id, call_.binding.dims);
        result.push_back(value.ok() ? bits_of(spec.dtype, *value, static_cast<std::int64_t>(*value)) : 0);
      }
    }
  return result;
}

core::Result<Results> CallMemory::results() const {
  Results results;
  for (const Region& region : regions_) {
    const dsl::Tensor& tensor = (*call_.function)[region.id];
    const auto width = static_cast<std::size_t>(core::size_bytes(region.dtype));
    std::vector<unsigned char> others = region.bytes;  // with the elements put back as they were
    HostTensor values{region.dtype, region.shape, {}, {}};
    for_each_element(region.shape, region.strides, [&](std::size_t, std::size_t offset) {
      const std::size_t at = region.first + offset * width;
      std::uint64_t bits = 0;
      std::memcpy(&bits, region.bytes.data() + at, width);
      if (core::is_float(region.dtype))
        values.floats.push_back(core::decode_float(region.dtype, bits));
      else
        values.integers.push_back(core::wrap_integer(region.dtype, static_cast<std::int64_t>(bits)));
      if (tensor.role != dsl::TensorRole::input)
        std::memcpy(others.data() + at, region.before.data() + at, width);
    });
    if (others != region.before)
      return core::Error{core::ErrorKind::internal,
                         fmt::format("bytes in or around {} were written", tensor.name)};
    if (tensor.role != dsl::TensorRole::input) results[region.id] = std::move(values);
  }
  return results;
}

}  // namespace einkern::testing
