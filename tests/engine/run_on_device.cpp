#include "tests/engine/run_on_device.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autotune/record.h"
#include "engine/device_registry.h"
#include "engine/face_access.h"
#include "engine/function_call.h"

namespace einkern::testing {
namespace {

/// f8e5m2 has infinities that no store makes (it saturates), so they are put in as bits.
Tensor with_infinities(const HostTensor& tensor, const Device& device) {
  std::vector<std::int64_t> codes;
  for (double value : tensor.floats)
    codes.push_back(std::isinf(value) ? (value < 0 ? 0xfc : 0x7c)
                                      : static_cast<std::int64_t>(core::encode_float(tensor.dtype, value)));
  const Tensor bytes = Tensor::from(std::span<const std::int64_t>(codes), tensor.shape, DType::u8, device);
  Tensor result = Tensor::empty(tensor.shape, tensor.dtype, device);
  detail::unwrap(detail::Access::runtime(device)->copy(
      detail::Access::place(result).address, detail::Access::place(bytes).address, bytes.size(), {}));
  device.synchronize();
  return result;
}

Tensor dense(const HostTensor& tensor, const Device& device) {
  if (tensor.dtype == DType::f8e5m2) return with_infinities(tensor, device);
  return core::is_float(tensor.dtype)
             ? Tensor::from(std::span<const double>(tensor.floats), tensor.shape, tensor.dtype, device)
             : Tensor::from(std::span<const std::int64_t>(tensor.integers), tensor.shape, tensor.dtype,
                            device);
}

/// The elements in a larger tensor, one column in and with gaps behind each row.
Tensor with_gaps(const HostTensor& tensor, const Device& device) {
  if (tensor.shape.empty()) return dense(tensor, device);
  HostTensor wide = tensor;
  const std::int64_t columns = tensor.shape.back(), width = columns + 3;
  wide.shape.back() = width;
  const std::int64_t rows = columns == 0 ? 0 : tensor.elements() / columns;
  wide.floats.assign(core::is_float(tensor.dtype) ? static_cast<std::size_t>(rows * width) : 0, 0);
  wide.integers.assign(core::is_float(tensor.dtype) ? 0 : static_cast<std::size_t>(rows * width), 0);
  if (columns == 0) return dense(tensor, device);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto from = static_cast<std::size_t>(r * columns + c),
                 to = static_cast<std::size_t>(r * width + c + 1);
      if (core::is_float(tensor.dtype))
        wide.floats[to] = tensor.floats[from];
      else
        wide.integers[to] = tensor.integers[from];
    }
  return dense(wide, device).slice(-1, 1, 1 + columns);
}

/// The elements with the dimensions reversed in memory, as a view in the right order.
Tensor reversed(const HostTensor& tensor, const Device& device) {
  const std::size_t rank = tensor.shape.size();
  HostTensor turned = tensor;
  std::reverse(turned.shape.begin(), turned.shape.end());
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t at = 0; at < tensor.elements(); ++at) {
    std::int64_t to = 0;
    for (std::size_t i = rank; i-- > 0;) to = to * tensor.shape[i] + index[i];
    if (core::is_float(tensor.dtype))
      turned.floats[static_cast<std::size_t>(to)] = tensor.floats[static_cast<std::size_t>(at)];
    else
      turned.integers[static_cast<std::size_t>(to)] = tensor.integers[static_cast<std::size_t>(at)];
    for (std::size_t i = rank; i-- > 0;) {
      if (++index[i] < tensor.shape[i]) break;
      index[i] = 0;
    }
  }
  std::vector<int> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return dense(turned, device).permute(order);
}

Argument scalar_argument(const HostScalar& scalar) {
  if (core::is_float(scalar.dtype)) return scalar.floating;
  return scalar.integer;
}

