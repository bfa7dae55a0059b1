// Products against the peers: cuBLASLt on a GPU; OpenBLAS and oneDNN on a CPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"

namespace einkern::bench {

struct GemmOptions {
  std::string device = "best";
  DType dtype = DType::f32;
  std::string filter;  // only shapes whose name holds it
  int rounds = 15;
  double tune_seconds = 0;  // per shape before measuring; 0: what records and the model say
};

struct GemmRow {
  std::string name;
  std::int64_t m, n, k;
  double seconds = 0, spread = 0;  // einkern
  std::string schedule, configuration, source;
  std::string peer;  // the fastest one's name; empty: none here
  double peer_seconds = 0;
  double largest_error = 0;  // against the peer's result, relative to the largest element
  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  double ratio() const { return peer_seconds / seconds; }
};

/// Runs the suite of the device; `told` hears each row as it is done. Peers that are missing are named once
/// in `notes`.
core::Result<std::vector<GemmRow>> run_gemm_suite(const GemmOptions& options,
                                                  const std::function<void(const GemmRow&)>& told,
                                                  std::vector<std::string>& notes);

}  // namespace einkern::bench
