// Sources compiled in one line, for tests.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "dsl/program.h"

namespace einkern::testing {

/// A compile with everything it said.
struct Compiled {
  dsl::SourceSet sources;
  dsl::DiagnosticBag diagnostics;
  std::optional<dsl::Program> program;

  explicit Compiled(const std::string& text) {
    sources.add("test.ein", text);
    program = dsl::Program::compile(sources, diagnostics);
  }

  std::string messages() const { return dsl::render_text(sources, diagnostics); }

  /// A function of a program without errors; null if it cannot be instantiated.
  std::shared_ptr<const dsl::Function> function(std::string_view name,
                                                const dsl::TypeBinding& types = {}) const {
    auto instance = program->instantiate(name, types);
    return instance.ok() ? *instance : nullptr;
  }
  /// The first function of the source.
  std::shared_ptr<const dsl::Function> first() const { return function(program->signatures().front().name); }
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace einkern::testing
