// einkern run: compile, run, check, time.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/json_report.h"
#include "cli/problem.h"
#include "cli/terminal.h"
#include "codegen/reference/compare.h"
#include "codegen/reference/evaluator.h"
#include "engine/element_checks.h"
#include "engine/face_access.h"
#include "engine/switches.h"
#include "engine/tune.h"

namespace einkern::cli {
namespace {

namespace reference = codegen::reference;
using Json = nlohmann::ordered_json;

/// Above this many operations the evaluator takes too long to be run unasked.
constexpr double operations_checked_unasked = 2e8;

reference::HostTensor host_tensor(const Tensor& tensor) {
  reference::HostTensor host{.dtype = tensor.dtype(), .shape = tensor.shape(), .floats = {}, .integers = {}};
  if (core::is_float(tensor.dtype()))
    host.floats = tensor.to_doubles();
  else
    host.integers = tensor.to_integers();
  return host;
}

core::Result<reference::BoundedResults> evaluate(const Problem& problem,
                                                 const std::vector<reference::HostTensor>& inputs,
                                                 double limit) {
  const dsl::Function& function = *problem.function;
  reference::Arguments arguments;
  const auto ids = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < ids.size(); ++i) arguments.tensors[ids[i]] = inputs[i];
  EINKERN_TRY(const auto bits, engine::scalar_bits(function, problem.call, problem.binding.dims));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const DType type = function.scalars[i].dtype;
    const double number = engine::number_of(type, bits[i]);
    const auto integer =
        core::is_float(type) ? 0 : core::wrap_integer(type, static_cast<std::int64_t>(bits[i]));
    arguments.scalars[{static_cast<std::int32_t>(i)}] = {type, number, integer};
  }
  return reference::evaluate_with_bounds(function, problem.binding, arguments, limit);
}

/// What EINKERN_CHECK=1 finds in the inputs, on the reference.
core::Result<void> check_elements(const Problem& problem, const std::vector<reference::HostTensor>& inputs) {
  const auto checks = dsl::make_element_checks(*problem.function);
  if (!checks) return {};
  Problem checking = problem;
  checking.function = checks->function;
  EINKERN_TRY(checking.binding, engine::bind_call(*checks->function, problem.call));
  EINKERN_TRY(const auto results, evaluate(checking, inputs, 1e15));
  std::vector<std::int64_t> found;
  for (dsl::TensorId id : checks->function->results) found.push_back(results.values.at(id).integers.front());
  return dsl::judge_elements(*checks, found, problem.binding.dims);
}

/// Compares the results (and inout tensors) with the reference evaluator's.
core::Result<CheckResult> check(const Problem& problem, const std::vector<reference::HostTensor>& inputs,
                                const ProblemTensors& tensors, bool always) {
  auto expected = evaluate(problem, inputs, always ? 1e15 : operations_checked_unasked);
  if (!expected) {
    if (always || expected.error().kind == core::ErrorKind::internal) return expected.error();
    return CheckResult{
        true, "not checked: too large for the reference evaluator unasked; --check always does it", 0};
  }
  CheckResult result;
  std::int64_t elements = 0;
  const dsl::Function& function = *problem.function;
  const auto compare = [&](dsl::TensorId id, const Tensor& actual) {
    const auto comparison = reference::compare(expected->values[id], host_tensor(actual),
                                               reference::Tolerance::bounded(expected->bounds[id]));
    elements += comparison.elements;
    result.largest_error = std::max(result.largest_error, comparison.largest_error);
    if (comparison.ok) return;
    result.ok = false;
    result.text += (result.text.empty() ? "" : "; ") + comparison.text(function[id].name);
  };
  for (std::size_t i = 0; i < function.results.size(); ++i) compare(function.results[i], tensors.outputs[i]);
  const auto ids = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (function[ids[i]].role == dsl::TensorRole::inout) compare(ids[i], tensors.inputs[i]);
  if (result.ok)
    result.text = fmt::format("all {} elements agree with the reference, largest error {:.3g}", elements,
                              result.largest_error);
  return result;
}

