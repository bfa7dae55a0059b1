// Function: calls, preparation, tuning and explanation.
#include <fmt/format.h>

#include "engine/explain.h"
#include "engine/function_call.h"
#include "engine/tune.h"

namespace einkern {

using namespace detail;

namespace {

const dsl::Signature& signature_of(const FunctionState& state) {
  return *Access::program(state.program).find(state.name);
}

Results run(FunctionState& state, const MatchedArguments& arguments, Stream stream) {
  ResolvedCall resolved = resolve_call(state, arguments, {}, stream);
  const dsl::Function& function = *resolved.instance->function;
  // Shapes first: outputs are allocated dense, which is what their layout key then says.
  const dsl::Binding binding = unwrap(engine::bind_call(function, resolved.call));
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (dsl::TensorId result : function.results) {
    tensors.push_back(Access::allocate(binding.shapes[static_cast<std::size_t>(result.value)],
                                       function[result].dtype, resolved.device));
    names.push_back(function[result].name);
    resolved.call.outputs.push_back(Access::place(tensors.back()));
  }
  launch(resolved, stream);
  return {std::move(names), std::move(tensors)};
}

/// The call as `prepare`, `explain` and `tune` see it: results dense, in no memory yet.
ResolvedCall resolve_dry(FunctionState& state, const std::vector<Argument>& arguments) {
  ResolvedCall resolved = resolve_call(state, match_positional(signature_of(state), arguments), {}, {});
  const dsl::Function& function = *resolved.instance->function;
  const dsl::Binding binding = unwrap(engine::bind_call(function, resolved.call));
  for (dsl::TensorId result : function.results) {
    const auto& shape = binding.shapes[static_cast<std::size_t>(result.value)];
    resolved.call.outputs.push_back({0, shape, engine::dense_strides(shape)});
  }
  return resolved;
}

}  // namespace

Results Function::call(const std::vector<Argument>& arguments, Stream stream) const {
  return run(*state_, match_positional(signature_of(*state_), arguments), stream);
}

Results Function::call_named(NamedArguments arguments, Stream stream) const {
  return run(*state_, match_named(signature_of(*state_), arguments), stream);
}

void Function::call_into(const std::vector<Tensor>& outputs, const std::vector<Argument>& arguments,
                         Stream stream) const {
  launch(resolve_call(*state_, match_positional(signature_of(*state_), arguments), outputs, stream), stream);
}

void Function::prepare(const std::vector<Argument>& arguments) const {
  prepared_call(resolve_dry(*state_, arguments), {});
}

std::int64_t Function::workspace_bytes(const std::vector<Argument>& arguments) const {
  return prepared_call(resolve_dry(*state_, arguments), {})->prepared->workspace_bytes();
}

void Function::tune(const std::vector<Argument>& arguments, const TuneOptions& options) const {
  const ResolvedCall resolved = resolve_dry(*state_, arguments);
  unwrap(engine::tune_call(*resolved.instance->function, resolved.instance->plans, resolved.call,
                           Access::runtime(resolved.device),
                           {.seconds = options.seconds, .candidates = options.candidates}, nullptr));
  // Later calls choose anew, from the records just written.
  const std::unique_lock lock(resolved.instance->mutex);
  resolved.instance->prepared.clear();
}

std::string Function::explain(const std::vector<Argument>& arguments) const {
  const ResolvedCall resolved = resolve_dry(*state_, arguments);
  return engine::explain_text(*prepared_call(resolved, {}), Access::runtime(resolved.device)->facts());
}

std::string Function::source(const std::vector<Argument>& arguments) const {
  std::string text;
  for (const engine::PreparedKernel& kernel : prepared_call(resolve_dry(*state_, arguments), {})->kernels)
    text += kernel.emission.source + "\n";
  return text;
}

Function Function::with(std::string_view generic, DType type) const {
  Function function;
  function.state_ = std::make_shared<FunctionState>();
  function.state_->program = state_->program;
  function.state_->name = state_->name;
  function.state_->device = state_->device;
  function.state_->types = state_->types;
  function.state_->types[std::string(generic)] = type;
  return function;
}

Function Function::on(Device device) const {
  Function function;
  function.state_ = std::make_shared<FunctionState>();
  function.state_->program = state_->program;
  function.state_->name = state_->name;
  function.state_->types = state_->types;
  function.state_->device = device;
  return function;
}

Device Function::device() const { return device_of(*state_, {}); }

std::string Function::signature() const { return signature_of(*state_).text; }

}  // namespace einkern
