// The command einkern: its options and help texts. Each command's work stands in a file of its own.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

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

void add_json(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tensor math in index notation, one tuned kernel at run time.", "einkern");
  app.set_version_flag("--version", std::string(einkern::core::version));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
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
  run_app.add_option("--output,-o", run.outputs, "Write a result, as in y=y.npy")->allow_extra_args(false);
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
  }
  CLI::App& why_app = *cache_app.add_subcommand(
      "why", "Why a kernel is not in the cache: the field in which the nearest differs");
  add_problem(why_app, cache.problem);
  add_device(why_app, cache.device);
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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? success : usage;
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
  } catch (const einkern::DeviceError& error) {
    return report({einkern::core::ErrorKind::device, error.what()});
  } catch (const einkern::Error& error) {
    return report({einkern::core::ErrorKind::usage, error.what()});
  } catch (const std::exception& error) {
    return report({einkern::core::ErrorKind::internal, error.what()});
  }
}
