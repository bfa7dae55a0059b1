// The command einkern: its options and help texts. Each command's work stands in a file of its own.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <new>

#include "cli/arguments.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "core/version.h"
#include "einkern/error.hpp"

namespace {

using namespace einkern::cli;

void add_problem(CLI::App& command, ProblemOptions& options, bool data = true) {
  command.add_option("file", options.file, "Source file (.ein); - is standard input")->required();
  command.add_option("--function,-f", options.function, "Which function; not needed where the file has one");
  command.add_option("--dims,-d", options.dims, "Sizes, as in M=4096,N=4096")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--set", options.values, "Scalars and dim parameters, as in scale=0.5")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--type", options.types, "Generic types, as in T=bf16")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Seed of the random inputs");
  if (data)
    command
        .add_option("--input,-i", options.inputs, "An input from a file, as in x=x.npy; others are random")
        ->allow_extra_args(false);
}

void add_choice(CLI::App& command, ChoiceOptions& options) {
  command.add_option("--plan", options.plan, "A plan by name (explain lists them)");
  command.add_option("--schedule", options.schedule, "A schedule by name, such as cpu.contraction");
  command.add_option("--config", options.configuration, "A configuration, as in tile_m=128,tile_n=64,…");
}

void add_device(CLI::App& command, std::string& device, bool reference = false) {
  command.add_option("--device", device,
                     reference ? "cpu, cuda, cuda:1, reference, or best (a GPU if there is one)"
                               : "cpu, cuda, cuda:1, or best (a GPU if there is one)");
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON, of errors too");
}

/// One line, and where help is; CLI11 says "RequiredError" and prints the whole help, which hides the error.
std::string failure_text(const CLI::App& app, const CLI::Error& error) {
  const auto used = app.get_subcommands();
  const std::string command = used.empty() ? "einkern" : "einkern " + used.front()->get_name();
  return fmt::format("{}; see `{} --help`", error.what(), command);
}

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* each : app.get_subcommands({}))
    if (each->get_name() == name) return each;
  return nullptr;
}

/// What is wrong with the words of the command line in a way that CLI11 does not put well: an unknown
/// command, an unknown option. "" where there is nothing of the kind.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return "name a command, such as `einkern run op.ein`; see `einkern --help`";
  const std::string first = argv[1];
  const CLI::App* command = subcommand(app, first);
  if (!command) {
    std::vector<std::string> names;
    for (const CLI::App* each : app.get_subcommands({})) names.push_back(each->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    return first.starts_with("-") ? ""
                                  : fmt::format("no command is called `{}`{}; see `einkern --help`", first,
                                                suggestion(first, views));
  }
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (command->get_name() == "cache" && i == 2)
      if (const CLI::App* action = subcommand(*command, word)) {
        command = action;
        continue;
      }
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name == "--" || command->get_option_no_throw(name)) continue;
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) names.push_back(option->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    return fmt::format("`{}` has no option `{}`{}; see `einkern {} --help`", command->get_name(), name,
                       suggestion(name, views), first);
  }
  return "";
}

