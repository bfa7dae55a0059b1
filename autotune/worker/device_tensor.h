// A tensor that a GPU fills and judges where it lies: checking an output of a gigabyte takes milliseconds,
// and copying it to the host seconds.
#pragma once

#include <memory>
#include <vector>

#include "autotune/worker/checked_tensor.h"
#include "autotune/worker/device_checks.h"
#include "autotune/worker/values.h"

namespace einkern::autotune::worker {

/// Where the elements of a tensor lie and what they are drawn from, in the device's memory.
class ElementPlaces {
 public:
  static core::Result<std::unique_ptr<ElementPlaces>> make(const ProblemTensor& tensor, Filling filling,
                                                           runtime::Device& device, runtime::Stream stream,
                                                           const DeviceChecks& checks);
  ElementPlaces(const ElementPlaces&) = delete;
  ElementPlaces& operator=(const ElementPlaces&) = delete;

  /// Writes the elements of which element 0 lies at `first`.
  core::Result<void> fill(runtime::Address first) const;
  core::Result<void> fill_with_poison(runtime::Address first) const;
  /// How many elements are not what `fill` writes.
  core::Result<std::int64_t> changed(runtime::Address first) const;
  core::Result<double> largest_magnitude(runtime::Address first) const;
  core::Result<CheckResult> compare(runtime::Address right, runtime::Address found,
                                    const ElementRule& rule) const;

 private:
  ElementPlaces(const ProblemTensor& tensor, runtime::Device& device, const DeviceChecks& checks)
      : tensor_(tensor), device_(device), checks_(checks) {}
  runtime::Address table() const { return memory_.address(); }
  /// Rank, elements and bytes of an element, as every entry takes them.
  std::vector<std::uint64_t> common_words(bool repeated) const;
  std::vector<std::uint64_t> value_words() const;
  runtime::Address geometry(bool repeated) const;

  struct Geometry {
    std::int64_t rank = 1, elements = 1;
    std::int64_t first_byte = 0;  // of its pairs, in `memory_`
  };
  const ProblemTensor tensor_;
  runtime::Device& device_;
  const DeviceChecks& checks_;
  DeviceMemory memory_;        // the table of values, then the two geometries
  Geometry whole_, distinct_;  // with the repetitions of a broadcast, and without
};

class DeviceTensor final : public CheckedTensor {
 public:
  static core::Result<std::unique_ptr<CheckedTensor>> make(const ProblemTensor& tensor,
                                                           runtime::Device& device, runtime::Stream stream,
                                                           const DeviceChecks& checks);
  core::Result<void> keep_as_reference(bool sampled) override;
  core::Result<TensorFindings> judge() override;

 private:
  DeviceTensor(const ProblemTensor& tensor, runtime::Device& device, runtime::Stream stream,
               const DeviceChecks& checks)
      : CheckedTensor(tensor, device, stream), checks_(checks) {}
  core::Result<void> reset() override;

  core::Result<TensorFindings> examine_elements() const;
  /// Whether bytes beside the elements are no longer poison. Elements between which there are gaps are lost.
  core::Result<bool> written_beside();
  core::Result<bool> is_poison(std::int64_t begin, std::int64_t end) const;
  core::Result<std::uint64_t> bits_of(std::int64_t number, runtime::Address first) const;

  const DeviceChecks& checks_;
  std::unique_ptr<ElementPlaces> places_;
  DeviceMemory reference_;  // the span
  bool sampled_ = false;
  double largest_magnitude_ = 0;
};

}  // namespace einkern::autotune::worker
