// One call of a function written as source text: checked, bound, with arguments. What any backend's tests can
// run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "codegen/reference/compare.h"
#include "codegen/reference/evaluator.h"
#include "core/result.h"
#include "dsl/binding.h"
#include "dsl/program.h"

namespace einkern::testing {

using codegen::reference::Arguments;
using codegen::reference::HostScalar;
using codegen::reference::HostTensor;
using codegen::reference::Results;

/// A tensor, a scalar, or the value of a `dim` parameter.
using NamedArgument = std::variant<HostTensor, HostScalar, std::int64_t>;
using NamedArguments = std::map<std::string, NamedArgument>;

struct Call {
  std::string source;      // the whole source text
  std::string name;        // of the function
  dsl::TypeBinding types;  // of generic names
  std::shared_ptr<const dsl::Function> function;
  dsl::CallShapes shapes;
  dsl::Binding binding;
  Arguments arguments;

  /// A tensor by name, such as a result's; aborts if there is none.
  dsl::TensorId tensor(const std::string& tensor_name) const;
};

/// How a backend runs a call: results and inout tensors by TensorId, as reference::evaluate gives them.
using RunCase = std::function<core::Result<Results>(const Call&)>;

/// The checked program; on errors the rendered diagnostics as an Error.
core::Result<dsl::Program> compile_source(const std::string& source);

/// Compiles, instantiates and binds one function. `name` may be empty if the source has one function. Types
/// that are not given are deduced from the arguments.
core::Result<Call> make_call(const std::string& source, const std::string& name,
                             const dsl::TypeBinding& types, const NamedArguments& arguments);
/// The same for a program that is compiled already.
core::Result<Call> make_call(const dsl::Program& program, const std::string& source, const std::string& name,
                             const dsl::TypeBinding& types, const NamedArguments& arguments);

/// The reference itself as a backend.
core::Result<Results> run_on_reference(const Call& call);

/// Runs a call on a backend and compares every result with the reference's error bounds; the text of the
/// first result that differs, or of an error, or "".
std::string difference_from_reference(const Call& call, const RunCase& run);

}  // namespace einkern::testing
