#include "tests/support/conformance.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace einkern::testing {
namespace {

using nlohmann::json;

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(EINKERN_TEST_DIR) + "/conformance/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Lengths of nested lists.
std::vector<std::int64_t> shape_of(const json& value) {
  std::vector<std::int64_t> shape;
  for (const json* level = &value; level->is_array(); level = &level->front()) {
    shape.push_back(static_cast<std::int64_t>(level->size()));
    if (level->empty()) break;
  }
  return shape;
}

void append_numbers(const json& value, HostTensor& tensor) {
  if (value.is_array()) {
    for (const json& part : value) append_numbers(part, tensor);
  } else if (core::is_float(tensor.dtype)) {
    tensor.floats.push_back(core::round_to(tensor.dtype, value.get<double>()));
  } else {
    tensor.integers.push_back(
        core::wrap_integer(tensor.dtype, static_cast<std::int64_t>(value.get<double>())));
  }
}

HostTensor tensor_from(const json& value, DType dtype) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape_of(value);
  append_numbers(value, tensor);
  return tensor;
}

NamedArgument argument_from(const json& value, const dsl::SignatureItem& item,
                            const dsl::TypeBinding& types) {
  const DType dtype = item.generic.empty() ? item.dtype : types.at(item.generic);
  if (item.kind == dsl::SignatureItem::Kind::dim) return value.get<std::int64_t>();
  if (item.kind == dsl::SignatureItem::Kind::tensor) return tensor_from(value, dtype);
  if (core::is_float(dtype)) return HostScalar{dtype, core::round_to(dtype, value.get<double>()), 0};
  return HostScalar{dtype, 0, value.get<std::int64_t>()};
}

const std::string& operations_source() {
  static const std::string source = read_file("ops.ein");
  return source;
}

const core::Result<dsl::Program>& operations() {
  static const core::Result<dsl::Program> program = compile_source(operations_source());
  return program;
}

std::map<std::string, std::string> texts(const json& object) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : object.items()) result[name] = value.dump();
  return result;
}

}  // namespace

const std::vector<ConformanceCase>& conformance_cases() {
  static const std::vector<ConformanceCase> cases = [] {
    std::vector<ConformanceCase> loaded;
    for (const json& entry : json::parse(read_file("cases.json"))) {
      ConformanceCase& one = loaded.emplace_back();
      one.function = entry.at("function").get<std::string>();
      for (const auto& [name, type] : entry.at("types").items()) {
        one.types[name] = *core::parse_dtype(type.get<std::string>());
      }
      one.arguments = texts(entry.at("arguments"));
      one.results = texts(entry.at("results"));
      one.tolerance = entry.at("tolerance").get<double>();
      one.later = entry.value("later", std::vector<std::string>{});
    }
    return loaded;
  }();
  return cases;
}

core::Result<Call> conformance_call(const ConformanceCase& which) {
  if (!operations().ok()) return operations().error();
  const dsl::Program& program = *operations();
  const dsl::Signature* signature = program.find(which.function);
  if (signature == nullptr) {
    return core::Error{core::ErrorKind::usage, fmt::format("ops.ein has no function '{}'", which.function)};
  }
  NamedArguments arguments;
  for (const dsl::SignatureItem& item : signature->parameters) {
    const auto given = which.arguments.find(item.name);
    if (given == which.arguments.end()) continue;
    arguments.emplace(item.name, argument_from(json::parse(given->second), item, which.types));
  }
  return make_call(program, operations_source(), which.function, which.types, arguments);
}

std::string check_conformance(const ConformanceCase& which, const RunCase& run) {
  const core::Result<Call> call = conformance_call(which);
  if (!call.ok()) return call.error().message;
  const core::Result<Results> results = run(*call);
  if (!results.ok()) return results.error().message;
  for (const auto& [name, text] : which.results) {
    const dsl::TensorId id = call->tensor(name);
    const auto found = results->find(id);
    if (found == results->end()) return fmt::format("{} was not computed", name);
    HostTensor expected = tensor_from(json::parse(text), (*call->function)[id].dtype);
    if (expected.elements() != found->second.elements()) {
      return fmt::format("{} has {} elements instead of {}", name, found->second.elements(),
                         expected.elements());
    }
    expected.shape = found->second.shape;  // numpy has dropped dimensions of 1 here and there
    const codegen::reference::Tolerance tolerance{which.tolerance, which.tolerance};
    const auto comparison = codegen::reference::compare(expected, found->second, tolerance);
    if (!comparison.ok) return comparison.text(name);
  }
  return "";
}

}  // namespace einkern::testing
