#include "tests/cpu/run_on_cpu.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "codegen/plan/access.h"
#include "runtime/cpu/cpu_device.h"

namespace einkern::testing {
namespace {

using codegen::Kernel;
using codegen::KernelContext;
using codegen::Plan;
using codegen::Schedule;
using codegen::Specialisation;
using codegen::TensorPlacement;

std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& shape, std::vector<int> order) {
  if (order.empty()) {
    order.resize(shape.size());
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[static_cast<std::size_t>(order[i])] = next;
    next *= std::max<std::int64_t>(1, shape[static_cast<std::size_t>(order[i])]);
  }
  return strides;
}

/// Calls `visit(element number, offset in memory)` for every element in row-major order.
void for_each_element(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                      const std::function<void(std::size_t, std::size_t)>& visit) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, offset = 0;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) offset += rest % shape[d] * strides[d];
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(offset));
  }
}

std::uint64_t bits_of(DType dtype, double floating, std::int64_t integer) {
  if (!core::is_float(dtype)) return static_cast<std::uint64_t>(integer);
  // f8e5m2 has infinities that no store makes (it saturates).
  if (dtype == DType::f8e5m2 && std::isinf(floating)) return floating < 0 ? 0xfc : 0x7c;
  return core::encode_float(dtype, floating);
}

/// A tensor's bytes in memory, with a guard zone before and after that must stay as it is.
struct Memory {
  static constexpr std::size_t guard = 256;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape, strides;
  std::vector<unsigned char> bytes;

  Memory(DType type, std::vector<std::int64_t> extents, const std::vector<int>& order)
      : dtype(type), shape(std::move(extents)), strides(strides_of(shape, order)) {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    bytes.assign(static_cast<std::size_t>(count * core::size_bytes(dtype)) + 2 * guard + 64, 0xcd);
  }
  unsigned char* first() {  // aligned to 64 bytes, behind the guard
    auto address = reinterpret_cast<std::uintptr_t>(bytes.data() + guard);
    return reinterpret_cast<unsigned char*>((address + 63) / 64 * 64);
  }
  void write(const HostTensor& tensor) {
    for_each_element(shape, strides, [&](std::size_t i, std::size_t offset) {
      bool floats = core::is_float(dtype);
      std::uint64_t bits = bits_of(dtype, floats ? tensor.floats[i] : 0, floats ? 0 : tensor.integers[i]);
      std::memcpy(first() + offset * static_cast<std::size_t>(core::size_bytes(dtype)), &bits,
                  static_cast<std::size_t>(core::size_bytes(dtype)));
    });
  }
  HostTensor read() {
    HostTensor tensor{dtype, shape, {}, {}};
    for_each_element(shape, strides, [&](std::size_t, std::size_t offset) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, first() + offset * static_cast<std::size_t>(core::size_bytes(dtype)),
                  static_cast<std::size_t>(core::size_bytes(dtype)));
      if (core::is_float(dtype)) {
        tensor.floats.push_back(core::decode_float(dtype, bits));
      } else {
        tensor.integers.push_back(core::wrap_integer(dtype, static_cast<std::int64_t>(bits)));
      }
    });
    return tensor;
  }
  bool guards_are_whole() {
    unsigned char *begin = first(), *end = bytes.data() + bytes.size() - guard;
    std::int64_t count = core::size_bytes(dtype);
    for (std::int64_t extent : shape) count *= extent;
    for (unsigned char* at = bytes.data(); at < begin; ++at)
      if (*at != 0xcd) return false;
    for (unsigned char* at = begin + count; at < end + guard; ++at)
      if (*at != 0xcd) return false;
    return true;
  }
};

const Schedule* pick_schedule(const KernelContext& context, const std::string& wanted) {
  for (const Schedule* schedule : codegen::schedules(core::Backend::cpu))
    if (schedule->name() == wanted && !schedule->reason_against(context)) return schedule;
  for (const Schedule* schedule : codegen::schedules(core::Backend::cpu))
    if (!schedule->reason_against(context)) return schedule;
  return nullptr;
}

struct Planned {
  Plan plan;
  Specialisation specialisation;
  core::DeviceFacts facts;
};

core::Result<Planned> make_planned(const Call& call, const CpuOptions& options) {
  std::vector<Plan> plans = codegen::make_plans(call.function);
  if (plans.empty()) return core::Error{core::ErrorKind::internal, "the planner gave no plan"};
  Planned planned{plans[options.plan % plans.size()], {}, options.facts.value_or(cpu_device().facts())};
  if (options.vector_bytes > 0) planned.facts.vector_bytes = options.vector_bytes;
  std::vector<TensorPlacement> placements(call.function->tensors.size());
  for (std::size_t t = 0; t < placements.size(); ++t) {
    auto order = options.memory_order.find(call.function->tensors[t].name);
    if (order != options.memory_order.end())
      placements[t].strides = strides_of(call.binding.shapes[t], order->second);
  }
  planned.specialisation = codegen::specialise(planned.plan, call.binding, placements);
  return planned;
}