std::vector<Argument> arguments_of(const Call& call, const Device& device, Layout layout,
                                   std::map<dsl::TensorId, Tensor>& tensors) {
  std::vector<Argument> arguments;
  for (const dsl::Parameter& parameter : call.function->parameters) {
    if (const auto* id = std::get_if<dsl::TensorId>(&parameter)) {
      tensors[*id] = upload(call.arguments.tensors.at(*id), device, layout);
      arguments.emplace_back(tensors[*id]);
    } else if (const auto* scalar = std::get_if<dsl::ScalarId>(&parameter)) {
      const auto given = call.arguments.scalars.find(*scalar);
      if (given == call.arguments.scalars.end()) break;  // defaults stand at the end
      arguments.push_back(scalar_argument(given->second));
    } else {
      arguments.emplace_back(
          call.binding.dims[static_cast<std::size_t>(std::get<dsl::DimId>(parameter).value)]);
    }
  }
  return arguments;
}

}  // namespace

Tensor upload(const HostTensor& tensor, const Device& device, Layout layout) {
  switch (layout) {
    case Layout::dense:
      return dense(tensor, device);
    case Layout::strided:
      return with_gaps(tensor, device);
    case Layout::transposed:
      return reversed(tensor, device);
  }
  return {};
}

HostTensor download(const Tensor& tensor) {
  HostTensor host{tensor.dtype(), tensor.shape(), {}, {}};
  if (core::is_float(tensor.dtype()))
    host.floats = tensor.to_doubles();
  else
    host.integers = tensor.to_integers();
  return host;
}

namespace {

/// How a test calls a function: gives its results.
using Caller = std::function<einkern::Results(const Function&, const std::vector<Argument>&)>;

RunCase by_caller(const Device& device, Layout layout, const Caller& caller) {
  return [device, layout, caller](const Call& call) -> core::Result<Results> {
    try {
      Function function = compile(call.source)[call.name].on(device);
      for (const auto& [generic, type] : call.types) function = function.with(generic, type);
      std::map<dsl::TensorId, Tensor> tensors;
      const einkern::Results outputs = caller(function, arguments_of(call, device, layout, tensors));
      Results results;
      for (std::size_t i = 0; i < outputs.size(); ++i)
        results[call.function->results[i]] = download(outputs[i]);
      for (const auto& [id, tensor] : tensors)
        if ((*call.function)[id].role == dsl::TensorRole::inout) results[id] = download(tensor);
      return results;
    } catch (const Error& error) {
      return core::Error{core::ErrorKind::internal, error.what()};
    }
  };
}

/// A call of the face, but for the choice of kernels.
einkern::Results call_with(const Function& function, const std::vector<Argument>& arguments,
                           const engine::KernelWish& wish) {
  detail::FunctionState& state = *detail::Access::state(function);
  const dsl::Signature& signature = *detail::Access::program(state.program).find(state.name);
  detail::ResolvedCall resolved =
      detail::resolve_call(state, detail::match_positional(signature, arguments), {}, {});
  const dsl::Function& checked = *resolved.instance->function;
  const dsl::Binding binding = detail::unwrap(engine::bind_call(checked, resolved.call));
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (const dsl::TensorId result : checked.results) {
    names.push_back(checked[result].name);
    tensors.push_back(detail::Access::allocate(binding.shapes[static_cast<std::size_t>(result.value)],
                                               checked[result].dtype, resolved.device));
    resolved.call.outputs.push_back(detail::Access::place(tensors.back()));
  }
  const auto device = detail::Access::runtime(resolved.device);
  const auto prepared = detail::unwrap(engine::prepare_call(
      checked, resolved.instance->plans, resolved.call, *device, detail::process_builder(),
      autotune::process_records(), {.plan = {}, .wish = wish}));
  detail::unwrap(engine::launch_call(*prepared, checked, resolved.call, {}, {}));
  return {std::move(names), std::move(tensors)};
}

}  // namespace

RunCase on_device(const Device& device, Layout layout) {
  return by_caller(device, layout, [](const Function& function, const std::vector<Argument>& arguments) {
    return function.call(arguments, {});
  });
}

RunCase on_schedule(const Device& device, const std::string& schedule, const std::string& configuration,
                    Layout layout) {
  return by_caller(device, layout,
                   [wish = engine::KernelWish{schedule, configuration}](
                       const Function& function, const std::vector<Argument>& arguments) {
                     return call_with(function, arguments, wish);
                   });
}

std::optional<Device> gpu() {
  static const std::optional<Device> device = []() -> std::optional<Device> {
    try {
      return Device::cuda();
    } catch (const DeviceError&) {
      return std::nullopt;
    }
  }();
  return device;
}

}  // namespace einkern::testing
