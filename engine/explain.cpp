#include "engine/explain.h"

#include <cmath>

#include <fmt/format.h>

namespace einkern::engine {
namespace {

std::string scaled(double value, std::string_view unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (value >= 1000 && step + 1 < std::size(prefixes)) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.3g} {}{}", value, prefixes[step], unit);
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}
std::string bytes_text(double bytes) { return scaled(bytes, "B"); }
std::string rate_text(double per_second, std::string_view unit) {
  return scaled(per_second, fmt::format("{}/s", unit));
}

KernelExplanation explain_kernel(const codegen::Kernel& kernel, const KernelChoice& choice) {
  return {.name = kernel.name,
          .form = std::string(codegen::form_name(kernel)),
          .explanation = kernel.explanation,
          .schedule = std::string(choice.schedule->name()),
          .configuration = choice.configuration.text(),
          .source = std::string(source_name(choice.source)),
          .bytes = choice.estimate.bytes,
          .operations = choice.estimate.operations,
          .estimated_seconds = choice.estimate.seconds,
          .limit_seconds = choice.estimate.limit_seconds,
          .measured_seconds = choice.measured_seconds.value_or(0)};
}

std::vector<KernelExplanation> explain_kernels(const PreparedCall& prepared) {
  std::vector<KernelExplanation> all;
  for (std::size_t i = 0; i < prepared.kernels.size(); ++i) {
    const PreparedKernel& built = prepared.kernels[i];
    KernelExplanation one = explain_kernel(prepared.plan.kernels[i], built.choice);
    for (const auto& [entry, resources] : built.compiled->artifact.entries) {
      one.registers = std::max(one.registers, resources.registers);
      one.spill_bytes += resources.spill_load_bytes + resources.spill_store_bytes;
      one.shared_bytes = std::max(one.shared_bytes, resources.shared_bytes);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string kernel_text(const KernelExplanation& kernel) {
  std::string text = fmt::format("\n{} ({})\n  {}\n", kernel.name, kernel.form, kernel.explanation);
  text += fmt::format("  schedule  {} [{}] {}\n", kernel.schedule, kernel.source, kernel.configuration);
  text += fmt::format("  work      {} at least, {}\n", bytes_text(kernel.bytes),
                      scaled(kernel.operations, "operations"));
  text += fmt::format("  estimate  {}, hardware limit {}\n", seconds_text(kernel.estimated_seconds),
                      seconds_text(kernel.limit_seconds));
  if (kernel.measured_seconds > 0)
    text += fmt::format("  measured  {}, {:.0f} % of the limit\n", seconds_text(kernel.measured_seconds),
                        100 * kernel.limit_seconds / kernel.measured_seconds);
  if (kernel.registers > 0)
    text += fmt::format("  resources {} registers a thread, {} shared, {} spilled\n", kernel.registers,
                        bytes_text(static_cast<double>(kernel.shared_bytes)),
                        bytes_text(static_cast<double>(kernel.spill_bytes)));
  return text;
}

std::string explain_text(const PreparedCall& prepared, const core::DeviceFacts& device) {
  std::string text =
      fmt::format("{} on {}: plan {}, {} kernel{}\n", prepared.plan.graph->name, device.name,
                  prepared.plan.name, prepared.kernels.size(), prepared.kernels.size() == 1 ? "" : "s");
  for (const KernelExplanation& kernel : explain_kernels(prepared)) text += kernel_text(kernel);
  return text;
}

}  // namespace einkern::engine
