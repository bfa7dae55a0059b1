// Program, compile and Results.
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "engine/face_access.h"

namespace einkern {

Program compile(std::string_view source, std::string_view name) {
  return compile_sources({{std::string(name), std::string(source)}});
}

Program compile_sources(const std::vector<Source>& texts) {
  dsl::SourceSet sources;
  for (const Source& source : texts) sources.add(source.name, source.text);
  dsl::DiagnosticBag diagnostics;
  auto program = dsl::Program::compile(sources, diagnostics);
  const std::string text = dsl::render_text(sources, diagnostics);
  if (!program) throw CompileError(text, dsl::render_json(sources, diagnostics));
  Program result;
  result.state_ = std::make_shared<detail::ProgramState>(detail::ProgramState{std::move(*program), text});
  return result;
}

Program compile_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError(path + ": cannot be read: does it exist?");
  std::ostringstream text;
  text << in.rdbuf();
  return compile(text.str(), path);
}

const std::string& Program::warnings() const { return state_->warnings; }

std::vector<std::string> Program::functions() const {
  std::vector<std::string> names;
  for (const dsl::Signature& signature : state_->program.signatures()) names.push_back(signature.name);
  return names;
}

Function Program::operator[](std::string_view name) const {
  if (!state_->program.find(name)) {
    const auto names = functions();
    std::vector<std::string_view> candidates(names.begin(), names.end());
    const auto near = dsl::nearest_name(name, candidates);
    throw UsageError(fmt::format("the program has no function `{}`{}", name,
                                 near.empty() ? std::string() : fmt::format("; did you mean `{}`?", near)));
  }
  Function function;
  function.state_ = std::make_shared<detail::FunctionState>();
  function.state_->program = *this;
  function.state_->name = name;
  return function;
}

Results::operator Tensor() const {
  if (tensors_.size() != 1)
    throw UsageError(fmt::format("the call gives {} results: take one by index or name, or .unpack<{}>()",
                                 tensors_.size(), tensors_.size()));
  return tensors_.front();
}

Tensor Results::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return tensors_[i];
  throw UsageError(fmt::format("no result is called `{}`", name));
}

void Results::check_count(std::size_t count) const {
  if (count != tensors_.size())
    throw UsageError(fmt::format("unpack<{}>() of {} results", count, tensors_.size()));
}

}  // namespace einkern