core::Result<Timing> measure(runtime::Device& device, const engine::PreparedCall& prepared,
                             const Problem& problem, const ProblemTensors& tensors, int repetitions) {
  EINKERN_TRY(const auto begin, device.create_event());
  EINKERN_TRY(const auto end, device.create_event());
  std::vector<double> seconds;
  double total = 0;
  for (int run = -2; run < repetitions && total < 5; ++run) {  // two to warm up
    EINKERN_CHECK_OK(begin->record({}));
    EINKERN_CHECK_OK(engine::launch_call(prepared, *problem.function, tensors.call, {}, {}));
    EINKERN_CHECK_OK(end->record({}));
    EINKERN_CHECK_OK(end->synchronize());
    EINKERN_TRY(const double one, end->seconds_since(*begin));
    total += one;
    if (run >= 0 || total >= 5) seconds.push_back(one);
  }
  if (seconds.empty()) return Timing{};
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  const double median = seconds[n / 2];
  return Timing{median, median > 0 ? (seconds[n * 3 / 4] - seconds[n / 4]) / median : 0, static_cast<int>(n)};
}

/// The tensors that --output may name: results, and what is changed in place.
std::vector<std::string_view> output_names(const dsl::Function& function) {
  std::vector<std::string_view> names;
  for (dsl::TensorId id : function.results) names.push_back(function[id].name);
  for (dsl::TensorId id : dsl::argument_tensors(function))
    if (function[id].role == dsl::TensorRole::inout) names.push_back(function[id].name);
  return names;
}

/// Files by tensor name, as --output says; asked before anything runs.
core::Result<std::map<std::string, std::string>> output_files(const RunOptions& options,
                                                              const dsl::Function& function) {
  const auto names = output_names(function);
  std::map<std::string, std::string> files;
  for (const std::string& text : options.outputs) {
    EINKERN_TRY(const auto pair, split_pair("--output", text));
    if (std::find(names.begin(), names.end(), pair.first) == names.end())
      return core::Error{core::ErrorKind::usage,
                         fmt::format("no result is called `{}`{}; there are: {}", pair.first,
                                     suggestion(pair.first, names), fmt::join(names, ", "))};
    if (!files.emplace(pair).second)
      return core::Error{core::ErrorKind::usage, fmt::format("--output {} is given twice", pair.first)};
  }
  return files;
}

/// Writes what --output names; - is standard output.
void save_outputs(const std::map<std::string, std::string>& files, const dsl::Function& function,
                  const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  const auto save = [&](dsl::TensorId id, const Tensor& tensor) {
    const auto file = files.find(function[id].name);
    if (file != files.end()) tensor.save(file->second == "-" ? "/dev/stdout" : file->second);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) save(function.results[i], outputs[i]);
  const auto ids = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (function[ids[i]].role == dsl::TensorRole::inout) save(ids[i], inputs[i]);
}

/// Where the report goes: not into a result that is written to standard output.
std::FILE* report_stream(const std::map<std::string, std::string>& files) {
  const bool taken = std::any_of(files.begin(), files.end(), [](const auto& file) {
    return file.second == "-" || file.second == "/dev/stdout";
  });
  return taken ? stderr : stdout;
}

