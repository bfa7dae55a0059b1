// A function with concrete types, sizes and data, as the options of run, tune, emit, explain and cache why
// describe it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "codegen/plan/plan.h"
#include "core/device_facts.h"
#include "dsl/program.h"
#include "einkern/einkern.hpp"
#include "engine/call.h"
#include "engine/npy.h"
#include "engine/prepared_call.h"

namespace einkern::cli {

/// A source file's text; - is standard input.
core::Result<std::string> read_source(const std::string& path);

/// The checked program; its diagnostics have been printed (as JSON to standard output if asked for). An exit
/// code: there were errors.
std::variant<dsl::Program, int> load_program(const std::vector<std::string>& files, bool print_json);

/// A call whose shapes are known; tensors lie in no memory yet.
struct Problem {
  std::shared_ptr<const dsl::Function> function;
  std::vector<codegen::Plan> plans;
  dsl::Binding binding;
  engine::Call call;
  std::map<std::string, engine::NpyArray> arrays;  // inputs from files, already in their declared dtypes
  std::uint64_t seed = 0;
};

/// Finds the function, deduces types and dims from options and files. Errors have been printed when it gives
/// an exit code.
std::variant<Problem, int> load_problem(const ProblemOptions& options);

/// The inputs and results of a problem in a device's memory: files' data, else random by seed.
struct ProblemTensors {
  std::vector<Tensor> inputs, outputs;
  engine::Call call;  // with their addresses
};
ProblemTensors make_tensors(const Problem& problem, const Device& device);

/// The device's facts: of a device by name, or of an architecture that need not be here.
core::Result<core::DeviceFacts> find_facts(const std::string& device, const std::string& architecture);

/// A problem's kernels chosen and emitted, not compiled.
struct EmittedPlan {
  codegen::Plan plan;
  codegen::Specialisation specialisation;
  std::vector<engine::KernelChoice> choices;
  std::vector<core::Emission> emissions;
};
core::Result<EmittedPlan> emit_plan(const Problem& problem, const core::DeviceFacts& facts,
                                    const ChoiceOptions& choice);

}  // namespace einkern::cli
