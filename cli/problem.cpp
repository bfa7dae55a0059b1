#include "cli/problem.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.h"
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
  const auto near = dsl::nearest_name(name, names);
  return usage_error(fmt::format("no function is called `{}`{}", name,
                                 near.empty() ? std::string() : fmt::format("; did you mean `{}`?", near)));
}

/// Values given by --dims and --set, by name, each taken out when used.
using Values = std::map<std::string, std::string>;

core::Result<std::int64_t> integer_of(const std::string& name, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < 0)
    return usage_error(fmt::format("{}={}: a dim is an integer of 0 or more", name, text));
  return value;
}

core::Result<double> number_of(const std::string& name, const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text == "inf" || text == "-inf" || text == "nan") return std::strtod(text.c_str(), nullptr);
  if (fault != std::errc() || end != text.data() + text.size())
    return usage_error(fmt::format("{}={}: not a number", name, text));
  return value;
}

/// Sizes of dims: from --dims, from files, then derived ones. Unknown ones are an error that names them all.
core::Result<std::vector<std::int64_t>> solve_dims(const dsl::Function& function, Values& values,
                                                   const std::map<std::string, engine::NpyArray>& arrays) {
  std::vector<std::optional<std::int64_t>> known(function.dims.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto it = values.find(function.dims[i].name);
    if (it == values.end()) continue;
    EINKERN_TRY(known[i], integer_of(it->first, it->second));
    values.erase(it);
  }
  for (dsl::TensorId id : dsl::argument_tensors(function)) {
    const auto array = arrays.find(function[id].name);
    if (array == arrays.end()) continue;
    if (array->second.shape.size() != function[id].shape.size())
      return core::Error{core::ErrorKind::shape,
                         fmt::format("{} has {} dimensions, its file {}", function[id].name,
                                     function[id].shape.size(), array->second.shape.size())};
    for (std::size_t i = 0; i < function[id].shape.size(); ++i) {
      const dsl::Expression& dimension = function.arena[function[id].shape[i]];
      if (dimension.op == dsl::Op::dim && !known[static_cast<std::size_t>(dimension.index)])
        known[static_cast<std::size_t>(dimension.index)] = array->second.shape[i];
    }
  }
  // Derivations and defaults may need each other, so go over them until nothing more is found.
  for (std::size_t round = 0; round <= known.size(); ++round)
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] || !function.dims[i].value) continue;
      bool ready = true;
      dsl::visit_nodes(function.arena, *function.dims[i].value, [&](dsl::ExpressionId id) {
        const dsl::Expression& e = function.arena[id];
        if (e.op == dsl::Op::dim) ready = ready && known[static_cast<std::size_t>(e.index)].has_value();
      });
      if (!ready) continue;
      std::vector<std::int64_t> numbers;
      for (const auto& value : known) numbers.push_back(value.value_or(0));
      EINKERN_TRY(known[i], dsl::evaluate_dims(function, *function.dims[i].value, numbers));
    }
  std::vector<std::string> missing;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i]) missing.push_back(function.dims[i].name);
    dims.push_back(known[i].value_or(0));
  }
  if (!missing.empty())
    return usage_error(fmt::format("{} {} no value: say --dims {}=1024", fmt::join(missing, ", "),
                                   missing.size() == 1 ? "has" : "have", fmt::join(missing, "=1024,")));
  return dims;
}

core::Result<Values> collect_values(const ProblemOptions& options) {
  Values values;
  for (const auto& [name, list] : {std::pair("--dims", &options.dims), std::pair("--set", &options.values)})
    for (const std::string& text : *list) {
      EINKERN_TRY(const auto pair, split_pair(name, text));
      values[pair.first] = pair.second;
    }
  return values;
}