std::string shape_line(const Problem& problem) {
  const dsl::Function& function = *problem.function;
  std::vector<std::string> parts;
  for (std::size_t t = 0; t < function.tensors.size(); ++t) {
    const dsl::Tensor& tensor = function.tensors[t];
    if (tensor.role == dsl::TensorRole::local || tensor.role == dsl::TensorRole::temporary) continue;
    parts.push_back(fmt::format("{}: {}[{}]", tensor.name, core::dtype_name(tensor.dtype),
                                fmt::join(problem.binding.shapes[t], ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

Json dims_json(const Problem& problem) {
  Json dims = Json::object();
  for (const auto& [name, value] : problem.binding.symbols) dims[name] = value;
  return dims;
}

/// The reference evaluator as a device: results by --output, nothing to time.
int run_on_reference(const RunOptions& options, const Problem& problem,
                     const std::map<std::string, std::string>& files) {
  const Device cpu = Device::cpu();
  const ProblemTensors tensors = make_tensors(problem, cpu);
  std::vector<reference::HostTensor> inputs;
  for (const Tensor& input : tensors.inputs) inputs.push_back(host_tensor(input));
  const auto switches = engine::read_switches();
  if (!switches) return report(switches.error());
  if (switches->check_elements)
    if (const auto fault = check_elements(problem, inputs); !fault) return report(fault.error());
  const auto results = evaluate(problem, inputs, 1e15);
  if (!results) return report(results.error());
  const auto tensor_of = [&](dsl::TensorId id) {
    const reference::HostTensor& host = results->values.at(id);
    return core::is_float(host.dtype)
               ? Tensor::from(std::span<const double>(host.floats), host.shape, host.dtype, cpu)
               : Tensor::from(std::span<const std::int64_t>(host.integers), host.shape, host.dtype, cpu);
  };
  const dsl::Function& function = *problem.function;
  std::vector<Tensor> outputs, changed = tensors.inputs;
  for (dsl::TensorId id : function.results) outputs.push_back(tensor_of(id));
  const auto ids = dsl::argument_tensors(function);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (function[ids[i]].role == dsl::TensorRole::inout) changed[i] = tensor_of(ids[i]);
  save_outputs(files, function, outputs, changed);
  if (options.json)
    fmt::print(
        report_stream(files), "{}\n",
        Json{{"function", function.name}, {"device", "reference"}, {"dims", dims_json(problem)}}.dump(1));
  else
    fmt::print(report_stream(files), "{} on the reference evaluator\n  {}\n", function.name,
               shape_line(problem));
  return success;
}

void print_report(std::FILE* out, const Problem& problem, const runtime::Device& device,
                  const engine::PreparedCall& prepared, const Timing& timing, const CheckResult& check) {
  double bytes = 0, operations = 0, limit = 0;
  const auto kernels = engine::explain_kernels(prepared);
  fmt::print(out, "{} on {} ({})\n  {}\n", problem.function->name, device.facts().name,
             device.facts().architecture, shape_line(problem));
  for (const auto& kernel : kernels) {
    fmt::print(out, "  kernel  {} [{}] {}\n", kernel.schedule, kernel.source, kernel.configuration);
    bytes += kernel.bytes;
    operations += kernel.operations;
    limit += kernel.limit_seconds;
  }
  if (timing.runs > 0 && timing.seconds > 0) {
    fmt::print(out, "  time    {} (median of {}, spread {:.0f} %)\n", engine::seconds_text(timing.seconds),
               timing.runs, 100 * timing.spread);
    fmt::print(out, "  rate    {}, {}\n", engine::rate_text(operations / timing.seconds, "op"),
               engine::rate_text(bytes / timing.seconds, "B"));
    fmt::print(out, "  limit   {} on this device: {:.0f} % of it reached\n", engine::seconds_text(limit),
               100 * limit / timing.seconds);
  }
  fmt::print(out, "  check   {}\n", check.text);
}

int run_on_device(const RunOptions& options, const Problem& problem,
                  const std::map<std::string, std::string>& files) {
  const Device device = options.device == "best" ? Device::best() : Device::named(options.device);
  const auto runtime = detail::Access::runtime(device);
  const ProblemTensors tensors = make_tensors(problem, device);
  const bool wants_check = options.check != "never";
  std::vector<reference::HostTensor> inputs;
  for (const Tensor& input : tensors.inputs)
    if (wants_check) inputs.push_back(host_tensor(input));
  const auto switches = engine::read_switches();
  if (!switches) return report(switches.error());
  if (switches->check_elements) {
    const auto fault = engine::check_elements(*problem.function, tensors.call, *runtime,
                                              detail::process_builder(), autotune::process_records());
    if (!fault) return report(fault.error());
  }
  if (switches->tune)
    if (const auto tuned = engine::tune_unseen(*problem.function, problem.plans, tensors.call, runtime);
        !tuned)
      return report(tuned.error());
  const auto prepared =
      engine::prepare_call(*problem.function, problem.plans, tensors.call, *runtime,
                           detail::process_builder(), autotune::process_records(),
                           {options.choice.plan, {options.choice.schedule, options.choice.configuration}});
  if (!prepared) return report(prepared.error());
  if (const auto run = engine::launch_call(**prepared, *problem.function, tensors.call, {}, {}); !run)
    return report(run.error());
  if (const auto done = runtime->synchronize({}); !done) return report(done.error());
  CheckResult checked{true, "not checked", 0};
  if (wants_check) {
    auto result = check(problem, inputs, tensors, options.check == "always");
    if (!result) return report(result.error());
    checked = std::move(*result);
  }
  save_outputs(files, *problem.function, tensors.outputs, tensors.inputs);
  const auto timing = measure(*runtime, **prepared, problem, tensors, options.repetitions);
  if (!timing) return report(timing.error());
  if (options.json)
    fmt::print(report_stream(files), "{}\n",
               run_json({problem, runtime->facts(), (*prepared)->plan, engine::explain_kernels(**prepared)},
                        *timing, checked));
  else
    print_report(report_stream(files), problem, *runtime, **prepared, *timing, checked);
  return checked.ok ? success : diagnostics;
}

}  // namespace

int run_command(const RunOptions& options) {
  auto loaded = load_problem(options.problem);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const Problem& problem = std::get<Problem>(loaded);
  const auto files = output_files(options, *problem.function);
  if (!files) return report(files.error());
  return options.device == "reference" ? run_on_reference(options, problem, *files)
                                       : run_on_device(options, problem, *files);
}

}  // namespace einkern::cli
