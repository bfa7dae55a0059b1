// einkern bench: the suites against their peers, in one process.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/gemm.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "core/dtype.h"
#include "engine/explain.h"

namespace einkern::cli {

int bench_command(const BenchOptions& options) {
  const auto dtype = core::parse_dtype(options.dtype);
  if (!dtype || (*dtype != DType::f32 && *dtype != DType::f16 && *dtype != DType::bf16))
    return report(
        {core::ErrorKind::usage, fmt::format("--type takes f32, f16 or bf16, not {}", options.dtype)});
  if (!options.json)
    fmt::print("{:<18} {:>20} {:>10} {:>14} {:>7}  {:>10} {:<12} {}\n", "shape", "M x N x K", "einkern",
               "rate", "spread", "peer", "", "peer / einkern");
  std::vector<std::string> notes;
  const auto rows = bench::run_gemm_suite(
      {.device = options.device,
       .dtype = *dtype,
       .filter = options.filter,
       .rounds = options.rounds,
       .tune_seconds = options.tune_seconds},
      [&](const bench::GemmRow& row) {
        if (options.json) return;
        fmt::print("{:<18} {:>20} {:>10} {:>14} {:>5.0f} %  {:>10} {:<12} {:.3f}   [{}] {} {}\n", row.name,
                   fmt::format("{}x{}x{}", row.m, row.n, row.k), engine::seconds_text(row.seconds),
                   engine::rate_text(row.operations() / row.seconds, "FLOP"), 100 * row.spread,
                   engine::seconds_text(row.peer_seconds), row.peer, row.ratio(), row.source, row.schedule,
                   row.configuration);
        std::fflush(stdout);
      },
      notes);
  if (!rows) return report(rows.error());
  for (const std::string& note : notes) notice(note);
  if (options.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const bench::GemmRow& row : *rows)
      all.push_back({{"name", row.name},
                     {"m", row.m},
                     {"n", row.n},
                     {"k", row.k},
                     {"seconds", row.seconds},
                     {"spread", row.spread},
                     {"schedule", row.schedule},
                     {"configuration", row.configuration},
                     {"source", row.source},
                     {"peer", row.peer},
                     {"peer_seconds", row.peer_seconds},
                     {"error", row.largest_error}});
    fmt::print("{}\n", all.dump(1));
    return success;
  }
  double logs = 0;
  int compared = 0;
  bool right = true;
  for (const bench::GemmRow& row : *rows) {
    if (row.peer.empty()) continue;
    logs += std::log(row.ratio());
    ++compared;
    right = right && row.largest_error < (*dtype == DType::f32 ? 1e-4 : 2e-2);
    if (!(row.largest_error < (*dtype == DType::f32 ? 1e-4 : 2e-2)))
      notice(fmt::format("{} differs from the peer by {:.2g}", row.name, row.largest_error));
  }
  if (compared > 0)
    fmt::print("geometric mean of peer / einkern over {} shapes: {:.3f}\n", compared,
               std::exp(logs / compared));
  return right ? success : diagnostics;
}

}  // namespace einkern::cli