std::uint64_t scalar_bits(const Call& call, dsl::ScalarId id) {
  const dsl::Scalar& scalar = (*call.function)[id];
  auto given = call.arguments.scalars.find(id);
  if (given != call.arguments.scalars.end())
    return bits_of(scalar.dtype, given->second.floating, given->second.integer);
  auto value = dsl::default_value(*call.function, id, call.binding.dims);
  return bits_of(scalar.dtype, *value, static_cast<std::int64_t>(*value));
}

core::SymbolValues symbols_of(const Call& call, const Plan& plan, std::map<dsl::TensorId, Memory>& memory) {
  core::SymbolValues symbols = call.binding.symbols;
  for (auto& [id, place] : memory)
    for (std::size_t d = 0; d < place.strides.size(); ++d)
      symbols[codegen::stride_symbol((*plan.graph)[id], static_cast<int>(d))] = place.strides[d];
  return symbols;
}

}  // namespace

runtime::Device& cpu_device() {
  static const std::shared_ptr<runtime::Device> device = *runtime::cpu::open_cpu_device();
  return *device;
}

core::Result<std::vector<core::Emission>> emit_for_cpu(const Call& call, const CpuOptions& options) {
  EINKERN_TRY(Planned planned, make_planned(call, options));
  std::vector<core::Emission> emissions;
  for (const Kernel& kernel : planned.plan.kernels) {
    KernelContext context{planned.plan, kernel, planned.specialisation, planned.facts, call.binding};
    const Schedule* schedule = pick_schedule(context, options.schedule);
    if (schedule == nullptr) return core::Error{core::ErrorKind::internal, "no schedule fits " + kernel.name};
    std::vector<codegen::Configuration> ranked = codegen::ranked_configurations(*schedule, context, 1000);
    if (ranked.empty()) return core::Error{core::ErrorKind::internal, "no configuration for " + kernel.name};
    codegen::Configuration chosen = ranked[options.candidate % ranked.size()];
    if (!options.configuration.empty()) {
      EINKERN_TRY(chosen, codegen::Configuration::parse(options.configuration));
    }
    EINKERN_TRY(core::Emission emission, schedule->emit(context, chosen));
    emissions.push_back(std::move(emission));
  }
  return emissions;
}

core::Result<Results> run_on_cpu(const Call& call, const CpuOptions& options) {
  EINKERN_TRY(Planned planned, make_planned(call, options));
  EINKERN_TRY(std::vector<core::Emission> emissions, emit_for_cpu(call, options));
  core::LaunchPlan launch;
  std::vector<std::shared_ptr<const runtime::Module>> modules;
  for (const core::Emission& emission : emissions) {
    launch.append(emission.launch);
    EINKERN_TRY(core::Artifact artifact, cpu_device().compile(emission));
    EINKERN_TRY(std::shared_ptr<const runtime::Module> module, cpu_device().load(artifact));
    modules.push_back(std::move(module));
  }
  std::map<dsl::TensorId, Memory> memory;
  std::map<std::string, dsl::TensorId> by_name;
  for (std::size_t t = 0; t < call.function->tensors.size(); ++t) {
    const dsl::Tensor& tensor = call.function->tensors[t];
    if (tensor.role == dsl::TensorRole::local || tensor.role == dsl::TensorRole::temporary) continue;
    dsl::TensorId id{static_cast<std::int32_t>(t)};
    auto order = options.memory_order.find(tensor.name);
    auto& place =
        memory
            .emplace(id, Memory(tensor.dtype, call.binding.shapes[t],
                                order == options.memory_order.end() ? std::vector<int>() : order->second))
            .first->second;
    if (auto given = call.arguments.tensors.find(id); given != call.arguments.tensors.end())
      place.write(given->second);
    by_name[tensor.name] = id;
  }
  EINKERN_TRY(auto prepared, cpu_device().prepare(launch, modules, symbols_of(call, planned.plan, memory)));
  std::vector<runtime::Address> addresses;
  for (const core::BufferSpec& buffer : launch.buffers) {
    auto found = by_name.find(buffer.name);
    bool ours = found != by_name.end() && buffer.kind != core::BufferKind::scratch;
    addresses.push_back(ours ? reinterpret_cast<runtime::Address>(memory.at(found->second).first()) : 0);
  }
  std::vector<std::uint64_t> scalars;
  for (const core::ScalarSpec& spec : launch.scalars)
    for (std::size_t s = 0; s < call.function->scalars.size(); ++s)
      if (call.function->scalars[s].name == spec.name)
        scalars.push_back(scalar_bits(call, dsl::ScalarId{static_cast<std::int32_t>(s)}));
  EINKERN_CHECK_OK(prepared->launch({addresses, scalars, {}}, {}));
  Results results;
  for (auto& [id, place] : memory) {
    const dsl::Tensor& tensor = (*call.function)[id];
    if (!place.guards_are_whole())
      return core::Error{core::ErrorKind::internal, fmt::format("bytes around {} were written", tensor.name)};
    if (tensor.role != dsl::TensorRole::input) results[id] = place.read();
  }
  return results;
}

}  // namespace einkern::testing