/// The kind that an exception of the face is as a value.
einkern::core::ErrorKind kind_of(const einkern::Error& error) {
  using einkern::core::ErrorKind;
  if (dynamic_cast<const einkern::CompileError*>(&error)) return ErrorKind::compile;
  if (dynamic_cast<const einkern::ShapeError*>(&error)) return ErrorKind::shape;
  if (dynamic_cast<const einkern::DeviceError*>(&error)) return ErrorKind::device;
  if (dynamic_cast<const einkern::IoError*>(&error)) return ErrorKind::io;
  if (dynamic_cast<const einkern::InternalError*>(&error)) return ErrorKind::internal;
  return ErrorKind::usage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tensor math in index notation, one tuned kernel at run time.", "einkern");
  app.set_version_flag("--version", std::string(einkern::core::version));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n  einkern run matmul.ein --dims M=1024,N=1024,K=1024\n  einkern tune matmul.ein --dims "
      "M=1024,N=1024,K=1024\n"
      "  einkern emit matmul.ein --dims M=1024,N=1024,K=1024 --as cuda --arch sm_90a\n"
      "Exit codes: 0 success, 1 diagnostics or a wrong result, 2 usage, 3 device.");

  RunOptions run;
  CLI::App& run_app =
      *app.add_subcommand("run", "Compile, run on random or .npy data, check against the reference, time");
  add_problem(run_app, run.problem);
  add_choice(run_app, run.choice);
  run_app
      .add_option("--output,-o", run.outputs,
                  "Write a result (or an inout tensor), as in y=y.npy; y=- is standard output")
      ->allow_extra_args(false);
  add_device(run_app, run.device, true);
  run_app
      .add_option("--check", run.check, "Compare with the reference: auto (where it is quick), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  run_app.add_option("--repeat", run.repetitions, "Timed runs")->check(CLI::Range(0, 100000));
  add_json(run_app, run.json);
  run_app.footer(
      "Example: einkern run softmax.ein --dims R=512,C=1000 --input x=logits.npy --output "
      "y=probabilities.npy");

  TuneOptions tune;
  CLI::App& tune_app =
      *app.add_subcommand("tune", "Search the fastest kernels for these sizes; every later run uses them");
  add_problem(tune_app, tune.problem, false);
  add_device(tune_app, tune.device);
  tune_app.add_option("--seconds", tune.seconds, "Time for one kernel")->check(CLI::PositiveNumber);
  tune_app.add_option("--candidates", tune.candidates, "Candidates measured at most")
      ->check(CLI::PositiveNumber);
  tune_app.add_option("--schedule", tune.schedule, "Only this schedule");
  tune_app.add_flag("--more", tune.more, "Go on from an existing record");
  add_json(tune_app, tune.json);
  tune_app.footer(
      "Example: einkern tune matmul.ein --dims M=4096,N=4096,K=4096 --seconds 20\nCtrl-C stops the search "
      "and keeps what was found.");

  EmitOptions emit;
  CLI::App& emit_app = *app.add_subcommand("emit", "Print the generated code");
  add_problem(emit_app, emit.problem);
  add_choice(emit_app, emit.choice);
  emit_app
      .add_option("--as", emit.as,
                  "source (as emitted), cuda, ptx, sass, llvm (after the passes), llvm-source, asm")
      ->check(CLI::IsMember({"source", "cuda", "ptx", "sass", "llvm", "llvm-source", "asm"}));
  add_device(emit_app, emit.device);
  emit_app.add_option("--arch", emit.architecture,
                      "A GPU architecture that need not be here, such as sm_90a");
  add_json(emit_app, emit.json);
  emit_app.footer("Example: einkern emit matmul.ein --dims M=4096,N=4096,K=4096 --as ptx --arch sm_90a");

  ExplainOptions explain;
  CLI::App& explain_app = *app.add_subcommand(
      "explain", "Show kernels, fusion, bytes, operations, limits and chosen configurations");
  add_problem(explain_app, explain.problem);
  add_choice(explain_app, explain.choice);
  add_device(explain_app, explain.device);
  explain_app.add_option("--arch", explain.architecture, "A GPU architecture that need not be here");
  add_json(explain_app, explain.json);
  explain_app.footer("Example: einkern explain layernorm.ein --dims R=8192,C=4096 --arch sm_90a");

  CheckOptions check;
  CLI::App& check_app = *app.add_subcommand("check", "Diagnostics only; prints the functions' signatures");
  check_app.add_option("files", check.files, "Source files, checked as one program")->required();
  add_json(check_app, check.json);
  check_app.footer("Example: einkern check ops.ein --json");

  FormatOptions format;
  CLI::App& format_app =
      *app.add_subcommand("fmt", "Format sources to standard output, or in place with --write");
  format_app.add_option("files", format.files, "Source files; - is standard input")->required();
  format_app.add_flag("--write,-w", format.write, "Write the files in place");
  format_app.add_flag("--check", format.check,
                      "Only name files that are not formatted; exit code 1 if there are any");
  add_json(format_app, format.json);
  format_app.footer("Example: einkern fmt --write ops.ein");

  CacheOptions cache;
  CLI::App& cache_app =
      *app.add_subcommand("cache", "List, clear, carry and question the cached kernels and tuning records");
  cache_app.require_subcommand(1);
  for (const auto& [name, text] :
       {std::pair("list", "Kernels and tuning records"), std::pair("path", "The folder"),
        std::pair("clear", "Remove everything"), std::pair("prune", "Remove what is old or too much"),
        std::pair("verify", "Read every file; remove damaged ones")}) {
    CLI::App& action = *cache_app.add_subcommand(name, text);
    action.callback([&cache, name] { cache.action = name; });
    add_json(action, cache.json);
  }
  for (const auto& [name, text] : {std::pair("export", "Write NAME.kernels and NAME.records.json"),
                                   std::pair("import", "Take such files in")}) {
    CLI::App& action = *cache_app.add_subcommand(name, text);
    action.add_option("name", cache.path, "Path without ending")->required();
    action.callback([&cache, name] { cache.action = name; });
    add_json(action, cache.json);
  }
  cache_app.footer(
      "Examples: einkern cache list\n          einkern cache export my-machine\n          einkern cache why "
      "matmul.ein --dims M=512,N=512,K=512");
  CLI::App& why_app = *cache_app.add_subcommand(
      "why", "Why a kernel is not in the cache: the field in which the nearest differs");
  add_problem(why_app, cache.problem);
  add_device(why_app, cache.device);
  add_json(why_app, cache.json);
  why_app.callback([&cache] { cache.action = "why"; });

  BenchOptions bench;
  std::string suite = "gemm";
  CLI::App& bench_app = *app.add_subcommand(
      "bench", "Time products against cuBLASLt, OpenBLAS and oneDNN, in one process on the same buffers");
  bench_app.add_option("--suite", suite, "Which suite: gemm")->check(CLI::IsMember({"gemm"}));
  add_device(bench_app, bench.device);
  bench_app.add_option("--type", bench.dtype, "f32, f16 or bf16");
  bench_app.add_option("--filter", bench.filter, "Only shapes whose name holds this");
  bench_app.add_option("--rounds", bench.rounds, "Rounds, each in a new random order")
      ->check(CLI::PositiveNumber);
  bench_app
      .add_option("--tune", bench.tune_seconds, "Seconds of tuning for each shape before it is measured")
      ->check(CLI::NonNegativeNumber);
  add_json(bench_app, bench.json);
  bench_app.footer("Example: einkern bench --suite gemm --type f32 --filter sq- --tune 10");

  DevicesOptions devices;
  CLI::App& devices_app =
      *app.add_subcommand("devices", "What is here, and what is missing and how to get it");
  add_json(devices_app, devices.json);
  devices_app.footer("Example: einkern devices --json");

  set_json_output(std::find(argv, argv + argc, std::string_view("--json")) != argv + argc);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    const std::string unknown = unknown_word(app, argc, argv);
    return report({einkern::core::ErrorKind::usage, unknown.empty() ? failure_text(app, error) : unknown});
  }
  try {
    if (run_app.parsed()) return run_command(run);
    if (tune_app.parsed()) return tune_command(tune);
    if (emit_app.parsed()) return emit_command(emit);
    if (explain_app.parsed()) return explain_command(explain);
    if (check_app.parsed()) return check_command(check);
    if (format_app.parsed()) return format_command(format);
    if (cache_app.parsed()) return cache_command(cache);
    if (bench_app.parsed()) return bench_command(bench);
    return devices_command(devices);
  } catch (const einkern::Error& error) {
    return report({kind_of(error), error.what()});
  } catch (const std::bad_alloc&) {
    return report({einkern::core::ErrorKind::device,
                   "this machine has no memory left for that; use smaller tensors, or free some"});
  } catch (const std::exception& error) {
    return report({einkern::core::ErrorKind::internal, error.what()});
  }
}
