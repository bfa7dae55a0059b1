// What the command line says, parsed; one structure a command. CLI11 stays in main.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace einkern::cli {

/// Exit codes of every command.
enum ExitCode { success = 0, diagnostics = 1, usage = 2, device = 3 };

/// Which function of which program, with which sizes and values.
struct ProblemOptions {
  std::string file;
  std::string function;
  std::vector<std::string> dims;    // "M=4096"
  std::vector<std::string> values;  // "scale=0.5": scalars and dim parameters
  std::vector<std::string> types;   // "T=bf16"
  std::vector<std::string> inputs;  // "x=x.npy"
  std::uint64_t seed = 0;
};

/// Which kernels, against the tuner's choice.
struct ChoiceOptions {
  std::string plan, schedule, configuration;
};

struct RunOptions {
  ProblemOptions problem;
  ChoiceOptions choice;
  std::vector<std::string> outputs;  // "y=y.npy"
  std::string device = "best";
  std::string check = "auto";  // auto, always, never
  int repetitions = 20;
  bool json = false;
};

struct TuneOptions {
  ProblemOptions problem;
  std::string device = "best";
  std::string schedule;
  double seconds = 10;
  int candidates = 48;
  bool more = false;
  bool json = false;
};

struct EmitOptions {
  ProblemOptions problem;
  ChoiceOptions choice;
  std::string as = "source";  // source, cuda, ptx, sass, llvm, asm
  std::string device = "best";
  std::string architecture;  // sm_90a: no GPU needed
  bool json = false;
};

struct ExplainOptions {
  ProblemOptions problem;
  ChoiceOptions choice;
  std::string device = "best";
  std::string architecture;
  bool json = false;
};

struct CheckOptions {
  std::vector<std::string> files;
  bool json = false;
};

struct FormatOptions {
  std::vector<std::string> files;  // "-": standard input
  bool write = false;
  bool check = false;
  bool json = false;
};

struct CacheOptions {
  std::string action;      // list, clear, prune, verify, export, import, why
  std::string path;        // of export and import
  ProblemOptions problem;  // of why
  std::string device = "best";
  bool json = false;
};

struct BenchOptions {
  std::string device = "best";
  std::string dtype = "f32";
  std::string filter;
  int rounds = 15;
  double tune_seconds = 0;
  bool json = false;
};

struct DevicesOptions {
  bool json = false;
};

int run_command(const RunOptions& options);
int tune_command(const TuneOptions& options);
int emit_command(const EmitOptions& options);
int explain_command(const ExplainOptions& options);
int check_command(const CheckOptions& options);
int format_command(const FormatOptions& options);
int cache_command(const CacheOptions& options);
int bench_command(const BenchOptions& options);
int devices_command(const DevicesOptions& options);

}  // namespace einkern::cli
