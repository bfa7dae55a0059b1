#include "engine/function_call.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/plan/plan.h"
#include "engine/element_checks.h"
#include "engine/face_access.h"
#include "engine/switches.h"
#include "engine/tune.h"

namespace einkern::detail {
namespace {

using dsl::SignatureItem;

std::string type_text(DType type) { return std::string(core::dtype_name(type)); }

/// The value of a rank-0 tensor, read back in the order of the call's stream.
engine::ScalarBits read_scalar(const SignatureItem& item, const Tensor& tensor, Stream stream) {
  if (!tensor || tensor.rank() != 0)
    throw UsageError(fmt::format("{} is a scalar: pass a number, or a tensor of rank 0", item.name));
  const auto device = Access::runtime(tensor.device());
  if (unwrap(device->is_capturing({stream.handle})))
    throw UsageError(
        fmt::format("the scalar {0} is a tensor on {1}, whose value is read when the call is made, and "
                    "nothing can be read "
                    "back while a stream is captured: pass a number, or declare a tensor `{0}: {2}[1]` and "
                    "read `{0}[0]`, "
                    "which stays on the device",
                    item.name, tensor.device().name(), type_text(tensor.dtype())));
  std::uint64_t bits = 0;
  unwrap(device->copy_to_host(&bits, Access::place(tensor).address, core::size_bytes(tensor.dtype()),
                              {stream.handle}));
  return {tensor.dtype(), bits};
}

engine::ScalarBits scalar_of(const SignatureItem& item, const Argument& argument, DType declared,
                             Stream stream) {
  if (const auto* tensor = std::get_if<Tensor>(&argument.value())) return read_scalar(item, *tensor, stream);
  if (const auto* integer = std::get_if<std::int64_t>(&argument.value())) {
    if (core::is_float(declared)) return {declared, engine::bits_of(declared, static_cast<double>(*integer))};
    if (core::wrap_integer(declared, *integer) != *integer && declared != DType::u64)
      throw UsageError(
          fmt::format("{} does not fit the {} scalar {}", *integer, type_text(declared), item.name));
    return {declared, static_cast<std::uint64_t>(core::wrap_integer(declared, *integer))};
  }
  const double number = std::get<double>(argument.value());
  if (!core::is_float(declared))
    throw UsageError(
        fmt::format("the scalar {} is {}: pass an integer, not {}", item.name, type_text(declared), number));
  return {declared, engine::bits_of(declared, number)};
}

std::int64_t dim_of(const SignatureItem& item, const Argument& argument) {
  const auto* integer = std::get_if<std::int64_t>(&argument.value());
  if (!integer || *integer < 0)
    throw UsageError(fmt::format("the dim {} is an integer of 0 or more", item.name));
  return *integer;
}

const Tensor& tensor_of(const SignatureItem& item, const Argument& argument, DType declared,
                        const Device& device) {
  const auto* tensor = std::get_if<Tensor>(&argument.value());
  if (!tensor || !*tensor)
    throw UsageError(fmt::format("{} is a tensor of {} dimensions: pass one", item.name, item.shape.size()));
  if (tensor->dtype() != declared)
    throw ShapeError(fmt::format("{} is {}, but the tensor passed is {}", item.name, type_text(declared),
                                 type_text(tensor->dtype())));
  if (!(tensor->device() == device))
    throw ShapeError(fmt::format(
        "{} lies on {}, but the function runs on {}: copy it with .to(device), or use .on(device)", item.name,
        tensor->device().name(), device.name()));
  return *tensor;
}

std::string layout_key(const engine::Call& call) {
  std::string key;
  const auto number = [&](std::int64_t value) { fmt::format_to(std::back_inserter(key), "{},", value); };
  const auto place = [&](const engine::TensorPlace& where) {
    for (std::int64_t extent : where.shape) number(extent);
    key += '/';
    for (std::int64_t stride : where.strides) number(stride);
    key += '@';
    number(static_cast<std::int64_t>(where.address % 16));
  };
  for (const auto& input : call.inputs) place(input);
  key += '>';
  for (const auto& output : call.outputs) place(output);
  for (const auto& [name, value] : call.dims) {
    key += name;
    number(value);
  }
  return key;
}

std::shared_ptr<FunctionState::Instance> instance_of(FunctionState& state, const dsl::TypeBinding& types) {
  const std::lock_guard lock(state.mutex);
  auto& instance = state.instances[types];
  if (!instance) {
    instance = std::make_shared<FunctionState::Instance>(
        unwrap(Access::program(state.program).instantiate(state.name, types)));
  }
  return instance;
}

/// The function of an instance's checks; null if its data can do no harm.
std::shared_ptr<FunctionState::Instance> checking_instance(FunctionState::Instance& instance) {
  const std::unique_lock lock(instance.mutex);
  if (!instance.checks) {
    instance.checks = dsl::make_element_checks(*instance.function).value_or(dsl::ElementChecks{});
    if (instance.checks->function)
      instance.checking = std::make_shared<FunctionState::Instance>(instance.checks->function);
  }
  return instance.checking;
}

/// The caller's memory for results has their shapes.
void check_outputs(const ResolvedCall& resolved) {
  const dsl::Function& function = *resolved.instance->function;
  const dsl::Binding binding = unwrap(engine::bind_call(function, resolved.call));
  for (std::size_t i = 0; i < resolved.call.outputs.size(); ++i) {
    const auto& given = resolved.call.outputs[i].shape;
    const auto& wanted = binding.shapes[static_cast<std::size_t>(function.results[i].value)];
    if (given != wanted)
      throw ShapeError(fmt::format("the result {} of {} is [{}], but the tensor passed for it is [{}]",
                                   function[function.results[i]].name, function.name, fmt::join(wanted, ", "),
                                   fmt::join(given, ", ")));
  }
}

void check_elements(const ResolvedCall& resolved, Stream stream) {
  const auto checking = checking_instance(*resolved.instance);
  if (!checking) return;
  const auto device = Access::runtime(resolved.device);
  if (unwrap(device->is_capturing({stream.handle})))
    throw UsageError(
        fmt::format("EINKERN_CHECK waits for what it finds in the data of {}, which cannot be while a stream "
                    "is captured: "
                    "unset it, or call outside of the capture",
                    resolved.instance->function->name));
  const dsl::ElementChecks& checks = *resolved.instance->checks;
  const ResolvedCall call{checking, engine::call_of_checks(checks, resolved.call), resolved.device};
  unwrap(engine::run_checks(checks, *prepared_call(call, stream, Unseen::taken_at_once), call.call, *device,
                            {stream.handle}));
}

}  // namespace

FunctionState::Instance::Instance(std::shared_ptr<const dsl::Function> of)
    : function(std::move(of)), plans(codegen::make_plans(function)) {}

MatchedArguments match_positional(const dsl::Signature& signature, const std::vector<Argument>& arguments) {
  if (arguments.size() > signature.parameters.size())
    throw UsageError(fmt::format("{} arguments for {} parameters of {}", arguments.size(),
                                 signature.parameters.size(), signature.text));
  MatchedArguments matched(arguments.begin(), arguments.end());
  matched.resize(signature.parameters.size());
  return matched;
}

MatchedArguments match_named(const dsl::Signature& signature, NamedArguments arguments) {
  MatchedArguments matched(signature.parameters.size());
  for (const auto& [name, argument] : arguments) {
    const auto it =
        std::find_if(signature.parameters.begin(), signature.parameters.end(),
                     [&, wanted = name](const SignatureItem& item) { return item.name == wanted; });
    if (it == signature.parameters.end())
      throw UsageError(fmt::format("no parameter is called `{}`: {}", name, signature.text));
    matched[static_cast<std::size_t>(it - signature.parameters.begin())] = argument;
  }
  return matched;
}

Device device_of(const FunctionState& state, const MatchedArguments& arguments) {
  if (!(state.device == Device())) return state.device;
  for (const auto& argument : arguments)
    if (argument)
      if (const auto* tensor = std::get_if<Tensor>(&argument->value());
          tensor && *tensor && tensor->rank() > 0)
        return tensor->device();
  return Device::best();
}

ResolvedCall resolve_call(FunctionState& state, const MatchedArguments& arguments,
                          const std::vector<Tensor>& outputs, Stream stream) {
  const dsl::Program& program = Access::program(state.program);
  const dsl::Signature& signature = *program.find(state.name);
  std::vector<std::optional<DType>> types;
  for (const auto& argument : arguments) {
    const auto* tensor = argument ? std::get_if<Tensor>(&argument->value()) : nullptr;
    types.push_back(tensor && *tensor ? std::optional(tensor->dtype()) : std::nullopt);
  }
  ResolvedCall resolved;
  resolved.device = device_of(state, arguments);
  resolved.instance = instance_of(state, unwrap(program.deduce(signature, types, state.types)));
  const dsl::Function& function = *resolved.instance->function;
  resolved.call.scalars.resize(function.scalars.size());
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const SignatureItem& item = signature.parameters[i];
    if (!arguments[i]) {
      if (!item.has_default)
        throw UsageError(fmt::format("the argument {} is missing: {}", item.name, signature.text));
      continue;
    }
    if (const auto* tensor = std::get_if<dsl::TensorId>(&function.parameters[i]))
      resolved.call.inputs.push_back(
          Access::place(tensor_of(item, *arguments[i], function[*tensor].dtype, resolved.device)));
    else if (const auto* scalar = std::get_if<dsl::ScalarId>(&function.parameters[i]))
      resolved.call.scalars[static_cast<std::size_t>(scalar->value)] =
          scalar_of(item, *arguments[i], function[*scalar].dtype, stream);
    else
      resolved.call.dims[item.name] = dim_of(item, *arguments[i]);
  }
  if (!outputs.empty() && outputs.size() != function.results.size())
    throw UsageError(fmt::format("{} outputs for {} results of {}", outputs.size(), function.results.size(),
                                 signature.text));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    resolved.call.outputs.push_back(Access::place(
        tensor_of(signature.results[i], outputs[i], function[function.results[i]].dtype, resolved.device)));
  return resolved;
}

