// cuBLASLt as a peer, by dlopen: every algorithm that its heuristics offer, so that the comparison is with
// its best.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "runtime/device.h"

namespace einkern::bench {

/// One product y[M, N] = x[M, K] · w[N, K]ᵀ, with the algorithms that cuBLASLt offers for it.
class CublasLtProduct {
 public:
  virtual ~CublasLtProduct() = default;
  virtual int algorithms() const = 0;
  /// Queues the product with one of the algorithms on the default stream.
  virtual core::Result<void> run(int algorithm, runtime::Address x, runtime::Address w,
                                 runtime::Address y) = 0;
};

class CublasLt {
 public:
  /// From the CUDA Toolkit or the pip wheel; the error, of kind device, lists what was tried.
  static core::Result<std::shared_ptr<CublasLt>> open();
  virtual ~CublasLt() = default;
  virtual std::string version() const = 0;
  /// f32 (exact), f16 or bf16, all three tensors alike, sums in f32. `workspace` of `workspace_bytes` is used
  /// by split sums.
  virtual core::Result<std::unique_ptr<CublasLtProduct>> product(DType dtype, std::int64_t m, std::int64_t n,
                                                                 std::int64_t k, runtime::Address workspace,
                                                                 std::int64_t workspace_bytes) = 0;
};

}  // namespace einkern::bench
