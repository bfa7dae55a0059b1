#include "tests/support/call.h"

#include <fmt/format.h>

#include <cstdlib>

namespace einkern::testing {
namespace {

core::Error usage_error(std::string message) { return {core::ErrorKind::usage, std::move(message)}; }

std::string name_of(const dsl::Function& function, const dsl::Parameter& parameter) {
  return std::visit([&](auto id) { return function[id].name; }, parameter);
}

/// Element types in parameter order, for deduction.
std::vector<std::optional<DType>> argument_types(const dsl::Signature& signature,
                                                 const NamedArguments& arguments) {
  std::vector<std::optional<DType>> types;
  for (const dsl::SignatureItem& item : signature.parameters) {
    std::optional<DType>& type = types.emplace_back();
    const auto found = arguments.find(item.name);
    if (found == arguments.end()) continue;
    if (const auto* tensor = std::get_if<HostTensor>(&found->second)) type = tensor->dtype;
    if (const auto* scalar = std::get_if<HostScalar>(&found->second)) type = scalar->dtype;
  }
  return types;
}

core::Result<void> take_arguments(Call& call, const NamedArguments& arguments) {
  const dsl::Function& function = *call.function;
  for (const dsl::Parameter& parameter : function.parameters) {
    const auto found = arguments.find(name_of(function, parameter));
    if (const auto* tensor = std::get_if<dsl::TensorId>(&parameter)) {
      const auto* value = found == arguments.end() ? nullptr : std::get_if<HostTensor>(&found->second);
      if (value == nullptr)
        return usage_error(fmt::format("tensor '{}' was not given", function[*tensor].name));
      call.shapes.tensors.push_back(value->shape);
      call.arguments.tensors.emplace(*tensor, *value);
    }
    if (found == arguments.end()) continue;
    if (const auto* scalar = std::get_if<dsl::ScalarId>(&parameter)) {
      const auto* value = std::get_if<HostScalar>(&found->second);
      if (value == nullptr) return usage_error(fmt::format("'{}' is a scalar", found->first));
      call.arguments.scalars.emplace(*scalar, *value);
    }
    if (std::holds_alternative<dsl::DimId>(parameter)) {
      const auto* value = std::get_if<std::int64_t>(&found->second);
      if (value == nullptr) return usage_error(fmt::format("'{}' is a dim", found->first));
      call.shapes.dims.emplace(found->first, *value);
    }
  }
  return {};
}

}  // namespace

dsl::TensorId Call::tensor(const std::string& tensor_name) const {
  for (std::size_t i = 0; i < function->tensors.size(); ++i) {
    if (function->tensors[i].name == tensor_name) return dsl::TensorId{static_cast<std::int32_t>(i)};
  }
  std::abort();
}

core::Result<dsl::Program> compile_source(const std::string& source) {
  dsl::SourceSet sources;
  sources.add("test.ein", source);
  dsl::DiagnosticBag diagnostics;
  std::optional<dsl::Program> program = dsl::Program::compile(sources, diagnostics);
  if (program) return *program;
  return core::Error{core::ErrorKind::compile, dsl::render_text(sources, diagnostics)};
}

core::Result<Call> make_call(const std::string& source, const std::string& name,
                             const dsl::TypeBinding& types, const NamedArguments& arguments) {
  EINKERN_TRY(const dsl::Program program, compile_source(source));
  return make_call(program, source, name, types, arguments);
}

core::Result<Call> make_call(const dsl::Program& program, const std::string& source, const std::string& name,
                             const dsl::TypeBinding& types, const NamedArguments& arguments) {
  Call call;
  call.source = source;
  call.name = name.empty() ? program.signatures().front().name : name;
  const dsl::Signature* signature = program.find(call.name);
  if (signature == nullptr) return usage_error(fmt::format("there is no function '{}'", call.name));
  EINKERN_TRY(call.types, program.deduce(*signature, argument_types(*signature, arguments), types));
  EINKERN_TRY(call.function, program.instantiate(call.name, call.types));
  EINKERN_CHECK_OK(take_arguments(call, arguments));
  EINKERN_TRY(call.binding, dsl::bind(*call.function, call.shapes));
  return call;
}

core::Result<Results> run_on_reference(const Call& call) {
  return codegen::reference::evaluate(*call.function, call.binding, call.arguments);
}

std::string difference_from_reference(const Call& call, const RunCase& run) {
  const auto expected =
      codegen::reference::evaluate_with_bounds(*call.function, call.binding, call.arguments);
  if (!expected.ok()) return expected.error().message;
  const core::Result<Results> actual = run(call);
  if (!actual.ok()) return actual.error().message;
  for (const auto& [id, tensor] : expected->values) {
    const std::string& name = (*call.function)[id].name;
    const auto found = actual->find(id);
    if (found == actual->end()) return fmt::format("{} was not computed", name);
    auto tolerance = codegen::reference::Tolerance::bounded(expected->bounds.at(id));
    // The bounds hold for the exact value; what stands in `tensor` has been rounded to the result's type
    // once.
    if (core::is_float(tensor.dtype)) tolerance.relative = core::epsilon(tensor.dtype) / 2;
    const auto comparison = codegen::reference::compare(tensor, found->second, tolerance);
    if (!comparison.ok) return comparison.text(name);
  }
  return "";
}

}  // namespace einkern::testing
