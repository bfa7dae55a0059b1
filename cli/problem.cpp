#include "cli/problem.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "dsl/limits.h"
#include "engine/device_registry.h"
#include "engine/face_access.h"

namespace einkern::cli {
namespace {

core::Error usage_error(std::string message) { return {core::ErrorKind::usage, std::move(message)}; }

core::Result<const dsl::Signature*> choose_function(const dsl::Program& program, const std::string& name) {
  const auto& all = program.signatures();
  if (name.empty() && all.size() == 1) return &all.front();
  std::vector<std::string_view> names;
  for (const dsl::Signature& signature : all) names.push_back(signature.name);
  if (name.empty())
    return usage_error(fmt::format("the file has {} functions: choose one with --function: {}", all.size(),
                                   fmt::join(names, ", ")));
  if (const dsl::Signature* found = program.find(name)) return found;
  return usage_error(fmt::format("no function is called `{}`{}", name, suggestion(name, names)));
}

core::Result<dsl::TypeBinding> choose_types(const ProblemOptions& options, const dsl::Program& program,
                                            const dsl::Signature& signature,
                                            const std::map<std::string, engine::NpyArray>& arrays) {
  dsl::TypeBinding types;
  for (const std::string& text : options.types) {
    EINKERN_TRY(const auto pair, split_pair("--type", text));
    const auto type = core::parse_dtype(pair.second);
    if (!type) return usage_error(fmt::format("--type {}: no type is called `{}`", text, pair.second));
    types[pair.first] = *type;
  }
  std::vector<std::optional<DType>> deduced;
  std::set<std::string> told;
  for (const dsl::SignatureItem& item : signature.parameters) {
    const auto it = arrays.find(item.name);
    const bool open = it != arrays.end() && !types.contains(item.generic);
    deduced.push_back(open ? std::optional(it->second.dtype) : std::nullopt);
    if (open) told.insert(item.generic);
  }
  // What neither an option nor a file tells is f32, where that is allowed: random data has no type of its
  // own.
  for (const auto& [generic, allowed] : signature.generics) {
    if (types.contains(generic) || told.contains(generic)) continue;
    if (std::find(allowed.begin(), allowed.end(), DType::f32) == allowed.end()) continue;
    types[generic] = DType::f32;
    notice(fmt::format("{} is f32; --type {}=… sets another", generic, generic));
  }
  return program.deduce(signature, deduced, types);
}

/// Scalars by --set, in their declared types; what --dims and --set named and nobody took is an error.
core::Result<void> set_scalars(const dsl::Signature& signature, Values& values, Problem& problem) {
  const dsl::Function& function = *problem.function;
  problem.call.scalars.resize(function.scalars.size());
  for (std::size_t i = 0; i < function.scalars.size(); ++i) {
    const dsl::Scalar& scalar = function.scalars[i];
    const auto it = values.find(scalar.name);
    if (it != values.end()) {
      EINKERN_TRY(problem.call.scalars[i], scalar_value(scalar.name, scalar.dtype, it->second));
      values.erase(it);
    } else if (!scalar.default_value) {
      return usage_error(fmt::format("the scalar {} has no value: say --set {}=1", scalar.name, scalar.name));
    }
  }
  if (values.empty()) return {};
  std::vector<std::string_view> names;
  for (const dsl::Dim& dim : function.dims) names.push_back(dim.name);
  for (const dsl::Scalar& scalar : function.scalars) names.push_back(scalar.name);
  const std::string& unknown = values.begin()->first;
  return usage_error(fmt::format("{} has neither a dim nor a scalar called `{}`{}: {}", signature.name,
                                 unknown, suggestion(unknown, names), signature.text));
}

/// Shapes of the argument tensors: their files', else what the dims say.
core::Result<void> place_inputs(const std::vector<std::int64_t>& dims, Problem& problem) {
  const dsl::Function& function = *problem.function;
  for (dsl::TensorId id : dsl::argument_tensors(function)) {
    const auto array = problem.arrays.find(function[id].name);
    engine::TensorPlace place;
    if (array != problem.arrays.end()) {
      EINKERN_TRY(array->second, fit_array(array->first, std::move(array->second), function[id].dtype));
      place.shape = array->second.shape;
    } else {
      for (dsl::ExpressionId extent : function[id].shape) {
        EINKERN_TRY(const std::int64_t size, dsl::evaluate_dims(function, extent, dims));
        place.shape.push_back(size);
      }
    }
    place.strides = engine::dense_strides(place.shape);
    problem.call.inputs.push_back(std::move(place));
  }
  return {};
}

core::Result<Problem> build_problem(const ProblemOptions& options, const dsl::Program& program) {
  EINKERN_TRY(const dsl::Signature* signature, choose_function(program, options.function));
  Problem problem{.seed = options.seed};
  EINKERN_TRY(problem.arrays, read_inputs(options, *signature));
  EINKERN_TRY(const dsl::TypeBinding types, choose_types(options, program, *signature, problem.arrays));
  EINKERN_TRY(problem.function, program.instantiate(signature->name, types));
  const dsl::Function& function = *problem.function;
  EINKERN_TRY(Values values, collect_values(options));
  EINKERN_TRY(const std::vector<std::int64_t> dims, solve_dims(function, values, problem.arrays));
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (function.dims[i].source == dsl::DimSource::parameter)
      problem.call.dims[function.dims[i].name] = dims[i];
  EINKERN_CHECK_OK(set_scalars(*signature, values, problem));
  EINKERN_CHECK_OK(place_inputs(dims, problem));
  EINKERN_TRY(problem.binding, engine::bind_call(function, problem.call));
  for (dsl::TensorId id : function.results) {
    const auto& shape = problem.binding.shapes[static_cast<std::size_t>(id.value)];
    problem.call.outputs.push_back({0, shape, engine::dense_strides(shape)});
  }
  problem.plans = codegen::make_plans(problem.function);
  return problem;
}

/// No more than that many bytes: a device or a pipe may have no end, and a byte past the limit is enough to
/// say so.
std::string read_at_most(std::istream& in, std::size_t bytes) {
  std::string text(bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

core::Result<std::string> read_source(const std::string& path) {
  if (path == "-") return read_at_most(std::cin, dsl::limits::source_bytes + 1);
  const auto fault = [&](const char* what) {
    return core::Error{core::ErrorKind::io, fmt::format("{}: {}", path, what)};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fault("is a folder; name the .ein files in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) return fault("cannot be read: does it exist?");
  return read_at_most(in, dsl::limits::source_bytes + 1);
}

std::variant<dsl::Program, int> load_program(const std::vector<std::string>& files, bool print_json) {
  dsl::SourceSet sources;
  for (const std::string& file : files) {
    auto text = read_source(file);
    if (!text) return report(text.error());
    sources.add(file == "-" ? "<stdin>" : file, std::move(*text));
  }
  dsl::DiagnosticBag found;
  auto program = dsl::Program::compile(sources, found);
  if (print_json || (!program && json_output()))
    fmt::print("{}\n", dsl::render_json(sources, found));
  else
    fmt::print(stderr, "{}", dsl::render_text(sources, found, colours()));
  if (!program) return static_cast<int>(diagnostics);
  return std::move(*program);
}

std::variant<Problem, int> load_problem(const ProblemOptions& options) {
  const auto program = load_program({options.file}, false);
  if (const int* code = std::get_if<int>(&program)) return *code;
  auto problem = build_problem(options, std::get<dsl::Program>(program));
  if (!problem) return report(problem.error());
  return std::move(*problem);
}

ProblemTensors make_tensors(const Problem& problem, const Device& device) {
  ProblemTensors tensors{.call = problem.call};
  const dsl::Function& function = *problem.function;
  const auto ids = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const dsl::Tensor& declared = function[ids[i]];
    const auto array = problem.arrays.find(declared.name);
    if (array == problem.arrays.end()) {
      tensors.inputs.push_back(
          Tensor::random(problem.call.inputs[i].shape, declared.dtype, device, problem.seed + i));
    } else {
      tensors.inputs.push_back(Tensor::empty(problem.call.inputs[i].shape, declared.dtype, device));
      detail::unwrap(detail::Access::runtime(device)->copy_to_device(
          detail::Access::place(tensors.inputs.back()).address, array->second.bytes.data(),
          static_cast<std::int64_t>(array->second.bytes.size()), {}));
    }
    tensors.call.inputs[i] = detail::Access::place(tensors.inputs.back());
  }
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    tensors.outputs.push_back(
        Tensor::empty(problem.call.outputs[i].shape, function[function.results[i]].dtype, device));
    tensors.call.outputs[i] = detail::Access::place(tensors.outputs.back());
  }
  return tensors;
}

core::Result<core::DeviceFacts> find_facts(const std::string& device, const std::string& architecture) {
  if (!architecture.empty()) return core::facts_of_architecture(architecture);
  EINKERN_TRY(const auto opened, device == "best" ? engine::open_best_device() : engine::open_device(device));
  return opened->facts();
}

core::Result<EmittedPlan> emit_plan(const Problem& problem, const core::DeviceFacts& facts,
                                    const ChoiceOptions& choice) {
  EINKERN_TRY(std::vector<engine::BoundPlan> bound,
              engine::bind_plans(problem.plans, problem.binding, problem.call));
  EINKERN_TRY(engine::ChosenPlan chosen,
              engine::choose_plan(std::move(bound), problem.binding, facts, autotune::process_records(),
                                  {choice.plan, {choice.schedule, choice.configuration}}));
  EmittedPlan emitted{
      std::move(chosen.bound.plan), std::move(chosen.bound.specialisation), std::move(chosen.choices), {}};
  for (std::size_t i = 0; i < emitted.choices.size(); ++i) {
    const codegen::KernelContext context{emitted.plan, emitted.plan.kernels[i], emitted.specialisation, facts,
                                         problem.binding};
    const engine::KernelChoice& kernel = emitted.choices[i];
    EINKERN_TRY(core::Emission emission, kernel.schedule->emit(context, kernel.configuration));
    emitted.emissions.push_back(std::move(emission));
  }
  return emitted;
}

}  // namespace einkern::cli
