#include "engine/repro.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace einkern::engine {
namespace {

/// "--dims M=4,N=8 --set scale=0.5"; derived dims follow by themselves.
std::string size_options(const codegen::KernelContext& context, const Call& call) {
  const dsl::Function& graph = *context.plan.graph;
  std::vector<std::string> dims, scalars;
  for (std::size_t d = 0; d < graph.dims.size(); ++d)
    if (graph.dims[d].source != dsl::DimSource::derived)
      dims.push_back(fmt::format("{}={}", graph.dims[d].name, context.binding.dims[d]));
  for (std::size_t s = 0; s < call.scalars.size(); ++s)
    if (const auto& given = call.scalars[s])
      scalars.push_back(fmt::format("{}={}", graph.scalars[s].name, number_of(given->dtype, given->bits)));
  std::string text;
  if (!dims.empty()) text += fmt::format(" --dims {}", fmt::join(dims, ","));
  if (!scalars.empty()) text += fmt::format(" --set {}", fmt::join(scalars, ","));
  return text;
}

std::string configuration_option(const codegen::Configuration& configuration) {
  std::string text = configuration.text();
  for (char& c : text)
    if (c == ' ') c = ',';
  return text.empty() ? text : " --config " + text;
}

}  // namespace

core::Error with_repro(const core::Error& error, const codegen::KernelContext& context,
                       const KernelChoice& choice, const Call& call) {
  if (error.kind != core::ErrorKind::compile && error.kind != core::ErrorKind::internal) return error;
  const dsl::Function& graph = *context.plan.graph;
  const bool gpu = context.device.backend == core::Backend::cuda;
  return {
      core::ErrorKind::internal,
      fmt::format("einkern wrote a kernel of `{}` that cannot be built. This is a fault of einkern: please "
                  "report it, with all that follows.\n\n{}\n\n# {} ({}), {}\n# {}\n"
                  "# einkern run repro.ein{} --device {} --plan \"{}\" --schedule {}{}\n{}",
                  graph.name, error.message, context.device.name, context.device.architecture,
                  context.kernel.name, context.specialisation.text(graph), size_options(context, call),
                  gpu ? "cuda" : "cpu", context.plan.name, choice.schedule->name(),
                  configuration_option(choice.configuration), graph.canonical_text)};
}

}  // namespace einkern::engine