core::Result<std::map<std::string, engine::NpyArray>> read_inputs(const ProblemOptions& options,
                                                                  const dsl::Signature& signature) {
  std::map<std::string, engine::NpyArray> arrays;
  for (const std::string& text : options.inputs) {
    EINKERN_TRY(const auto pair, split_pair("--input", text));
    const bool known = std::any_of(
        signature.parameters.begin(), signature.parameters.end(), [&](const dsl::SignatureItem& item) {
          return item.kind == dsl::SignatureItem::Kind::tensor && item.name == pair.first;
        });
    if (!known)
      return usage_error(
          fmt::format("{} has no tensor `{}`: {}", signature.name, pair.first, signature.text));
    EINKERN_TRY(arrays[pair.first], engine::read_npy(pair.second));
  }
  return arrays;
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
  problem.call.scalars.resize(function.scalars.size());
  for (std::size_t i = 0; i < function.scalars.size(); ++i) {
    const dsl::Scalar& scalar = function.scalars[i];
    const auto it = values.find(scalar.name);
    if (it == values.end()) {
      if (!scalar.default_value)
        return usage_error(
            fmt::format("the scalar {} has no value: say --set {}=1", scalar.name, scalar.name));
      continue;
    }
    EINKERN_TRY(const double number, number_of(it->first, it->second));
    problem.call.scalars[i] = engine::ScalarBits{scalar.dtype, engine::bits_of(scalar.dtype, number)};
    values.erase(it);
  }
  if (!values.empty())
    return usage_error(fmt::format("{} has neither a dim nor a scalar called `{}`: {}", signature->name,
                                   values.begin()->first, signature->text));
  for (dsl::TensorId id : dsl::argument_tensors(function)) {
    const auto array = problem.arrays.find(function[id].name);
    engine::TensorPlace place;
    if (array != problem.arrays.end()) {
      if (array->second.dtype != function[id].dtype) {
        notice(fmt::format("{} is rounded from {} to {}", function[id].name,
                           core::dtype_name(array->second.dtype), core::dtype_name(function[id].dtype)));
        array->second = engine::convert(array->second, function[id].dtype);
      }
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
  EINKERN_TRY(problem.binding, engine::bind_call(function, problem.call));
  for (dsl::TensorId id : function.results) {
    const auto& shape = problem.binding.shapes[static_cast<std::size_t>(id.value)];
    problem.call.outputs.push_back({0, shape, engine::dense_strides(shape)});
  }
  problem.plans = codegen::make_plans(problem.function);
  return problem;
}

}  // namespace

core::Result<std::string> read_source(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return core::Error{core::ErrorKind::io, fmt::format("{}: cannot be read: does it exist?", path)};
  text << in.rdbuf();
  return text.str();
}

std::optional<dsl::Program> load_program(const std::vector<std::string>& files, bool json) {
  dsl::SourceSet sources;
  for (const std::string& file : files) {
    auto text = read_source(file);
    if (!text) {
      report(text.error());
      return std::nullopt;
    }
    sources.add(file == "-" ? "<stdin>" : file, std::move(*text));
  }
  dsl::DiagnosticBag found;
  auto program = dsl::Program::compile(sources, found);
  if (json)
    fmt::print("{}\n", dsl::render_json(sources, found));
  else
    fmt::print(stderr, "{}", dsl::render_text(sources, found, colours()));
  return program;
}

std::variant<Problem, int> load_problem(const ProblemOptions& options) {
  const auto program = load_program({options.file}, false);
  if (!program) return static_cast<int>(diagnostics);
  auto problem = build_problem(options, *program);
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
  const auto bound = engine::bind_plans(problem.plans, problem.binding, problem.call);
  const auto wanted = std::find_if(bound.begin(), bound.end(), [&](const engine::BoundPlan& b) {
    return choice.plan.empty() || b.plan.name == choice.plan;
  });
  if (wanted == bound.end()) return usage_error(fmt::format("no plan is called {}", choice.plan));
  EmittedPlan emitted{wanted->plan, wanted->specialisation, {}, {}};
  for (const codegen::Kernel& kernel : emitted.plan.kernels) {
    const codegen::KernelContext context{emitted.plan, kernel, emitted.specialisation, facts,
                                         problem.binding};
    EINKERN_TRY(engine::KernelChoice chosen, engine::choose_kernel(context, autotune::process_records(),
                                                                   {choice.schedule, choice.configuration}));
    EINKERN_TRY(core::Emission emission, chosen.schedule->emit(context, chosen.configuration));
    emitted.choices.push_back(std::move(chosen));
    emitted.emissions.push_back(std::move(emission));
  }
  return emitted;
}

}  // namespace einkern::cli
