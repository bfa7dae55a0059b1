// Functions from source text, for tests of what stands above the checker.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "dsl/program.h"

namespace einkern::testing {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The checked program of one source. Reports what is wrong with it as a test failure.
inline std::optional<dsl::Program> compile_program(const std::string& source) {
  dsl::SourceSet sources;
  sources.add("test.ein", source);
  dsl::DiagnosticBag diagnostics;
  auto program = dsl::Program::compile(sources, diagnostics);
  if (!program)
    for (const dsl::Diagnostic& diagnostic : diagnostics.all())
      ADD_FAILURE() << diagnostic.message << " in\n" << source;
  return program;
}

/// The only function of a source, or the named one; generic types all `type`.
inline std::shared_ptr<const dsl::Function> compile_function(const std::string& source, std::string name = {},
                                                             DType type = DType::f32) {
  const auto program = compile_program(source);
  if (!program) return nullptr;
  if (name.empty()) name = program->signatures().back().name;
  const dsl::Signature* signature = program->find(name);
  if (!signature) return nullptr;
  dsl::TypeBinding types;
  for (const auto& [generic, allowed] : signature->generics)
    types[generic] = std::count(allowed.begin(), allowed.end(), type) ? type : allowed.front();
  auto function = program->instantiate(name, types);
  if (!function.ok()) {
    ADD_FAILURE() << function.error().message;
    return nullptr;
  }
  return *function;
}

}  // namespace einkern::testing
