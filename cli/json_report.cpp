#include "cli/json_report.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace einkern::cli {
namespace {

using Json = nlohmann::ordered_json;

Json kernel_json(const engine::KernelExplanation& kernel) {
  Json json{{"name", kernel.name},
            {"form", kernel.form},
            {"explanation", kernel.explanation},
            {"schedule", kernel.schedule},
            {"configuration", kernel.configuration},
            {"source", kernel.source},
            {"bytes", kernel.bytes},
            {"operations", kernel.operations},
            {"estimated_seconds", kernel.estimated_seconds},
            {"limit_seconds", kernel.limit_seconds},
            {"measured_seconds", kernel.measured_seconds}};
  if (kernel.registers > 0) {  // compiled, for a GPU
    json["registers"] = kernel.registers;
    json["spill_bytes"] = kernel.spill_bytes;
    json["shared_bytes"] = kernel.shared_bytes;
  }
  return json;
}

Json planned_json(const PlannedReport& report) {
  Json dims = Json::object(), plans = Json::array(), kernels = Json::array();
  for (const auto& [name, value] : report.problem.binding.symbols) dims[name] = value;
  for (const codegen::Plan& plan : report.problem.plans) plans.push_back(plan.name);
  double limit = 0;
  for (const engine::KernelExplanation& kernel : report.kernels) {
    limit += kernel.limit_seconds;
    kernels.push_back(kernel_json(kernel));
  }
  return {{"function", report.problem.function->name},
          {"device", report.device.name},
          {"dims", dims},
          {"plan", report.plan.name},
          {"plans", plans},
          {"kernels", kernels},
          {"limit_seconds", limit}};
}

}  // namespace

std::string explain_json(const PlannedReport& report) { return planned_json(report).dump(1); }

std::string run_json(const PlannedReport& report, const Timing& timing, const CheckResult& check) {
  Json json = planned_json(report);
  json["seconds"] = timing.seconds;
  json["spread"] = timing.spread;
  json["runs"] = timing.runs;
  json["ok"] = check.ok;
  json["check"] = check.text;
  json["largest_error"] = std::isfinite(check.largest_error) ? Json(check.largest_error) : Json();
  return json.dump(1);
}

}  // namespace einkern::cli