std::shared_ptr<const engine::PreparedCall> prepared_call(const ResolvedCall& resolved, Stream stream,
                                                          Unseen unseen) {
  FunctionState::Instance& instance = *resolved.instance;
  const std::string key = layout_key(resolved.call);
  {
    const std::shared_lock lock(instance.mutex);
    const auto it = instance.prepared.find(key);
    if (it != instance.prepared.end()) return it->second;
  }
  check_outputs(resolved);
  const auto device = Access::runtime(resolved.device);
  if (unwrap(device->is_capturing({stream.handle})))
    throw UsageError(fmt::format(
        "{} has no kernels for these shapes yet, and none can be compiled while a stream is captured: "
        "call prepare() with such arguments before",
        instance.function->name));
  if (unseen == Unseen::tuned_if_asked && unwrap(engine::read_switches()).tune)
    unwrap(engine::tune_unseen(*instance.function, instance.plans, resolved.call, device));
  auto prepared = unwrap(engine::prepare_call(*instance.function, instance.plans, resolved.call, *device,
                                              process_builder(), autotune::process_records(), {}));
  const std::unique_lock lock(instance.mutex);
  return instance.prepared.emplace(key, std::move(prepared)).first->second;
}

void launch(const ResolvedCall& resolved, Stream stream) {
  const dsl::Function& function = *resolved.instance->function;
  unwrap(engine::check_overlap(function, resolved.call));
  if (unwrap(engine::read_switches()).check_elements) check_elements(resolved, stream);
  unwrap(engine::launch_call(*prepared_call(resolved, stream), function, resolved.call, {}, {stream.handle}));
}

}  // namespace einkern::detail
