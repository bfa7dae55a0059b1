// A tensor that is fetched and judged on the host: for the CPU, whose memory that is.
#pragma once

#include <memory>
#include <vector>

#include "autotune/worker/checked_tensor.h"

namespace einkern::autotune::worker {

class HostTensor final : public CheckedTensor {
 public:
  static core::Result<std::unique_ptr<CheckedTensor>> make(const ProblemTensor& tensor,
                                                           runtime::Device& device, runtime::Stream stream);
  core::Result<void> keep_as_reference(bool sampled) override;
  core::Result<TensorFindings> judge() override;

 private:
  HostTensor(const ProblemTensor& tensor, runtime::Device& device, runtime::Stream stream);
  core::Result<void> reset() override;

  core::Result<void> fetch();
  bool written_beside() const;

  std::vector<char> initial_, fetched_;
  std::vector<char> reference_;  // the span's bytes
  bool sampled_ = false;
  double largest_magnitude_ = 0;
};

}  // namespace einkern::autotune::worker
