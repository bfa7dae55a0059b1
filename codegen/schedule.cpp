#include "codegen/schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/cpu/schedules.h"
#include "codegen/cuda/schedules.h"
#include "core/hash.h"

namespace einkern::codegen {

const std::vector<const Schedule*>& schedules(core::Backend backend) {
  static const std::vector<const Schedule*> none;
  switch (backend) {
    case core::Backend::cpu:
      return cpu::schedules();
    case core::Backend::cuda:
      return cuda::schedules();
    case core::Backend::reference:
      return none;
  }
  return none;
}

const Schedule* find_schedule(std::string_view name) {
  for (const core::Backend backend : {core::Backend::cpu, core::Backend::cuda})
    for (const Schedule* schedule : schedules(backend))
      if (schedule->name() == name) return schedule;
  // Never candidates, so in no list.
  for (const Schedule* reference : {&cuda::reference_schedule(), &cuda::sampled_reference_schedule()})
    if (name == reference->name()) return reference;
  return nullptr;
}

namespace {

std::string identifier(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    result += plain ? c : '_';
  }
  return result;
}

}  // namespace

std::string entry_name(const KernelContext& context, const Schedule& schedule,
                       const Configuration& configuration) {
  const dsl::Function& graph = *context.plan.graph;
  core::Key key;
  key.add("function", graph.canonical_text)
      .add("plan", context.plan.name)
      .add("kernel", describe(graph, context.kernel))
      .add("schedule", schedule.name())
      .add("version", schedule.version())
      .add("architecture", context.device.architecture)
      .add("features", context.device.features)
      .add("specialisation", context.specialisation.text(graph))
      .add("configuration", configuration.text());
  // The backend is known from the device: "cuda.pointwise" stands as "pointwise".
  const std::string_view name = schedule.name();
  const std::string_view kind =
      name.substr(name.find('.') == std::string_view::npos ? 0 : name.find('.') + 1);
  return fmt::format("ek_{}_{}_{}", identifier(graph.name), identifier(kind), key.fingerprint().substr(0, 8));
}

std::vector<Configuration> ranked_configurations(const Schedule& schedule, const KernelContext& context,
                                                 std::size_t limit) {
  std::vector<std::pair<double, Configuration>> costs;
  for (Configuration& configuration : schedule.space(context).enumerate()) {
    const double seconds = schedule.estimate(context, configuration).seconds;
    costs.emplace_back(seconds, std::move(configuration));
  }
  // Stable: among equals the space's own order decides, so that a schedule's author lists good values first.
  std::stable_sort(costs.begin(), costs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Configuration> ranked;
  for (auto& [seconds, configuration] : costs) {
    if (ranked.size() == limit) break;
    ranked.push_back(std::move(configuration));
  }
  return ranked;
}

}  // namespace einkern::codegen
